"""Keyword search on tantivy."""

from trivium.backends.tantivy.keywords import TantivyKeywordIndex

__all__ = ["TantivyKeywordIndex"]
