"""Parts that are reached over HTTP."""

from trivium.backends.http.embedder import HttpEmbedder

__all__ = ["HttpEmbedder"]
