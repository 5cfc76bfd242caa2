"""Finds the chunks whose passages lie nearest to a query vector."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from trivium.model.embedding import Ids, Vector, Vectors


class VectorIndex(Protocol):
    """A projection: `apply` moves it to `position` in one durable step, so that after a crash it holds either all of a
    call or nothing of it. A chunk has one or more passage vectors and scores by the best of them."""

    @property
    def position(self) -> int:
        """The change-log position this index has reached; 0 for an empty one."""

    def apply(self, added: Iterable[tuple[int, Vectors]], removed: Iterable[int], position: int) -> None:
        """Removes, then adds. Adding a chunk that is there replaces its passages; removing an unknown one is fine."""

    def nearest(self, query: Vector, limit: int, within: Ids | None = None) -> tuple[Ids, npt.NDArray[np.float32]]:
        """Chunk ids and exact cosines, best first, ties by lower id. `within` is a sorted array of allowed ids."""

    def cosines(self, query: Vector, chunk_ids: Ids) -> npt.NDArray[np.float32]:
        """The exact cosine of each chunk's best passage, NaN for a chunk that is not in the index."""

    def ids(self) -> Ids:
        """Every chunk id in the index, sorted."""
