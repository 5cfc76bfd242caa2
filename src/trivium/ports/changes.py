"""The log of what happened to chunks, which every index follows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from trivium.model.embedding import EmbeddingModel, Ids, Vectors
from trivium.ports.keywords import KeywordRow

ChangeKind = Literal["text", "vectors", "removed"]


@dataclass(frozen=True, slots=True)
class Change:
    position: int
    kind: ChangeKind
    chunk_id: int


class ChangeLog(Protocol):
    def head(self) -> int:
        """The last position; grows with every change, in every process."""

    def read(self, after: int, limit: int) -> list[Change]: ...

    def rows(self, chunk_ids: Sequence[int]) -> list[KeywordRow]:
        """What the keyword index needs, for those chunks that still exist."""

    def vectors(self, chunk_ids: Sequence[int], model: EmbeddingModel) -> Iterator[tuple[int, Vectors]]:
        """Passage vectors of those chunks that still exist and have them."""

    def chunk_ids(self, model: EmbeddingModel | None = None) -> Ids:
        """Every chunk, or every chunk that has vectors of this model; sorted."""
