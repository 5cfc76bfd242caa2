"""Finds names and what the text says about them, a sentence at a time."""

from collections.abc import Sequence
from typing import Protocol

from trivium.model.vendor import Extraction, Link, Mention


class Extractor(Protocol):
    @property
    def name(self) -> str:
        """Which extractor in which version: a text is read once by each."""

    def extract(self, sentences: Sequence[str]) -> list[Extraction]:
        """What each sentence holds, in order. Mentions do not overlap and are sorted by their start."""

    def link(self, sentences: Sequence[str], mentions: Sequence[Sequence[Mention]]) -> list[tuple[Link, ...]]:
        """The relationships between given mentions of each sentence."""
