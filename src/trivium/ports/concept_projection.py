"""A view of the concepts that is derived from the log: rows, search text, a remote graph, a remote vector store."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from trivium.model.concept import Item


class ConceptProjection(Protocol):
    """Holds states, not events, so that applying the same thing twice changes nothing and only what differs has to be
    repaired. One that lives in the log's own store takes part in `EventLog.exclusive`; a remote one is followed by
    concepts.follow, which keeps its position."""

    @property
    def name(self) -> str: ...

    def apply(self, put: Sequence[Item], drop: Sequence[str]) -> None:
        """Puts concepts (deleted ones too, marked as such) before relationships, then drops by id. Dropping what is not
        there is fine. A relationship's concepts are in the same call or were put before."""

    def contents(self) -> Iterator[tuple[str, str]]:
        """The id of everything it holds, with a fingerprint of what it holds of it."""

    def expected(self, item: Item) -> str | None:
        """The fingerprint it should hold for this item; None where it should hold nothing of it."""
