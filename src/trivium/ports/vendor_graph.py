"""The store of the vendor graph: facts in with their proof, entities and relationships out.

A fact lives exactly as long as a chunk supports it: when a chunk goes, so do the mentions and proofs that came from it,
and an entity or relationship without any is gone in the same transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trivium.model.vendor import Entity, EntityType, Extraction, Origin, Relationship, Statistics


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity as a text or a person names it; `base` and `form` are its key (documents/extract/names.py)."""

    name: str
    entity_type: EntityType
    base: str
    form: str = ""
    abbreviations: tuple[tuple[str, str], ...] = ()  # (spelling, base) introduced for it in brackets


@dataclass(frozen=True, slots=True)
class MentionDraft:
    entity: int  # place in FactBatch.entities
    chunk_id: int
    surface: str
    start: int
    count: int
    confidence: float


@dataclass(frozen=True, slots=True)
class LinkDraft:
    head: int
    tail: int
    relationship_type: str
    chunk_id: int
    confidence: float
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactBatch:
    origin: Origin
    entities: Sequence[NamedEntity]
    mentions: Sequence[MentionDraft]
    links: Sequence[LinkDraft]


@dataclass(frozen=True, slots=True)
class Recorded:
    """How much was new; what was there already counts as known."""

    entity_ids: tuple[int, ...]
    relationship_ids: tuple[int, ...]
    mentions_added: int
    links_added: int


@dataclass(frozen=True, slots=True)
class Proof:
    """Where a fact comes from."""

    chunk_id: int
    origin: Origin
    confidence: float
    surface: str = ""


@dataclass(frozen=True, slots=True)
class WaitingChunk:
    chunk_id: int
    document_id: int
    text: str
    title: str
    metadata: Mapping[str, Any]
    is_first: bool


class VendorFacts(Protocol):
    def record(self, batch: FactBatch) -> Recorded:
        """All or nothing; recording the same again changes nothing. Facts of chunks that are gone are left out."""

    def retract(self, batch: FactBatch) -> int:
        """Takes back what `record` of this batch put there; answers how many mentions and proofs went."""

    def merge(self, kept: int, other: int) -> None:
        """`other` becomes `kept`, now and whenever its names appear again."""

    def split(self, entity_id: int, name: str, base: str, form: str) -> int:
        """The name leaves the entity with what was found under it, and stands alone from now on; answers its new id."""


class VendorGraph(Protocol):
    def named(self, base: str, form: str, name: str, entity_type: EntityType = "ORG") -> list[Entity]:
        """The entity with exactly this name in any case; else every one that the key may mean."""

    def nearest(self, base: str, limit: int, entity_type: EntityType = "ORG") -> list[str]:
        """Names that look alike, closest first."""

    def known(self, bases: Sequence[str]) -> set[str]:
        """The names of vendors that go by one of these keys."""

    def statistics(self, entity_id: int) -> Statistics: ...

    def neighbours(
        self, entity_id: int, types: Sequence[EntityType] | None, limit: int, offset: int = 0
    ) -> list[Entity]:
        """Entities one step away: by confidence, then the one known longest first."""

    def relationships(
        self, entity_id: int, types: Sequence[EntityType] | None, limit: int, offset: int = 0
    ) -> list[Relationship]:
        """Relationships from or to the entity, by confidence; `types` restricts what is at the other end."""


class VendorSources(Protocol):
    def entities(self, entity_type: EntityType | None, limit: int, offset: int = 0) -> list[Entity]:
        """All of them, most often mentioned first."""

    def snippets(self, entity_ids: Sequence[int], length: int) -> dict[int, str]:
        """The text around each entity's best mention."""

    def proofs(self, entity_ids: Sequence[int], relationship_ids: Sequence[int]) -> dict[str, list[Proof]]:
        """By `e_ID` and `r_ID`."""

    def chunks(self, entity_id: int) -> list[int]:
        """Every chunk that mentions the entity, sorted."""

    def links_in(self, chunk_ids: Sequence[int]) -> dict[int, list[tuple[Relationship, str, str]]]:
        """The relationships each chunk supports, with the names at both ends."""


class ExtractionQueue(Protocol):
    def pending(self, extractor: str) -> int: ...

    def take(self, extractor: str, limit: int) -> list[WaitingChunk]:
        """The next ones; whole documents where they fit, since names are resolved within a document."""

    def cached(self, extractor: str, hashes: Sequence[bytes]) -> dict[bytes, Extraction]: ...

    def store(
        self,
        extractor: str,
        extractions: Mapping[bytes, Extraction],
        done: Sequence[int],
        batches: Sequence[FactBatch],
    ) -> None:
        """Keeps what was read, records the facts, takes the chunks off the queue: one transaction."""
