"""Facts as people and agents write them, checked: types, names, contradictions, duplicates; and read from files."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trivium.documents.extract.names import could_be_one
from trivium.documents.extract.resolve import key_of
from trivium.errors import Conflict, InvalidInput
from trivium.model.ids import parse_chunk_id
from trivium.model.vendor import (
    SYMMETRIC,
    EntityType,
    Origin,
    confidence_value,
    entity_name,
    entity_type,
    relationship_type,
)
from trivium.ports.vendor_graph import FactBatch, LinkDraft, MentionDraft, NamedEntity

MOST_FACTS = 500
ASSERTED = 0.9  # what an agent says it has read, unless it says how sure it is
ONE_WAY = frozenset({"ACQUIRED", "SUBSIDIARY_OF", "OWNED_BY", "WORKS_FOR", "PRODUCES"})
_COLUMNS = ("source", "source_type", "relationship_type", "target", "target_type", "confidence")


@dataclass(frozen=True, slots=True)
class Fact:
    """An entity, or with `relationship_type` and target a relationship, and the chunk it was read in."""

    source: str
    source_type: EntityType
    chunk_id: int = 0
    relationship_type: str | None = None
    target: str | None = None
    target_type: EntityType | None = None
    confidence: float = ASSERTED
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.source,) if self.target is None else (self.source, self.target)

    def at(self, chunk_id: int) -> "Fact":
        return replace(self, chunk_id=chunk_id)


def fact_of(row: Mapping[str, Any], where: str, *, needs_chunk: bool = True) -> Fact:
    """One fact from plain values. Names may be given as text or as {"name", "entity_type"}."""
    try:
        return _fact(row, needs_chunk)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error.message}", field=error.field, allowed=error.allowed) from None


def _fact(row: Mapping[str, Any], needs_chunk: bool) -> Fact:
    source, source_type = _end(row, "source", "entity")
    kind = row.get("relationship_type") or None
    target, target_type = _end(row, "target") if kind or row.get("target") else (None, None)
    if target is not None and kind is None:
        raise InvalidInput("a fact with a target needs a relationship_type", field="relationship_type")
    if source is None or source_type is None or (kind and target is None):
        raise InvalidInput("a fact needs a source, and a relationship also a target", field="source")
    if needs_chunk and row.get("chunk_id") in (None, ""):
        raise InvalidInput("chunk_id is required: the chunk the fact was read in", field="chunk_id")
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, Mapping) or len(json.dumps(metadata, default=str)) > 2000:
        raise InvalidInput("metadata must be an object of at most 2000 characters", field="metadata")
    return Fact(
        source,
        source_type,
        parse_chunk_id(row["chunk_id"]) if needs_chunk else 0,
        relationship_type(str(kind)) if kind else None,
        target,
        target_type,
        confidence_value(_number(row.get("confidence"))),
        dict(metadata),
    )


def _number(value: Any) -> float:
    if value in (None, ""):
        return ASSERTED
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"confidence must be a number between 0 and 1, not {value!r}", field="confidence") from None


def _end(row: Mapping[str, Any], *names: str) -> tuple[str | None, EntityType | None]:
    for name in names:
        given = row.get(name)
        if isinstance(given, Mapping):
            value, kind = given.get("name"), given.get("entity_type") or given.get("type")
        else:
            value = given
            kind = row.get(f"{name}_type") or (row.get("entity_type") if name != "target" else None)
        if value:
            return entity_name(str(value), f"{name}"), entity_type(str(kind or "ORG"))
    return None, None


class CheckedFacts:
    """Facts that agree with one another. Duplicates count once; contradictions are refused."""

    def __init__(self, facts: Sequence[Fact], limit: int | None = MOST_FACTS) -> None:
        if not facts or (limit and len(facts) > limit):
            allowed = f"1 to {limit} facts" if limit else "at least one fact"
            raise InvalidInput(f"{allowed} can be recorded at a time, these are {len(facts)}", field="facts")
        unique = {_identity(fact): fact for fact in facts}
        self.facts = list(unique.values())
        self.duplicates = len(facts) - len(self.facts)
        self.chunk_ids = {fact.chunk_id for fact in self.facts}
        self._refuse_contradictions()

    def batch(self, origin: Origin) -> FactBatch:
        entities: dict[tuple[str, str, str], NamedEntity] = {}
        places: dict[tuple[str, str, str], int] = {}
        mentions: dict[tuple[int, int], MentionDraft] = {}
        links: list[LinkDraft] = []
        for fact in self.facts:
            ends = []
            for name, kind in self._ends(fact):
                key = key_of(name, kind)
                entities.setdefault((kind, key.base, key.form), NamedEntity(name, kind, key.base, key.form))
                place = places.setdefault((kind, key.base, key.form), len(places))
                mentions.setdefault(
                    (place, fact.chunk_id), MentionDraft(place, fact.chunk_id, name, 0, 1, fact.confidence)
                )
                ends.append(place)
            if fact.relationship_type:
                links.append(
                    LinkDraft(ends[0], ends[1], fact.relationship_type, fact.chunk_id, fact.confidence, fact.metadata)
                )
        return FactBatch(origin, list(entities.values()), list(mentions.values()), links)

    @staticmethod
    def _ends(fact: Fact) -> list[tuple[str, EntityType]]:
        ends: list[tuple[str, EntityType]] = [(fact.source, fact.source_type)]
        if fact.target is not None and fact.target_type is not None:
            ends.append((fact.target, fact.target_type))
        return ends

    def _refuse_contradictions(self) -> None:
        kinds: dict[str, EntityType] = {}
        directed: set[tuple[str, str, str]] = set()
        for fact in self.facts:
            for name, kind in self._ends(fact):
                before = kinds.setdefault(name.casefold(), kind)
                if before != kind:
                    raise Conflict(f"contradictory facts: {name!r} is called both {before} and {kind}")
            if fact.target is None or fact.relationship_type is None:
                continue
            source, target = key_of(fact.source, fact.source_type), key_of(fact.target, fact.target_type or "ORG")
            if could_be_one(source, target) and fact.source_type == fact.target_type:
                raise InvalidInput(f"{fact.source!r} cannot have a relationship with itself", field="target")
            if fact.relationship_type in ONE_WAY:
                if (target.base, fact.relationship_type, source.base) in directed:
                    raise Conflict(
                        f"contradictory facts: {fact.relationship_type} runs both ways between"
                        f" {fact.source!r} and {fact.target!r}"
                    )
                directed.add((source.base, fact.relationship_type, target.base))


def _identity(fact: Fact) -> tuple[object, ...]:
    ends = [(kind, key_of(name, kind)) for name, kind in CheckedFacts._ends(fact)]
    if fact.relationship_type in SYMMETRIC:
        ends.sort(key=repr)
    return (*ends, fact.relationship_type, fact.chunk_id)


def fact_text(fact: Fact) -> str:
    """The sentence that stands for an imported fact, so that it can be found and shown."""
    if fact.relationship_type is None or fact.target is None:
        return f"{fact.source} ({fact.source_type})"
    return f"{fact.source} ({fact.source_type}) {fact.relationship_type} {fact.target} ({fact.target_type})"


def facts_from_file(path: Path) -> list[Fact]:
    """CSV with a header line, or one JSON object a line (.jsonl, .json)."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}", field="file") from error
    rows = _csv_rows(text, path) if path.suffix.lower() in (".csv", ".tsv") else _json_rows(text, path)
    return [fact_of(row, f"{path.name}, line {line}", needs_chunk=False) for line, row in rows]


def _csv_rows(text: str, path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text), delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    if "source" not in (reader.fieldnames or ()):
        raise InvalidInput(f"{path.name}: the first line must name the columns", field="file", allowed=_COLUMNS)
    return [(number, row) for number, row in enumerate(reader, start=2) if any(row.values())]


def _json_rows(text: str, path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    rows: list[tuple[int, Mapping[str, Any]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"{path.name}, line {number} is not JSON: {error}", field="file") from error
        if not isinstance(row, dict):
            raise InvalidInput(f"{path.name}, line {number} is not an object", field="file")
        rows.append((number, row))
    return rows
