"""Reads chunks back from the store."""

from collections.abc import Sequence
from typing import Protocol

from trivium.model.chunk import Chunk
from trivium.model.embedding import Ids
from trivium.model.filters import Filter


class ChunkStore(Protocol):
    def get(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        """In the order asked for; a chunk that is not there (any more) is left out."""

    def select(self, condition: Filter) -> Ids:
        """The sorted ids of every chunk that fulfils the condition, as `model.filters.matches` defines it."""

    def count(self) -> int:
        """How many chunks there are; cheap."""

    def generation(self) -> int:
        """Grows with every change to chunks, vectors or metadata; the same number means the same answers."""
