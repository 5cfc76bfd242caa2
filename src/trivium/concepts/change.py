"""Changes concepts and relationships: check, append events, and bring every view in the same store along, in one step.

What returned is durable and visible to every read. Views elsewhere follow the log on their own (follow.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trivium.concepts import rules
from trivium.concepts.walk import shortest
from trivium.errors import Conflict, InvalidInput, NotFound
from trivium.model.concept import (
    CONTENT_FIELDS,
    Concept,
    ConceptCreated,
    ConceptDeleted,
    ConceptUpdated,
    Item,
    Pending,
    Relationship,
    RelationshipCreated,
    RelationshipDeleted,
    RelationshipType,
    Value,
    evolved,
    fingerprint,
    item_id,
)
from trivium.ports.concept_catalogue import ConceptCatalogue, Selection
from trivium.ports.concept_graph import ConceptGraph
from trivium.ports.concept_ledger import RequestBook
from trivium.ports.concept_projection import ConceptProjection
from trivium.ports.events import EventLog


@dataclass(frozen=True, slots=True)
class Updated:
    concept: Concept
    updated_fields: tuple[str, ...]


class ChangeConcepts:
    """`together` are the projections that live in the log's own store; `wake` tells the others that there is work."""

    def __init__(
        self,
        log: EventLog,
        catalogue: ConceptCatalogue,
        graph: ConceptGraph,
        requests: RequestBook,
        together: Sequence[ConceptProjection],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self._log, self._catalogue, self._graph, self._requests = log, catalogue, graph, requests
        self._together, self._wake = together, wake

    def create(self, content: Mapping[str, object], concept_id: str | None = None) -> Concept:
        """`concept_id` brings an id along, from an export; it must be new here."""
        clean = rules.new_content(content)
        with self._log.exclusive():
            event = Pending(concept_id or rules.new_concept_id(), 1, ConceptCreated(clean))
            (made,) = self._record([event], {})
        self._wake()
        assert isinstance(made, Concept)
        return made

    def create_many(
        self, contents: Sequence[Mapping[str, object]], idempotency_key: str | None = None
    ) -> list[Concept]:
        """All or none. The same key with the same contents answers with the concepts it made the first time."""
        clean = [_numbered(number, content, len(contents)) for number, content in enumerate(contents)]
        request = "" if idempotency_key is None else fingerprint(clean)
        with self._log.exclusive():
            if idempotency_key is not None and (known := self._answered(idempotency_key, request)):
                return known
            items = self._record([Pending(rules.new_concept_id(), 1, ConceptCreated(content)) for content in clean], {})
            if idempotency_key is not None:
                self._requests.remember(idempotency_key, request, [item_id(item) for item in items])
        self._wake()
        return [item for item in items if isinstance(item, Concept)]

    def update(self, concept_id: str, changes: Mapping[str, object], expected_version: int | None = None) -> Updated:
        """Fields that already have the value are no change; without any change no event is written."""
        clean = rules.changed_content(changes)
        if not clean:
            raise InvalidInput("give at least one field to update", field="updates", allowed=CONTENT_FIELDS)
        with self._log.exclusive():
            concept = self._live(concept_id)
            _expect(concept, expected_version)
            different = {name: value for name, value in clean.items() if getattr(concept, name) != value}
            if different:
                event = Pending(concept_id, concept.version + 1, ConceptUpdated(different))
                (changed,) = self._record([event], {concept_id: concept})
                assert isinstance(changed, Concept)
                concept = changed
        self._wake()
        return Updated(concept, tuple(different))

    def delete(self, concept_id: str, expected_version: int | None = None) -> Concept:
        """Leaves every search at once; its relationships wait for its return. Deleting it again changes nothing."""
        with self._log.exclusive():
            concept = self._any(concept_id)
            if concept.deleted_at is not None:
                return concept
            _expect(concept, expected_version)
            event = Pending(concept_id, concept.version + 1, ConceptDeleted())
            (deleted,) = self._record([event], {concept_id: concept})
        self._wake()
        assert isinstance(deleted, Concept)
        return deleted

    def restore(self, concept_id: str, expected_version: int | None = None) -> Concept:
        """Undoes a delete. A concept that is not deleted stays as it is."""
        with self._log.exclusive():
            concept = self._any(concept_id)
            if concept.deleted_at is None:
                return concept
            _expect(concept, expected_version)
            event = Pending(concept_id, concept.version + 1, ConceptUpdated({}, restored=True))
            (restored,) = self._record([event], {concept_id: concept})
        self._wake()
        assert isinstance(restored, Concept)
        return restored

    def relate(
        self,
        source_concept_id: str,
        target_concept_id: str,
        relationship_type: str,
        strength: float = 1.0,
        description: str | None = None,
        relationship_id: str | None = None,
    ) -> Relationship:
        kind = rules.relationship_type(relationship_type)
        weight = rules.bounded("strength", strength, 0, 1)
        words = rules.plain_text("description", description) if description else None
        with self._log.exclusive():
            source = self._live(source_concept_id, "source_concept_id")
            target = self._live(target_concept_id, "target_concept_id")
            self._allow(source, target, kind)
            event = RelationshipCreated(source.concept_id, target.concept_id, kind, weight, words or None)
            (made,) = self._record([Pending(relationship_id or rules.new_relationship_id(), 1, event)], {})
        self._wake()
        assert isinstance(made, Relationship)
        return made

    def unrelate(self, relationship_id: str) -> bool:
        """True where it was there; False where it was deleted before. Raises NotFound for one that never was."""
        with self._log.exclusive():
            found = self._graph.get([relationship_id])
            if not found:
                self._was_there(relationship_id)
                return False
            version = len(self._log.stream(relationship_id)) + 1
            self._record([Pending(relationship_id, version, RelationshipDeleted())], {relationship_id: found[0]})
        self._wake()
        return True

    def _record(self, events: Sequence[Pending], before: Mapping[str, Item]) -> list[Item]:
        """Appends and applies; answers the states the events lead to, without what they removed."""
        states: dict[str, Item | None] = dict(before)
        for recorded in self._log.append(events):
            states[recorded.stream] = evolved(states.get(recorded.stream), recorded)
        put = [item for item in states.values() if item is not None]
        drop = [stream for stream, item in states.items() if item is None]
        for projection in self._together:
            projection.apply(put, drop)
        return put

    def _answered(self, key: str, request: str) -> list[Concept] | None:
        answer = self._requests.answer(key)
        if answer is None:
            return None
        if answer[0] != request:
            raise Conflict(
                "this idempotency_key was used for other concepts",
                code="IDEMPOTENCY_CONFLICT",
                details={"concept_ids": answer[1]},
                hint="use a new key for a new request",
            )
        return self._catalogue.get(answer[1])

    def _any(self, concept_id: str, field: str = "concept_id") -> Concept:
        found = self._catalogue.get([concept_id])
        if not found:
            raise missing(self._catalogue, concept_id, field)
        return found[0]

    def _live(self, concept_id: str, field: str = "concept_id") -> Concept:
        concept = self._any(concept_id, field)
        if concept.deleted_at is not None:
            raise gone(concept)
        return concept

    def _allow(self, source: Concept, target: Concept, kind: RelationshipType) -> None:
        if source.key == target.key:
            raise InvalidInput(
                "a concept cannot be related to itself", field="target_concept_id", code="SELF_RELATIONSHIP"
            )
        existing = self._graph.between(source.key, target.key, kind)
        if existing:
            raise Conflict(
                f"this {kind} relationship exists already: {existing.relationship_id}",
                code="DUPLICATE_RELATIONSHIP",
                details={"relationship_id": existing.relationship_id},
            )
        if kind == "prerequisite":
            self._refuse_cycle(source, target)

    def _refuse_cycle(self, source: Concept, target: Concept) -> None:
        # Deleted concepts count: when they come back, so do their relationships.
        way = shortest(self._graph, target.key, source.key, "outgoing", "prerequisite", deleted=True)
        if not way:
            return
        concepts = self._catalogue.by_key(way)
        names = [concepts[key].name for key in (*way, target.key)]
        raise Conflict(
            "this would make a concept its own prerequisite: " + " → ".join(names),
            code="PREREQUISITE_CYCLE",
            details={"cycle": [concepts[key].concept_id for key in (*way, target.key)]},
            hint="delete one relationship of the cycle, or use relates_to",
        )

    def _was_there(self, relationship_id: str) -> None:
        if not self._log.stream(relationship_id):
            raise NotFound(f"Relationship not found: {relationship_id}", code="RELATIONSHIP_NOT_FOUND")


def missing(catalogue: ConceptCatalogue, concept_id: str, field: str = "concept_id") -> NotFound | InvalidInput:
    if not concept_id.strip():
        return InvalidInput(f"{field} is required", field=field)
    named = catalogue.select(Selection(name=concept_id.strip()[:200]), "created", 3)
    return NotFound(
        f"Concept not found: {concept_id}",
        nearest=[f"{concept.concept_id} ({concept.name})" for concept in named],
        hint="find its id with search_concepts_exact or search_concepts_semantic",
        code="CONCEPT_NOT_FOUND",
    )


def gone(concept: Concept) -> NotFound:
    return NotFound(
        f"Concept not found: {concept.concept_id} was deleted at {concept.deleted_at}",
        hint="restore_concept brings it back; as_of reads it as it was",
        code="CONCEPT_NOT_FOUND",
    )


def _expect(concept: Concept, version: int | None) -> None:
    if version is not None and version != concept.version:
        raise Conflict(
            f"expected version {version}, but the current version is {concept.version}",
            code="VERSION_CONFLICT",
            details={"expected_version": version, "current_version": concept.version},
            hint="read the concept again and repeat the change on what it says now",
        )


def _numbered(number: int, content: Mapping[str, object], total: int) -> dict[str, Value]:
    """Says which concept of a batch is wrong."""
    try:
        return rules.new_content(content)
    except InvalidInput as error:
        if total > 1:
            raise InvalidInput(
                f"concepts[{number}]: {error.message}", field=f"concepts.{number}.{error.field}", allowed=error.allowed
            ) from None
        raise
