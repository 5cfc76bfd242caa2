"""Judges how well a text answers a query by reading both together."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt


class Reranker(Protocol):
    @property
    def name(self) -> str:
        """Which model judges; part of a cached ranking's key."""

    def rerank(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One score in 0–1 a text, in the order of `texts`; an empty array for no texts. A text too long for the model
        is judged by its beginning. Raises ModelUnavailable where there are no weights."""
