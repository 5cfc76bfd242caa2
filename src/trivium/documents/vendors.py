"""The vendor graph for people and agents: look a vendor up, add facts, import them, merge and split names.

What a text says is recorded by documents/extract; everything here works on what is stored. A vendor is an ORG entity.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trivium.documents.extract.names import compact
from trivium.documents.extract.resolve import key_of
from trivium.documents.vendor_facts import ONE_WAY, CheckedFacts, Fact, fact_text, facts_from_file
from trivium.documents.vendors_check import Provenance, check_provenance
from trivium.errors import Conflict, InvalidInput, NotFound
from trivium.model.chunk import Piece
from trivium.model.filters import Equals
from trivium.model.vendor import (
    Entity,
    EntityType,
    Relationship,
    Statistics,
    entity_name,
)
from trivium.ports.chunks import ChunkStore
from trivium.ports.documents import DocumentDraft, DocumentStore
from trivium.ports.vendor_graph import Proof, Recorded, VendorFacts, VendorGraph, VendorSources

SNIPPET = 200
SUGGESTIONS = 5
STATED = 500  # relationships of an entity that a new fact is held against, surest first
IMPORT_ROOT = "vendors import"


class VendorNotFound(NotFound):
    code = "VENDOR_NOT_FOUND"


class VendorAmbiguous(NotFound):
    """Several vendors go by that name; `nearest` are their full names."""

    code = "VENDOR_AMBIGUOUS"


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A vendor with a part of what is one step away from it; `total` counts all entities that fit."""

    vendor: Entity
    statistics: Statistics
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    total: int = 0
    snippets: dict[int, str] = field(default_factory=dict)


