"""Relationships between concepts, one step at a time; the walking is done in concepts.walk."""

from collections.abc import Sequence
from typing import Protocol

from trivium.model.concept import Direction, Relationship, RelationshipType

# One step: the key of a concept that was asked for, of the one it leads to, of the relationship; its strength. A plain
# tuple, since a walk past a hub makes tens of thousands of them.
Edge = tuple[int, int, int, float]


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
