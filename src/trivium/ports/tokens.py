"""Counts tokens as the reader of our answers counts them."""

from collections.abc import Sequence
from typing import Protocol


class TokenCounter(Protocol):
    def count(self, texts: Sequence[str]) -> list[int]:
        """The exact number of tokens of each text; special-token syntax in a text counts as plain text."""