class Vendors:
    def __init__(
        self,
        graph: VendorGraph,
        sources: VendorSources,
        facts: VendorFacts,
        chunks: ChunkStore,
        documents: DocumentStore,
    ) -> None:
        self._graph, self._sources, self._facts = graph, sources, facts
        self._chunks, self._documents = chunks, documents

    def find(self, name: str, entity_type: EntityType = "ORG") -> Entity:
        """By name in any case, then by whatever else it is known as."""
        asked = entity_name(name, "vendor_name")
        key = key_of(asked, entity_type)
        found = self._graph.named(key.base, key.form, asked, entity_type)
        if len(found) == 1:
            return found[0]
        if found:
            names = [entity.name for entity in found]
            raise VendorAmbiguous(
                f"Ambiguous vendor name. Multiple matches found: {names}."
                " Please use full vendor name or a more specific term.",
                nearest=names,
            )
        raise VendorNotFound(
            f"Vendor '{asked}' not found. Try using semantic_search first to find exact vendor names.",
            nearest=self._graph.nearest(key.base, SUGGESTIONS, entity_type),
            hint=f"semantic_search('{asked} vendors')",
        )

    def statistics(self, vendor: Entity) -> Statistics:
        return self._graph.statistics(vendor.entity_id)

    def around(
        self,
        vendor: Entity,
        *,
        types: Sequence[EntityType] | None = None,
        entities: int = 100,
        relationships: int = 500,
        offset: int = 0,
        snippets: bool = False,
    ) -> Neighbourhood:
        """What is one step away, most certain first. Without `types` everything counts."""
        number = vendor.entity_id
        statistics = self._graph.statistics(number)
        total = sum(n for kind, n in statistics.entities.items() if types is None or kind in types)
        near = self._graph.neighbours(number, types, entities, offset) if entities else []
        links = self._graph.relationships(number, types, relationships, 0) if relationships else []
        texts = self._sources.snippets([entity.entity_id for entity in near], SNIPPET) if snippets else {}
        return Neighbourhood(vendor, statistics, tuple(near), tuple(links), total, texts)

    def chunk_ids(self, vendor_name: str) -> list[int]:
        """The chunks that mention a vendor: what `vendor_filter` leaves of a search."""
        return self._sources.chunks(self.find(vendor_name).entity_id)

    def mentioned_in(self, vendor_name: str) -> list[int]:
        """As `chunk_ids`; a name nobody has heard of is mentioned nowhere, and one that may mean several means all."""
        key = key_of(entity_name(vendor_name, "vendor_filter"), "ORG")
        found = self._graph.named(key.base, key.form, vendor_name)
        return sorted({number for entity in found for number in self._sources.chunks(entity.entity_id)})

    def named_in(self, query: str) -> tuple[str, ...]:
        """The vendors a question names."""
        words = re.findall(r"[\w&.+'-]+", query)[:40]
        runs = {" ".join(words[start : start + size]) for size in range(1, 5) for start in range(len(words) - size + 1)}
        keys = {key_of(run, "ORG").base: run for run in runs if len(run) > 1}
        return tuple(sorted(self._graph.known(list(keys))))

    def relationships_in(self, chunk_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        """What each chunk says about whom, for `include_relationships`."""
        return {
            chunk_id: [
                {
                    "source": source,
                    "relationship_type": link.relationship_type,
                    "target": target,
                    "confidence": link.confidence,
                }
                for link, source, target in found
            ]
            for chunk_id, found in self._sources.links_in(chunk_ids).items()
        }

    def entities(self, entity_type: EntityType | None = "ORG", limit: int = 50, offset: int = 0) -> list[Entity]:
        return self._sources.entities(entity_type, limit, offset)

    def proofs(self, near: Neighbourhood) -> dict[str, list[Proof]]:
        """Where the vendor and its relationships come from, by `e_ID` and `r_ID`."""
        return self._sources.proofs([near.vendor.entity_id], [link.relationship_id for link in near.relationships])

    def provenance(self) -> Provenance:
        """Goes through everything that is known: it must lead back to a chunk that contains it."""
        return check_provenance(self._graph, self._sources, self._chunks)

    def add_facts(self, facts: Sequence[Fact]) -> tuple[Recorded, int]:
        """Records what an agent has read, all or nothing; answers what was new and how many facts came twice."""
        checked = CheckedFacts(facts)
        self._demand_proof(checked)
        for fact in checked.facts:
            self._refuse_reversal(fact)
        return self._facts.record(checked.batch("agent")), checked.duplicates

    def retract_facts(self, facts: Sequence[Fact]) -> int:
        """Takes back what `add_facts` recorded; what a document says by itself stays."""
        return self._facts.retract(CheckedFacts(facts).batch("agent"))

    def import_file(self, path: Path) -> tuple[Recorded, int]:
        """CSV or JSON lines. The file becomes a document whose chunks prove the facts, so removing it undoes this."""
        rows = facts_from_file(path)
        CheckedFacts(rows, limit=None)  # refuses before anything is stored
        pieces, start = [], 0
        for text in map(fact_text, rows):
            pieces.append(Piece(text, start, start + len(text), path.name, max(1, len(text) // 4)))
            start += len(text) + 1
        name = f"{IMPORT_ROOT}/{path.name}"
        self._documents.save(
            [DocumentDraft("documents", IMPORT_ROOT, name, "vendors", path.stem, None, f"import {start}", pieces)]
        )
        chunks = self._chunks.get(self._chunks.select(Equals("source_file", name)).tolist())
        numbers = [chunk.chunk_id for chunk in sorted(chunks, key=lambda chunk: chunk.chunk_index)]
        placed = CheckedFacts([row.at(number) for row, number in zip(rows, numbers, strict=True)], limit=None)
        return self._facts.record(placed.batch("import")), placed.duplicates

    def merge(self, kept: str, other: str, entity_type: EntityType = "ORG") -> Entity:
        one, two = self.find(kept, entity_type), self.find(other, entity_type)
        self._facts.merge(one.entity_id, two.entity_id)
        return self.find(one.name, entity_type)

    def split(self, vendor: str, name: str, entity_type: EntityType = "ORG") -> Entity:
        """Takes one of a vendor's names off it; what was found under that name becomes an entity of its own."""
        entity = self.find(vendor, entity_type)
        asked = entity_name(name)
        key = key_of(asked, entity_type)
        self._facts.split(entity.entity_id, asked, key.base, key.form)
        return self.find(asked, entity_type)

    def _demand_proof(self, checked: CheckedFacts) -> None:
        """Each fact's chunk must be there and name what the fact is about."""
        found = {chunk.chunk_id: chunk for chunk in self._chunks.get(sorted(checked.chunk_ids))}
        for number, fact in enumerate(checked.facts):
            chunk = found.get(fact.chunk_id)
            if chunk is None:
                raise InvalidInput(
                    f"facts[{number}]: there is no chunk {fact.chunk_id}; nothing was recorded",
                    field="facts",
                    hint="search again: the chunk was removed, or its document has changed",
                )
            text = compact(f"{chunk.title} {chunk.context_header} {chunk.text}")
            missing = [name for name in fact.names if not self._is_named(name, text)]
            if missing:
                raise InvalidInput(
                    f"facts[{number}]: chunk {fact.chunk_id} does not mention {missing[0]!r}; nothing was recorded",
                    field="facts",
                    hint="name the chunk the fact was read in, and spell names as it does",
                )

    def _refuse_reversal(self, fact: Fact) -> None:
        """What somebody stated one way round is not stated the other way round as well. What was only read may be."""
        if fact.relationship_type not in ONE_WAY or fact.target is None or fact.target_type is None:
            return
        ends = [self._known(fact.source, fact.source_type), self._known(fact.target, fact.target_type)]
        if ends[0] is None or ends[1] is None:
            return
        for link in self._graph.relationships(ends[1], [fact.source_type], STATED):
            stated = set(link.metadata.get("origin", ())) & {"agent", "import"}
            if stated and (link.source_id, link.target_id, link.relationship_type) == (
                *ends[::-1],
                fact.relationship_type,
            ):
                raise Conflict(
                    f"contradictory facts: {fact.target!r} {fact.relationship_type} {fact.source!r} is on record"
                    f" ({', '.join(sorted(stated))}); nothing was recorded",
                    hint="take that fact back first (remove=true), or remove the import",
                )

    def _known(self, name: str, entity_type: EntityType) -> int | None:
        key = key_of(name, entity_type)
        found = self._graph.named(key.base, key.form, name, entity_type)
        return found[0].entity_id if len(found) == 1 else None

    def _is_named(self, name: str, text: str) -> bool:
        return compact(name) in text or key_of(name, "ORG").base in text
