"""Vectors in plain files: sign bits for the scan, 16-bit fixed point for exact scores."""

from trivium.backends.bits.index import BitsVectorIndex

__all__ = ["BitsVectorIndex"]
