"""Brings concepts in from files and hands them out again. The formats are in markdown.py and tables.py.

An import is one step: all of it or nothing. A concept is recognised by its id, else by its name and place in the
taxonomy, so that importing the same files again changes nothing.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trivium.concepts.change import ChangeConcepts
from trivium.concepts.replay import replay
from trivium.errors import Conflict
from trivium.model.concept import CONTENT_FIELDS, Concept, Relationship
from trivium.ports.concept_catalogue import ConceptCatalogue, Selection
from trivium.ports.events import EventLog

_RELATIONSHIP_ID = re.compile(r"rel-[0-9a-zA-Z]{12}")


@dataclass(frozen=True, slots=True)
class Link:
    """`target` is a concept's id, its name, or a path to it, as the file says it."""

    relationship_type: str
    target: str
    strength: float = 1.0
    description: str | None = None
    relationship_id: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A concept as a file says it. `path` is where it lies, without the ending; links are looked up by it."""

    content: Mapping[str, object]
    concept_id: str | None = None
    path: str = ""
    links: Sequence[Link] = ()


@dataclass(slots=True)
class Imported:
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    relationships: int = 0
    unresolved: list[tuple[str, str]] = field(default_factory=list)  # name of the concept, what it links to


class TransferConcepts:
    def __init__(self, log: EventLog, catalogue: ConceptCatalogue, change: ChangeConcepts) -> None:
        self._log, self._catalogue, self._change = log, catalogue, change

    def bring_in(self, drafts: Sequence[Draft]) -> Imported:
        result = Imported()
        with self._log.exclusive():
            concepts = [self._concept(draft, result) for draft in drafts]
            targets = _Targets(drafts, concepts)
            for draft, concept in zip(drafts, concepts, strict=True):
                for link in draft.links:
                    self._link(draft, concept, link, targets, result)
        return result

    def hand_out(self) -> Iterator[Draft]:
        """Every concept that is not deleted, oldest first, with the relationships that begin at it."""
        state = replay(self._log)
        live = {concept.concept_id: concept for concept in state.concepts if concept.deleted_at is None}
        links: dict[str, list[Link]] = {concept_id: [] for concept_id in live}
        for relationship in state.relationships:
            if relationship.source_concept_id in live and relationship.target_concept_id in live:
                links[relationship.source_concept_id].append(_link(relationship))
        for concept in sorted(live.values(), key=lambda one: one.key):
            content = {name: value for name in CONTENT_FIELDS if (value := getattr(concept, name)) is not None}
            yield Draft(content, concept.concept_id, links=tuple(links[concept.concept_id]))

    def _concept(self, draft: Draft, result: Imported) -> Concept:
        known = self._known(draft)
        if known is None:
            result.created += 1
            return self._change.create(draft.content, draft.concept_id if _is_uuid(draft.concept_id) else None)
        if known.deleted_at is not None:
            known = self._change.restore(known.concept_id)
        # Only what we handed out is known to be complete; elsewhere a field that is not there says nothing.
        absent = [name for name in CONTENT_FIELDS if name != "certainty_score"] if draft.concept_id else []
        updated = self._change.update(known.concept_id, {**dict.fromkeys(absent, ""), **draft.content})
        if updated.updated_fields:
            result.updated += 1
        else:
            result.unchanged += 1
        return updated.concept

    def _known(self, draft: Draft) -> Concept | None:
        if draft.concept_id:
            found = self._catalogue.get([draft.concept_id])
            if found or _is_uuid(draft.concept_id):
                return found[0] if found else None
        name = str(draft.content.get("name", "")).strip()
        place = {key: draft.content.get(key) or None for key in ("area", "topic", "subtopic")}
        for concept in self._catalogue.select(Selection(name=name), "created", 100):
            if concept.name == name and all(getattr(concept, key) == value for key, value in place.items()):
                return concept
        return None

    def _link(self, draft: Draft, source: Concept, link: Link, targets: "_Targets", result: Imported) -> None:
        target = targets.find(link.target, draft.path)
        if target is None:
            known = self._catalogue.get([link.target])
            target = known[0].concept_id if known and known[0].deleted_at is None else None
        if target is None:
            result.unresolved.append((source.name, link.target))
        elif target != source.concept_id:
            self._relate(source.concept_id, target, link, result)

    def _relate(self, source: str, target: str, link: Link, result: Imported) -> None:
        given = link.relationship_id or ""
        keep = given if _RELATIONSHIP_ID.fullmatch(given) and not self._log.stream(given) else None
        try:
            self._change.relate(source, target, link.relationship_type, link.strength, link.description, keep)
        except Conflict as error:
            if error.code != "DUPLICATE_RELATIONSHIP":
                raise
        else:
            result.relationships += 1


class _Targets:
    """What a link can mean: an id, a path (whole or its end), a name. Of several, the one nearest to the link."""

    def __init__(self, drafts: Sequence[Draft], concepts: Sequence[Concept]) -> None:
        self._ids = {concept.concept_id for concept in concepts}
        self._by_name: dict[str, list[tuple[str, str]]] = {}
        for draft, concept in zip(drafts, concepts, strict=True):
            names = {concept.name.casefold(), draft.path.rpartition("/")[2].casefold()}
            for name in names - {""}:
                self._by_name.setdefault(name, []).append((draft.path, concept.concept_id))
            if draft.concept_id:
                self._by_name.setdefault(draft.concept_id.casefold(), []).append((draft.path, concept.concept_id))

    def find(self, target: str, path: str) -> str | None:
        if target in self._ids:
            return target
        wanted = target.strip().strip("/").casefold()
        found = self._by_name.get(wanted) or [
            (place, concept_id)
            for place, concept_id in self._by_name.get(wanted.rpartition("/")[2], [])
            if f"/{place.casefold()}".endswith(f"/{wanted}")
        ]
        folder = path.rpartition("/")[0]
        ranked = sorted(found, key=lambda entry: (entry[0].rpartition("/")[0] != folder, len(entry[0]), entry[0]))
        return ranked[0][1] if ranked else None


def _link(relationship: Relationship) -> Link:
    return Link(
        relationship.relationship_type,
        relationship.target_concept_id,
        relationship.strength,
        relationship.description,
        relationship.relationship_id,
    )


def _is_uuid(text: str | None) -> bool:
    try:
        return text is not None and str(uuid.UUID(text)) == text
    except ValueError:
        return False
