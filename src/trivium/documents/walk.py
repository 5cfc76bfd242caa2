"""Finds the files to read under the given paths. Reads no document and decides nothing about the store."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from trivium.documents.read import is_supported

IGNORE_FILES = (".gitignore", ".triviumignore")
_NEVER = frozenset({"node_modules", "__pycache__", "venv", "CVS"})  # hidden ones are skipped anyway


@dataclass(frozen=True, slots=True)
class FoundFile:
    """`source_file` is the path below `root`, with forward slashes; for a file added by itself, its name."""

    path: Path
    source_file: str
    root: Path


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that was not taken, and why. `is_unsupported` marks the harmless case: counted rather than listed."""

    path: Path
    reason: str
    is_unsupported: bool = False


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    specs: tuple[tuple[Path, GitIgnoreSpec], ...]  # outermost first; each with the folder its patterns are relative to


def walk(paths: Sequence[Path], exclude: Sequence[str] = ()) -> Iterator[FoundFile | Skipped]:
    """Every readable file, once, in an order that depends on names alone. Never raises for what it finds on disk.

    Honours `.gitignore` and `.triviumignore` in every folder, then `exclude` (same patterns, relative to each added
    folder). Hidden files and folders, `node_modules` and virtual environments are left out without mention. Links are
    not followed: what they lead to inside the folder is found by itself, what lies outside was not asked for.
    """
    seen: set[Path] = set()
    for path in paths:
        for found in _walk_one(path, GitIgnoreSpec.from_lines(exclude)):
            if isinstance(found, FoundFile):
                real = found.path.resolve()
                if real in seen:
                    continue
                seen.add(real)
            yield found


def _walk_one(path: Path, exclude: GitIgnoreSpec) -> Iterator[FoundFile | Skipped]:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        yield Skipped(path, _words(error))
        return
    if stat.S_ISDIR(mode):
        root = path.resolve()
        yield from _walk_folder(root, exclude)
    elif not stat.S_ISREG(mode):
        yield Skipped(path, "not a regular file")
    else:
        yield _file(path.absolute(), path.absolute().parent)


def _walk_folder(root: Path, exclude: GitIgnoreSpec) -> Iterator[FoundFile | Skipped]:
    pending = [_Folder(root, ((root, exclude),))]
    while pending:
        folder = pending.pop()
        try:
            entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
            specs = (*folder.specs, *_own_specs(folder.path, [entry.name for entry in entries]))
        except OSError as error:
            yield Skipped(folder.path, _words(error))
            continue
        below: list[_Folder] = []
        for entry in entries:
            yield from _entry(entry, root, specs, below)
        pending.extend(reversed(below))


def _entry(
    entry: os.DirEntry[str], root: Path, specs: tuple[tuple[Path, GitIgnoreSpec], ...], below: list[_Folder]
) -> Iterator[FoundFile | Skipped]:
    path = Path(entry.path)
    try:
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") or _is_ignored(path, is_folder, specs):
            return
        if entry.is_symlink():
            yield from _link(path, root)
        elif is_folder and not _is_left_out(path):
            below.append(_Folder(path, specs))
        elif entry.is_file(follow_symlinks=False):
            yield _file(path, root)
        elif not is_folder:
            yield Skipped(path, "not a regular file")
    except OSError as error:
        yield Skipped(path, _words(error))


def _file(path: Path, root: Path) -> FoundFile | Skipped:
    if not is_supported(path):
        return Skipped(path, f"no reader for {path.suffix.lower()} files", is_unsupported=True)
    return FoundFile(path, path.relative_to(root).as_posix(), root)


def _link(path: Path, root: Path) -> Iterator[Skipped]:
    try:
        target = path.resolve(strict=True)
    except RuntimeError:  # how Python before 3.13 reports a circle of links
        yield Skipped(path, "a link that leads back to itself")
        return
    except OSError as error:
        yield Skipped(path, "a link to nothing" if isinstance(error, FileNotFoundError) else _words(error))
        return
    if not target.is_relative_to(root):
        yield Skipped(path, f"a link that leads outside the added folder, to {target}")
    elif path.is_relative_to(target):
        yield Skipped(path, "a link that leads back to a folder it lies in")


def _is_left_out(folder: Path) -> bool:
    return folder.name in _NEVER or (folder / "pyvenv.cfg").is_file()


def _own_specs(folder: Path, names: Sequence[str]) -> Iterator[tuple[Path, GitIgnoreSpec]]:
    for name in IGNORE_FILES:
        if name in names and (folder / name).is_file():
            lines = (folder / name).read_text("utf-8", errors="replace").splitlines()
            yield folder, GitIgnoreSpec.from_lines(lines)


def _is_ignored(path: Path, is_folder: bool, specs: Sequence[tuple[Path, GitIgnoreSpec]]) -> bool:
    """The innermost file with a word on it decides, as in git; `exclude` is outermost but cannot be overruled."""
    for base, spec in (specs[0], *reversed(specs[1:])):
        verdict = spec.check_file(path.relative_to(base).as_posix() + ("/" if is_folder else "")).include
        if verdict or (verdict is not None and spec is not specs[0][1]):
            return verdict
    return False


def _words(error: OSError) -> str:
    match error:
        case FileNotFoundError():
            return "no such file or folder"
        case PermissionError():
            return "no permission to read it"
    return error.strerror or str(error)
