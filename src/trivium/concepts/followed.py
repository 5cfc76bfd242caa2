"""Relationships read from a graph server, as long as it has everything; otherwise from the store."""

import logging
from collections.abc import Callable, Sequence

from trivium.errors import GraphUnavailable
from trivium.model.concept import Direction, Relationship, RelationshipType
from trivium.ports.concept_graph import ConceptGraph, Edge
from trivium.ports.concept_ledger import Progress, ProjectionLedger
from trivium.ports.events import EventLog

logger = logging.getLogger(__name__)


class FollowedConceptGraph:
    """Reads as the store does and never less: a server that is behind, lost its data or does not answer is not asked.
    `is_there` tells whether the server has this projection at all."""

    def __init__(
        self,
        store: ConceptGraph,
        server: ConceptGraph,
        projection: str,
        log: EventLog,
        ledger: ProjectionLedger,
        is_there: Callable[[], bool],
    ) -> None:
        self._store, self._server, self._projection = store, server, projection
        self._log, self._ledger, self._is_there = log, ledger, is_there

    def edges(
        self,
        keys: Sequence[int],
        direction: Direction,
        relationship_type: RelationshipType | None = None,
        *,
        deleted: bool = False,
    ) -> list[Edge]:
        head = self._log.head()
        if self._has_everything(head):
            try:
                if self._is_there():
                    found = self._server.edges(keys, direction, relationship_type, deleted=deleted)
                    # Keys are positions in the log: what came after the moment this answer is of is left out.
                    return [edge for edge in found if edge[1] <= head and edge[2] <= head]
            except GraphUnavailable as error:
                logger.warning("%s; read from the store", error.message)
        return self._store.edges(keys, direction, relationship_type, deleted=deleted)

    def get(self, relationship_ids: Sequence[str]) -> list[Relationship]:
        return self._store.get(relationship_ids)

    def by_key(self, keys: Sequence[int]) -> dict[int, Relationship]:
        return self._store.by_key(keys)

    def between(self, source: int, target: int, relationship_type: RelationshipType) -> Relationship | None:
        return self._store.between(source, target, relationship_type)

    def restart_if_lost(self) -> bool:
        """A server that lost everything is told it from the beginning; answers whether that was so."""
        if self._ledger.progress(self._projection).position == 0 or self._is_there():
            return False
        logger.warning("the graph server has no concepts any more: they are sent again")
        self._ledger.save(self._projection, Progress())
        return True

    def _has_everything(self, head: int) -> bool:
        return self._ledger.progress(self._projection).position >= head and not self._ledger.parked(self._projection)
