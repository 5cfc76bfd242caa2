"""Keeps what was computed for a key, so that equal questions are worked out once."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Codec(Generic[V]):
    """How values travel: bytes for one, and back for the key it was kept under, None where they are no such value. What
    `keeps` says no to is handed to those who wait for it and then forgotten."""

    encode: Callable[[V], bytes]
    decode: Callable[[Hashable, bytes], V | None]
    keeps: Callable[[V], bool] = lambda _: True


class ResultCache(Protocol[V]):
    """May forget anything at any time. A key must name everything the value depends on, the index generation included,
    and have a `repr` that is the same in every process."""

    def get(self, key: Hashable, compute: Callable[[], V], wait_s: float | None = None) -> tuple[V, bool]:
        """The value and whether it was there already. Whoever comes while it is being computed waits for that run, at
        most `wait_s` (TimeoutError), and runs it itself where that one was stopped from outside or died."""

    def clear(self) -> int:
        """Forgets everything; answers how many entries that were."""
