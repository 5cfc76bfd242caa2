"""VectorIndex on a Chroma server."""

from trivium.backends.chroma.index import ChromaVectorIndex

__all__ = ["ChromaVectorIndex"]
