"""What a caller may write for a repository: a folder or a git address, and a name that is safe everywhere."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from trivium.errors import InvalidInput, NotFound
from trivium.ports.repositories import Credentials, Repository

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SCP_LIKE = re.compile(r"[\w.-]+@[\w.-]+:[^/\\:].*")
_SCHEMES = ("https", "http", "ssh", "git", "file")
_TAKEN = "package"  # ids of packages start with it


@dataclass(frozen=True, slots=True)
class Address:
    """`url` carries no credentials; `folder` is there where it is a folder of this machine."""

    url: str
    folder: Path | None = None
    credentials: Credentials | None = None


def read_address(source: str) -> Address:
    written = source.strip()
    if not written or written.startswith("-") or "\0" in written:
        raise InvalidInput("source must be a folder or a git address", field="source")
    if "://" in written:
        return _from_url(written)
    if _SCP_LIKE.fullmatch(written) and not Path(written).exists():
        return Address(written)
    folder = Path(written).expanduser().absolute()
    if not folder.is_dir():
        what = "no folder" if folder.exists() else "no such folder"
        shown = written.rpartition("@")[2]  # what stands before it may be a password
        raise InvalidInput(f"source: {what}: {shown}", field="source", hint="give a folder, or a URL with ://")
    return Address(str(folder.resolve()), folder.resolve())


def _from_url(written: str) -> Address:
    try:
        parts = urlsplit(written)
        host = parts.netloc.rpartition("@")[2]
        user, password = parts.username, parts.password
    except ValueError as error:
        raise InvalidInput("source is not a valid address", field="source") from error
    if parts.scheme not in _SCHEMES or not (host or parts.scheme == "file"):
        raise InvalidInput(
            f"source: {parts.scheme}:// is not supported" if host else "source names no host",
            field="source",
            allowed=[f"{scheme}://…" for scheme in _SCHEMES],
        )
    if parts.scheme in ("http", "https"):
        clean = urlunsplit((parts.scheme, host, parts.path, "", ""))
        secret = Credentials(unquote(user or ""), unquote(password or "")) if user or password else None
        return Address(clean, None, secret)
    kept = f"{user}@{host}" if user else host
    return Address(urlunsplit((parts.scheme, kept, parts.path, "", "")))


def choose_name(given: str | None, address: Address) -> str:
    """The name asked for, or the last part of the address."""
    if given is None:
        tail = re.split(r"[/:\\]", address.url.rstrip("/"))[-1].removesuffix(".git")
        given = re.sub(r"[^A-Za-z0-9._-]+", "-", tail).strip("-.")[:100]
    if not _NAME.fullmatch(given) or ".." in given or given.lower() == _TAKEN:
        raise InvalidInput(
            f"name {given!r} cannot be used",
            field="name",
            allowed=["letters, digits, '.', '-' and '_', at most 100, not 'package'"],
            hint="give another name",
        )
    return given


def known(name: str, repositories: list[Repository]) -> Repository:
    for repository in repositories:
        if repository.name == name:
            return repository
    names = [repository.name for repository in repositories]
    raise NotFound(
        f"Repository not found: {name}",
        nearest=get_close_matches(name, names, n=5, cutoff=0.3) or names[:5],
        code="REPOSITORY_NOT_FOUND",
        hint="Check list_indexed_repositories for valid names",
    )
