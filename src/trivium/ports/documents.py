"""Keeps documents and their chunks. One call is one transaction; what returned is durable."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trivium.model.chunk import Document, Metadata, Piece, Source


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What is known of a file without reading its chunks."""

    document_id: int
    source: Source
    root: str
    source_file: str
    content_hash: str
    total_chunks: int


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document as it should be from now on. An earlier one at the same (source, root, source_file) is replaced;
    chunks whose text stayed keep their ids."""

    source: Source
    root: str
    source_file: str
    source_category: str | None
    title: str
    date: str | None
    content_hash: str
    pieces: Sequence[Piece]
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Saved:
    document_ids: tuple[int, ...]
    chunks_added: int
    chunks_kept: int
    chunks_removed: int


class DocumentStore(Protocol):
    def files(self, source: Source, root: str | None = None) -> Iterator[StoredFile]:
        """Every stored file, or those added from one folder."""

    def save(self, drafts: Sequence[DocumentDraft]) -> Saved: ...

    def move(self, places: Mapping[int, tuple[str, str]]) -> None:
        """Gives documents a new (root, source_file); ids, chunks and vectors stay as they are."""

    def remove(self, document_ids: Sequence[int]) -> int:
        """Removes documents with everything that hangs on them; answers the number of chunks."""

    def get(self, document_ids: Sequence[int]) -> list[Document]:
        """The documents that exist, in the order asked for."""
