"""Concepts, relationships, and the five events that make them. Pure: nothing here reads a clock or a store."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

RelationshipType = Literal["prerequisite", "relates_to", "includes"]
Direction = Literal["outgoing", "incoming", "both"]
Value = str | float | None

# What a relationship is called in the log and in every graph; people see the keys.
STORED_AS: Mapping[str, str] = {"prerequisite": "PREREQUISITE", "relates_to": "RELATES_TO", "includes": "CONTAINS"}
SHOWN_AS: Mapping[str, RelationshipType] = {
    "PREREQUISITE": "prerequisite",
    "RELATES_TO": "relates_to",
    "CONTAINS": "includes",
}

CONTENT_FIELDS = (
    "name",
    "explanation",
    "area",
    "topic",
    "subtopic",
    "certainty_score",
    "examples",
    "prerequisites",
)


class Concept(NamedTuple):
    """`key` is the position of the event that created it, `changed` that of its last event: both are the same in every
    replay, and since time never runs backwards in the log they order concepts as `created_at`, `last_modified` do."""

    concept_id: str
    name: str
    explanation: str
    area: str | None
    topic: str | None
    subtopic: str | None
    certainty_score: float | None
    examples: str | None
    prerequisites: str | None
    created_at: str
    last_modified: str
    version: int
    key: int
    changed: int
    deleted_at: str | None = None

    @property
    def text(self) -> str:
        """What is embedded and searched."""
        return f"{self.name}. {self.explanation}"


class Relationship(NamedTuple):
    relationship_id: str
    source_concept_id: str
    target_concept_id: str
    relationship_type: RelationshipType
    strength: float
    description: str | None
    created_at: str
    key: int  # the position of the event that created it


Item = Concept | Relationship


@dataclass(frozen=True, slots=True)
class ConceptCreated:
    content: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class ConceptUpdated:
    """`restored` brings a deleted concept back; it may change nothing else."""

    changes: Mapping[str, Value]
    restored: bool = False


@dataclass(frozen=True, slots=True)
class ConceptDeleted:
    pass


@dataclass(frozen=True, slots=True)
class RelationshipCreated:
    source_concept_id: str
    target_concept_id: str
    relationship_type: RelationshipType
    strength: float = 1.0
    description: str | None = None


@dataclass(frozen=True, slots=True)
class RelationshipDeleted:
    pass


Event = ConceptCreated | ConceptUpdated | ConceptDeleted | RelationshipCreated | RelationshipDeleted


class Pending(NamedTuple):
    """An event that wants to be version `version` of its concept or relationship."""

    stream: str
    version: int
    event: Event


class Recorded(NamedTuple):
    """An event in the log. `at` never falls from one position to the next."""

    position: int
    stream: str
    version: int
    at: str
    event: Event


def created(recorded: Recorded) -> Item:
    """The concept or relationship that a creating event begins."""
    event = recorded.event
    if isinstance(event, RelationshipCreated):
        return Relationship(
            recorded.stream,
            event.source_concept_id,
            event.target_concept_id,
            event.relationship_type,
            event.strength,
            event.description,
            recorded.at,
            recorded.position,
        )
    assert isinstance(event, ConceptCreated)
    content = [event.content.get(name) for name in CONTENT_FIELDS]
    values: list[Any] = [recorded.stream, *content, recorded.at, recorded.at, recorded.version]
    values += [recorded.position, recorded.position]
    return Concept(*values)


def evolved(item: Item | None, recorded: Recorded) -> Item | None:
    """What an item is after an event; None once a relationship is deleted. A deleted concept stays, marked."""
    event = recorded.event
    if item is None or isinstance(event, ConceptCreated | RelationshipCreated):
        return created(recorded)
    if isinstance(item, Relationship):
        return None
    stamp = {"version": recorded.version, "last_modified": recorded.at, "changed": recorded.position}
    if isinstance(event, ConceptDeleted):
        return item._replace(**stamp, deleted_at=recorded.at)  # type: ignore[arg-type]
    assert isinstance(event, ConceptUpdated)
    if event.restored:
        item = item._replace(deleted_at=None)
    return item._replace(**stamp, **event.changes)  # type: ignore[arg-type]


def body_of(event: Event) -> dict[str, Any]:
    """The event as plain JSON values, without what is empty."""
    match event:
        case ConceptCreated(content):
            return {name: value for name, value in content.items() if value is not None}
        case ConceptUpdated(changes, restored):
            return {"changes": dict(changes)} | ({"restored": True} if restored else {})
        case RelationshipCreated():
            body: dict[str, Any] = {
                "source": event.source_concept_id,
                "target": event.target_concept_id,
                "type": STORED_AS[event.relationship_type],
                "strength": event.strength,
            }
            return body | ({"description": event.description} if event.description else {})
        case _:
            return {}


def event_of(kind: str, body: Mapping[str, Any]) -> Event:
    """The inverse of `body_of`, by the event's class name."""
    match kind:
        case "ConceptCreated":
            return ConceptCreated(body)
        case "ConceptUpdated":
            return ConceptUpdated(body["changes"], body.get("restored", False))
        case "RelationshipCreated":
            return RelationshipCreated(
                body["source"], body["target"], SHOWN_AS[body["type"]], body["strength"], body.get("description")
            )
        case "ConceptDeleted":
            return ConceptDeleted()
        case "RelationshipDeleted":
            return RelationshipDeleted()
    raise ValueError(f"unknown event {kind!r}")


def item_id(item: Item) -> str:
    return item.concept_id if isinstance(item, Concept) else item.relationship_id


compact_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def fingerprint(values: object) -> str:
    """Equal for equal values and nothing else; what a projection holds is compared by it."""
    return blake2b(compact_json(values).encode(), digest_size=12).hexdigest()
