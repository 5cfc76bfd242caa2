"""Vectors and the model that made them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]  # unit length, shape (dimension,)
Vectors = npt.NDArray[np.float32]  # unit length rows, shape (n, dimension)
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model made a vector. Two vectors compare only where `name` and `dimension` agree.

    `scale` and `offset` map this model's cosine onto the spread of all-MiniLM-L6-v2, in which the contract's thresholds
    and bands are written: `scale * cosine + offset`. They are fitted once per model (docs/scores.md).
    """

    name: str
    dimension: int
    max_tokens: int
    scale: float = 1.0
    offset: float = 0.0
