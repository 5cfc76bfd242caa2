"""Reads concepts by id, by what they are about, and by when they changed."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from trivium.model.concept import Concept

Order = Literal["created", "modified", "certainty_asc", "certainty_desc"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that must all hold. A bound on certainty leaves out concepts that have none."""

    name: str | None = None  # contained, whatever the case
    area: str | None = None
    topic: str | None = None
    subtopic: str | None = None
    min_certainty: float | None = None
    max_certainty: float | None = None
    modified_since: str | None = None

    @property
    def places(self) -> dict[str, str]:
        given = {"area": self.area, "topic": self.topic, "subtopic": self.subtopic}
        return {name: value for name, value in given.items() if value is not None}


class Place(NamedTuple):
    """How many concepts there are in one spot of the taxonomy."""

    area: str | None
    topic: str | None
    subtopic: str | None
    concept_count: int


class ConceptCatalogue(Protocol):
    def snapshot(self) -> AbstractContextManager[object]:
        """Everything this thread reads inside, from here and from the graph and the log, is of one moment."""

    def get(self, concept_ids: Sequence[str]) -> list[Concept]:
        """Those that exist, deleted ones too, in the order asked for."""

    def by_key(self, keys: Sequence[int]) -> dict[int, Concept]: ...

    def select(self, wanted: Selection, order: Order, limit: int) -> list[Concept]:
        """The first `limit` of the concepts that are not deleted; "created" and "modified" begin with the latest.
        Equal certainty: by age, in the same direction."""

    def places(self) -> list[Place]:
        """Sorted; what counts is what is not deleted."""
