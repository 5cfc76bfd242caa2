"""Documents and the chunks they are cut into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Source = Literal["documents", "code", "concepts"]
SOURCES: tuple[Source, ...] = ("documents", "code", "concepts")

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "quote"]

Scalar = str | int | float | bool
Metadata = Mapping[str, Scalar | list[Scalar]]


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document's text that the splitter must understand: `text[start:end]`."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0  # headings only: 1 is the document's title


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a reader makes of a file. Blocks are in order, do not overlap and cover all text that matters."""

    text: str
    blocks: tuple[Block, ...]
    title: str = ""
    date: str | None = None  # ISO 8601, the document's own date where it has one
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before it is stored: `text == document.text[start:end]`."""

    text: str
    start: int
    end: int
    context_header: str
    token_count: int


@dataclass(frozen=True, slots=True)
class Document:
    document_id: int
    source: Source
    source_file: str  # relative to the folder it was added from, with forward slashes
    source_category: str | None
    title: str
    date: str | None
    content_hash: str
    metadata: Metadata
    total_chunks: int


@dataclass(frozen=True, slots=True)
class Chunk:
    chunk_id: int
    source: Source
    source_file: str
    source_category: str | None
    title: str
    chunk_index: int
    total_chunks: int
    text: str
    context_header: str
    token_count: int
    start: int
    end: int
    date: str | None
    content_hash: str
    metadata: Metadata
