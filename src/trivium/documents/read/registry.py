"""Chooses the reader for a file and is the one border where a reader's failure becomes UnreadableFile."""

import importlib
import pkgutil
import stat
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from trivium.documents.read.reader import RawFile, Reader, Unreadable
from trivium.errors import UnreadableFile
from trivium.model.chunk import ParsedDocument

DEFAULT_MAX_BYTES = 50_000_000


def read_document(path: Path, data: bytes | None = None, *, max_bytes: int = DEFAULT_MAX_BYTES) -> ParsedDocument:
    """Reads one file of at most `max_bytes`, or `data` as if it stood under that name: whoever has read it has set the
    limit. Raises UnreadableFile, and nothing else."""
    try:
        content = _load(path, max_bytes) if data is None else data
        return read_raw(RawFile(path.name, content))
    except UnreadableFile:
        raise
    except Exception as error:
        raise UnreadableFile(f"{path.name}: {_reason(error)}", hint=_hint(error)) from error


def read_raw(file: RawFile) -> ParsedDocument:
    """For readers of containers, which have the bytes already and handle failure themselves."""
    reader = _readers().get(_suffix(file.name))
    if reader is None:
        raise Unreadable(f"no reader for {_suffix(file.name) or 'files without an extension'}")
    document = reader.read(file)
    return document if document.title else replace(document, title=_title_from_name(file.name))


def supported_suffixes() -> tuple[str, ...]:
    """Lower case, with the dot; "" stands for files without an extension, which are read if they turn out as text."""
    return tuple(sorted(_readers()))


def is_supported(path: Path) -> bool:
    return _suffix(path.name) in _readers()


@cache
def _readers() -> Mapping[str, Reader]:
    package = importlib.import_module("trivium.documents.read")
    modules = [importlib.import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    readers = [module.READER for module in modules if hasattr(module, "READER")]
    return {suffix: reader for reader in readers for suffix in reader.suffixes}


def _suffix(name: str) -> str:
    return Path(name).suffix.lower()


def _title_from_name(name: str) -> str:
    return " ".join(Path(name).stem.replace("_", " ").replace("-", " ").split())


def _load(path: Path, max_bytes: int) -> bytes:
    info = path.stat()
    if not stat.S_ISREG(info.st_mode):
        raise Unreadable("not a regular file")
    if info.st_size > max_bytes:
        raise _TooLarge(info.st_size, max_bytes)
    with path.open("rb") as stream:
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:  # it grew meanwhile
        raise _TooLarge(len(data), max_bytes)
    return data


class _TooLarge(Unreadable):
    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"{size / 1e6:,.1f} MB is above the limit of {limit / 1e6:,.1f} MB for one file")


def _hint(error: Exception) -> str | None:
    return "split the file, or raise TRIVIUM_MAX_FILE_MB" if isinstance(error, _TooLarge) else None


def _reason(error: Exception) -> str:
    match error:
        case Unreadable():
            return str(error)
        case PermissionError():
            return "no permission to read it"
        case OSError(strerror=str() as words):  # the system's; libraries raise it bare, for damage
            return words
        case RecursionError():
            return "nested too deeply"
        case zipfile.BadZipFile():
            return "damaged or not the format its extension says (not a readable archive)"
    return f"damaged or not the format its extension says ({type(error).__name__}: {_one_line(error)})"


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:199] + "…"
