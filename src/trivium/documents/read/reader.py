"""What a format module defines: a `READER` made of these."""

from collections.abc import Callable
from dataclasses import dataclass

from trivium.model.chunk import ParsedDocument


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file's bytes and the name it goes by. `depth` counts the containers (mails) it was found in."""

    name: str
    data: bytes
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Reader:
    """`read` may raise anything: the registry turns it into UnreadableFile. An Unreadable's text is shown as it is."""

    suffixes: tuple[str, ...]
    read: Callable[[RawFile], ParsedDocument]


class Unreadable(Exception):
    """Why a file cannot be read, in words for its owner; the registry puts the file's name in front."""
