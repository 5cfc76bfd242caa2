"""Named numbers that only grow, shared by every process of an installation: metrics, and "clear your caches"."""

from collections.abc import Mapping
from typing import Protocol


class Counters(Protocol):
    def value(self, name: str) -> float:
        """0 for a name nobody has counted; cheap."""

    def add(self, amounts: Mapping[str, float]) -> None: ...

    def all(self) -> dict[str, float]: ...
