"""Counts what callers do, exactly, across every process that shares the store."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Bucket:
    """`limit` tokens that are all there again `window_s` seconds after the first of them was taken."""

    subject: str  # whose: "key:ab12", "address:10.0.0.7"
    tier: str  # "minute", "read-minute", "day" …
    limit: int
    window_s: float


@dataclass(frozen=True, slots=True)
class BucketState:
    remaining: int
    resets_at: float


@dataclass(frozen=True, slots=True)
class Taken:
    """`states` are in the order of the buckets asked for."""

    allowed: bool
    states: tuple[BucketState, ...]


class LimitStore(Protocol):
    def take(self, buckets: Sequence[Bucket], now: float) -> Taken:
        """Takes one token from each bucket, or none at all where one of them is empty."""

    def peek(self, buckets: Sequence[Bucket], now: float) -> Taken:
        """What `take` would answer, taking nothing."""

    def prune(self, now: float) -> int:
        """Forgets buckets that are full again; answers how many."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How many different results a subject has seen (about), and how many calls failed, in the current window."""

    distinct_results: int
    failures: int


class ConductStore(Protocol):
    def note(self, subjects: Sequence[str], results: Iterable[int | str], failed: bool, now: float) -> list[Conduct]:
        """Adds a call to each subject's record and answers what it is now."""

    def look(self, subjects: Sequence[str], now: float) -> list[Conduct]: ...
