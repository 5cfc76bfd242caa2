"""Reads concepts and walks their relationships. Every answer is of one moment and includes every finished write."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, cast

from trivium.concepts import rules, walk
from trivium.concepts.change import gone, missing
from trivium.concepts.replay import concept_as_of
from trivium.errors import InvalidInput, NotFound
from trivium.model.concept import Concept, Direction, Recorded, Relationship, RelationshipType
from trivium.ports.concept_catalogue import ConceptCatalogue, Place, Selection
from trivium.ports.concept_graph import ConceptGraph
from trivium.ports.events import EventLog

DIRECTIONS = ("outgoing", "incoming", "both")
ORDERS = ("asc", "desc")
MOST_PREREQUISITES = 200  # more than anyone learns before one thing, and than fits an answer


@dataclass(frozen=True, slots=True)
class Related:
    concept: Concept
    relationship: Relationship  # the last step to it
    distance: int


@dataclass(frozen=True, slots=True)
class Prerequisite:
    concept: Concept
    depth: int


@dataclass(frozen=True, slots=True)
class LearningOrder:
    """`complete` is False where there are more, and only the nearest to the target are listed."""

    steps: list[Prerequisite]
    complete: bool


class ReadConcepts:
    def __init__(
        self,
        log: EventLog,
        catalogue: ConceptCatalogue,
        graph: ConceptGraph,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._log, self._catalogue, self._graph, self._now = log, catalogue, graph, now

    def get(self, concept_id: str, as_of: str | int | None = None) -> Concept:
        """`as_of` reads the past: a version or a moment. A concept that is deleted (now, or then) is not found."""
        if as_of is not None:
            return self._past(concept_id, as_of)
        return self._live(concept_id)

    def history(self, concept_id: str) -> list[Recorded]:
        """Every event of a concept, oldest first; of a deleted one too."""
        events = self._log.stream(concept_id)
        if not events:
            raise missing(self._catalogue, concept_id)
        return events

    def exact(self, wanted: Selection, limit: int = 20) -> list[Concept]:
        """Newest first."""
        rules.limited("limit", limit, 1, 100)
        return self._catalogue.select(rules.checked_selection(wanted), "created", limit)

    def recent(self, days: int = 7, limit: int = 10) -> list[Concept]:
        """Last changed first."""
        rules.limited("days", days, 1, 365)
        rules.limited("limit", limit, 1, 100)
        since = (self._now() - timedelta(days=days)).astimezone(UTC).isoformat(timespec="milliseconds")
        wanted = Selection(modified_since=since.replace("+00:00", "Z"))
        return self._catalogue.select(wanted, "modified", limit)

    def by_certainty(
        self, min_certainty: float = 0, max_certainty: float = 100, limit: int = 50, order: str = "asc"
    ) -> list[Concept]:
        """Bounds the wrong way round are taken as meant."""
        rules.limited("limit", limit, 1, 100)
        if order not in ORDERS:
            raise InvalidInput(f"order must be one of: {', '.join(ORDERS)}", field="order", allowed=ORDERS)
        low = rules.bounded("min_certainty", min_certainty, 0, 100)
        high = rules.bounded("max_certainty", max_certainty, 0, 100)
        wanted = Selection(min_certainty=min(low, high), max_certainty=max(low, high))
        return self._catalogue.select(wanted, "certainty_asc" if order == "asc" else "certainty_desc", limit)

    def hierarchy(self) -> list[Place]:
        return self._catalogue.places()

    def related(
        self,
        concept_id: str,
        direction: str = "both",
        relationship_type: str | None = None,
        max_depth: int = 2,
        limit: int = 50,
    ) -> list[Related]:
        """Nearest first, then by the strength of the last step."""
        way = _direction(direction)
        kind = rules.relationship_type(relationship_type) if relationship_type else None
        rules.limited("max_depth", max_depth, 1, 5)
        rules.limited("limit", limit, 1, 50)
        with self._catalogue.snapshot():
            start = self._live(concept_id)
            reached = walk.around(self._graph, start.key, way, kind, max_depth, limit)[:limit]
            concepts = self._catalogue.by_key([step.key for step in reached])
            steps = self._graph.by_key([step.relationship for step in reached])
        return [Related(concepts[step.key], steps[step.relationship], step.distance) for step in reached]

    def prerequisites(self, concept_id: str, max_depth: int = 5, also: Sequence[str] = ()) -> LearningOrder:
        """The order to learn in, deepest first: nothing comes before what it needs. With `also`, one order for several
        targets; a target is listed where another one needs it."""
        rules.limited("max_depth", max_depth, 1, 10)
        with self._catalogue.snapshot():
            targets = [self._live(one).key for one in dict.fromkeys((concept_id, *also))]
            needed, complete = walk.before(self._graph, targets, max_depth, MOST_PREREQUISITES)
            concepts = self._catalogue.by_key(list(needed))
        order = sorted(concepts.values(), key=lambda concept: (-needed[concept.key], concept.name, concept.key))
        steps = [Prerequisite(concept, min(needed[concept.key], max_depth)) for concept in order]
        return LearningOrder(steps, complete)

    def chain(
        self,
        start_concept_id: str,
        end_concept_id: str,
        relationship_type: str | None = None,
        direction: str = "both",
    ) -> list[Concept]:
        """A shortest way, both ends included; empty where there is none."""
        kind: RelationshipType | None = rules.relationship_type(relationship_type) if relationship_type else None
        way = _direction(direction)
        with self._catalogue.snapshot():
            start = self._live(start_concept_id, "start_concept_id")
            end = self._live(end_concept_id, "end_concept_id")
            keys = walk.shortest(self._graph, start.key, end.key, way, kind)
            concepts = self._catalogue.by_key(keys)
        return [concepts[key] for key in keys]

    def relationships(self, concept_id: str, direction: str = "both") -> list[Relationship]:
        """The relationships of one concept, oldest first."""
        with self._catalogue.snapshot():
            edges = self._graph.edges([self._live(concept_id).key], _direction(direction))
            found = self._graph.by_key([relationship for _, _, relationship, _ in edges])
        return [found[key] for key in sorted(found)]

    def _live(self, concept_id: str, field: str = "concept_id") -> Concept:
        found = self._catalogue.get([concept_id])
        if not found:
            raise missing(self._catalogue, concept_id, field)
        if found[0].deleted_at is not None:
            raise gone(found[0])
        return found[0]

    def _past(self, concept_id: str, as_of: str | int) -> Concept:
        concept = concept_as_of(self.history(concept_id), as_of)
        if concept is None or concept.deleted_at is not None:
            raise NotFound(f"Concept not found: {concept_id} did not exist as of {as_of}", code="CONCEPT_NOT_FOUND")
        return concept


def _direction(value: str) -> Direction:
    if value not in DIRECTIONS:
        raise InvalidInput(f"direction must be one of: {', '.join(DIRECTIONS)}", field="direction", allowed=DIRECTIONS)
    return cast(Literal["outgoing", "incoming", "both"], value)
