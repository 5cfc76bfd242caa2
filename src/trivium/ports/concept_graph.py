"""Relationships between concepts, one step at a time; the walking is done in concepts.walk."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from trivium.model.concept import Direction, Relationship, RelationshipType


class Edge(NamedTuple):
    """One step from a concept that was asked for to another; all by key."""

    near: int
    far: int
    relationship: int
    strength: float


class ConceptGraph(Protocol):
    def edges(
        self,
        keys: Sequence[int],
        direction: Direction,
        relationship_type: RelationshipType | None = None,
        *,
        deleted: bool = False,
    ) -> list[Edge]:
        """Every step away from these concepts. Deleted ones are not stepped on unless `deleted`."""

    def get(self, relationship_ids: Sequence[str]) -> list[Relationship]:
        """Those that exist, in the order asked for."""

    def by_key(self, keys: Sequence[int]) -> dict[int, Relationship]: ...

    def between(self, source: int, target: int, relationship_type: RelationshipType) -> Relationship | None: ...
