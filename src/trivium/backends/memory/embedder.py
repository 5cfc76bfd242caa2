"""A small deterministic embedder: words hashed into 64 dimensions. Texts that share words lie near each other.

For tests and for trying things without weights. It knows nothing of meaning: synonyms are strangers to it.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from trivium.model.embedding import EmbeddingModel, Vector, Vectors

_WORD = re.compile(r"\w+")
_SPECIAL_TOKENS = 2  # counted as the real encoders do, so that callers' arithmetic is the same


class HashingEmbedder:
    def __init__(self, dimension: int = 64, max_tokens: int = 256) -> None:
        self._model = EmbeddingModel(f"hashing-{dimension}", dimension, max_tokens)

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self._model.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._embed(text)
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_WORD.findall(text)) + _SPECIAL_TOKENS for text in texts]

    def _embed(self, text: str) -> Vector:
        words = _WORD.findall(text.lower())[: self._model.max_tokens - _SPECIAL_TOKENS]
        vector = np.zeros(self._model.dimension, np.float32)
        for word, count in Counter(words).items():
            slot, sign = _slot(word, self._model.dimension)
            vector[slot] += sign * (1 + math.log(count))
        length = float(np.linalg.norm(vector))
        if length == 0:  # no words, or words that cancel out: still a unit vector, as the port promises
            vector[0] = length = 1.0
        return vector / np.float32(length)


def _slot(word: str, dimension: int) -> tuple[int, int]:
    """Python's own hash differs from run to run, so a real one."""
    digest = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return (digest >> 1) % dimension, 1 if digest & 1 else -1
