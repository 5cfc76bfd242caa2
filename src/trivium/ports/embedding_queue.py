"""Chunks that wait for their vectors, and the vectors that were computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from trivium.model.embedding import EmbeddingModel, Vector


@dataclass(frozen=True, slots=True)
class Waiting:
    """`stamp` says which state of the chunk is meant: if it changes meanwhile, it waits again under a new stamp."""

    chunk_id: int
    stamp: int
    header: str
    text: str


class EmbeddingQueue(Protocol):
    def pending(self, model: EmbeddingModel) -> int:
        """How many chunks have no vectors of this model yet."""

    def take(self, model: EmbeddingModel, limit: int) -> list[Waiting]:
        """The next ones, oldest first. They stay in the queue until `store`."""

    def cached(self, model: EmbeddingModel, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        """Vectors of texts that were embedded before, by the hash of the text."""

    def store(
        self,
        model: EmbeddingModel,
        vectors: Mapping[bytes, Vector],
        passages: Sequence[tuple[Waiting, Sequence[bytes]]],
    ) -> None:
        """Keeps new vectors, says which passages each chunk has, and takes those chunks off the queue; a chunk that was
        removed or changed since it was taken is left as it is."""

    def enqueue_all(self, model: EmbeddingModel) -> int:
        """Queues every chunk that lacks vectors of this model; answers how many wait."""
