"""Finds chunks by their words (BM25)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from trivium.model.embedding import Ids


@dataclass(frozen=True, slots=True)
class KeywordRow:
    """What the keyword index keeps of a chunk. `header` is title and heading path, `text` the chunk itself."""

    chunk_id: int
    header: str
    text: str


@dataclass(frozen=True, slots=True)
class KeywordMatches:
    """Best first, ties by lower id. `bound` is the best score any chunk could reach for this query, so `score / bound`
    lies in 0–1 and means the same from query to query; 0 where the query has no words."""

    ids: Ids
    scores: npt.NDArray[np.float32]
    bound: float


class KeywordIndex(Protocol):
    """A projection, with the same promise as VectorIndex: one `apply`, one durable step."""

    @property
    def position(self) -> int: ...

    def apply(self, added: Iterable[KeywordRow], removed: Iterable[int], position: int) -> None:
        """Removes, then adds. Adding a chunk that is there replaces it; removing an unknown one is fine."""

    def match(self, query: str, limit: int, within: Ids | None = None) -> KeywordMatches:
        """Any text is a valid query: no syntax in it is ever interpreted. `within` is a sorted array of allowed ids."""

    def count(self, query: str, within: Ids | None = None) -> int:
        """How many chunks `match` would find without a limit."""

    def ids(self) -> Ids:
        """Every chunk id in the index, sorted."""
