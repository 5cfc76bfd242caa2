"""Entities and relationships of the vendor graph, as values. A vendor is an entity of type ORG."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trivium.errors import InvalidInput

EntityType = Literal["PRODUCT", "PERSON", "ORG", "LOCATION", "EVENT"]
ENTITY_TYPES: tuple[EntityType, ...] = ("PRODUCT", "PERSON", "ORG", "LOCATION", "EVENT")
ENTITY_TYPE_ALIASES: Mapping[str, EntityType] = {"COMPANY": "ORG", "ORGANIZATION": "ORG", "VENDOR": "ORG"}

RELATIONSHIP_TYPES = (
    "PRODUCES",
    "WORKS_FOR",
    "PARTNERS_WITH",
    "LOCATED_IN",
    "COMPETES_WITH",
    "ACQUIRED",
    "RELATED_TO",
)
SYMMETRIC = frozenset({"PARTNERS_WITH", "COMPETES_WITH", "MERGED_WITH", "RELATED_TO"})

MAX_NAME = 200
_RELATIONSHIP_TYPE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")

Origin = Literal["extracted", "front_matter", "agent", "import"]
ORIGINS: tuple[Origin, ...] = ("extracted", "front_matter", "agent", "import")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text: `text[start:end]`."""

    start: int
    end: int
    entity_type: EntityType
    confidence: float


@dataclass(frozen=True, slots=True)
class Link:
    """A relationship between two mentions of one text, by their place in its list of mentions."""

    head: int
    tail: int
    relationship_type: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found in one text."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    entity_id: int
    name: str
    entity_type: EntityType
    confidence: float
    mention_count: int
    first_date: str | None
    last_date: str | None


@dataclass(frozen=True, slots=True)
class Relationship:
    relationship_id: int
    source_id: int
    target_id: int
    relationship_type: str
    confidence: float
    mention_count: int
    first_date: str | None
    last_date: str | None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over what is one step away from an entity."""

    entities: Mapping[str, int]
    relationships: Mapping[str, int]

    @property
    def entity_count(self) -> int:
        return sum(self.entities.values())

    @property
    def relationship_count(self) -> int:
        return sum(self.relationships.values())


def entity_type(name: str) -> EntityType:
    """Takes the five types in any case, and COMPANY for ORG."""
    upper = name.strip().upper()
    for known in ENTITY_TYPES:
        if upper == known:
            return known
    if upper in ENTITY_TYPE_ALIASES:
        return ENTITY_TYPE_ALIASES[upper]
    raise InvalidInput(
        f"{name!r} is not an entity type", field="entity_type", allowed=[*ENTITY_TYPES, *ENTITY_TYPE_ALIASES]
    )


def relationship_type(name: str) -> str:
    """The known ones and any other UPPER_SNAKE name."""
    text = name.strip()
    if len(text) > 60 or not _RELATIONSHIP_TYPE.fullmatch(text):
        raise InvalidInput(
            f"{name[:80]!r} is not a relationship type: write it in UPPER_SNAKE, at most 60 characters",
            field="relationship_type",
            allowed=RELATIONSHIP_TYPES,
        )
    return text


def entity_name(name: str, field_name: str = "name") -> str:
    """Trimmed, inner whitespace joined; 1 to 200 characters, no control characters."""
    if any((ord(c) < 32 and c not in "\t\n\r") or ord(c) == 127 or 0xD800 <= ord(c) <= 0xDFFF for c in name):
        raise InvalidInput(f"{field_name} has control characters in it", field=field_name)
    text = " ".join(name.split())
    if not 1 <= len(text) <= MAX_NAME:
        raise InvalidInput(
            f"{field_name} must have 1 to {MAX_NAME} characters, this one has {len(text)}", field=field_name
        )
    return text


def confidence_value(value: float) -> float:
    if not 0.0 <= value <= 1.0:  # also refuses NaN
        raise InvalidInput(f"confidence must be between 0 and 1, not {value}", field="confidence")
    return round(float(value), 4)


def public_entity_id(number: int) -> str:
    return f"e_{number}"


def public_relationship_id(number: int) -> str:
    return f"r_{number}"
