"""Turns text into vectors."""

from collections.abc import Sequence
from typing import Protocol

from trivium.model.embedding import EmbeddingModel, Vectors


class Embedder(Protocol):
    @property
    def model(self) -> EmbeddingModel: ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order. Meant for few short texts at low latency."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order. Meant for bulk: uses every core. Text beyond `model.max_tokens` is lost, so
        callers cut first (see `count_tokens`). Raises ModelUnavailable where there are no weights."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens the model itself would read, special ones included, never truncated."""
