"""The log of what happened to concepts: the truth that every view of them follows."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from trivium.model.concept import Pending, Recorded


class EventLog(Protocol):
    """Append-only. Positions start at 1 and have no gaps, so the last one is the number of events."""

    def exclusive(self) -> AbstractContextManager[object]:
        """One writer at a time, in every process. Everything written inside, here and by projections that live in the
        same store, commits together when it ends, durably, or not at all; what is read inside is what the append will
        meet. May be nested."""

    def append(self, events: Sequence[Pending]) -> list[Recorded]:
        """All or nothing. Raises Conflict with code VERSION_CONFLICT where a (stream, version) is taken."""

    def head(self) -> int: ...

    def read(self, after: int, limit: int) -> list[Recorded]:
        """In order of position; positions never become visible out of order."""

    def stream(self, stream: str) -> list[Recorded]:
        """The whole history of one concept or relationship, oldest first."""
