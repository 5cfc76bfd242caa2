"""Whether everything in the vendor graph leads back to a chunk that contains it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trivium.model.chunk import Chunk
from trivium.model.vendor import Entity, Relationship, public_entity_id, public_relationship_id
from trivium.ports.chunks import ChunkStore
from trivium.ports.vendor_graph import Proof, VendorGraph, VendorSources

AT_ONCE = 500
MOST_RELATIONSHIPS = 1_000_000


@dataclass(slots=True)
class Provenance:
    """How much was checked, and what no chunk bears out: one line each."""

    entities: int = 0
    relationships: int = 0
    proofs: int = 0
    unsupported: list[str] = field(default_factory=list)


def check_provenance(graph: VendorGraph, sources: VendorSources, chunks: ChunkStore) -> Provenance:
    """Every mention stands in its chunk, and the chunk that proves a relationship names both of its ends."""
    report = Provenance()
    names: dict[int, str] = {}
    mentioned: dict[int, set[int]] = {}
    for entities in _batches(sources):
        proofs = sources.proofs([entity.entity_id for entity in entities], [])
        texts = _texts(chunks, proofs)
        for entity in entities:
            own = proofs.get(public_entity_id(entity.entity_id), [])
            names[entity.entity_id], mentioned[entity.entity_id] = entity.name, {proof.chunk_id for proof in own}
            report.entities, report.proofs = report.entities + 1, report.proofs + len(own)
            report.unsupported += _unmentioned(entity, own, texts)
    for number, name in names.items():
        links = [r for r in graph.relationships(number, None, MOST_RELATIONSHIPS) if r.source_id == number]
        proofs = sources.proofs([], [link.relationship_id for link in links])
        for link in links:
            own = proofs.get(public_relationship_id(link.relationship_id), [])
            report.relationships, report.proofs = report.relationships + 1, report.proofs + len(own)
            report.unsupported += _unproved(link, name, names[link.target_id], own, mentioned)
    return report


def _batches(sources: VendorSources) -> Iterator[list[Entity]]:
    offset = 0
    while found := sources.entities(None, AT_ONCE, offset):
        yield found
        offset += len(found)


def _texts(chunks: ChunkStore, proofs: dict[str, list[Proof]]) -> dict[int, str]:
    numbers = sorted({proof.chunk_id for own in proofs.values() for proof in own})
    return {chunk.chunk_id: _shown(chunk) for chunk in chunks.get(numbers)}


def _shown(chunk: Chunk) -> str:
    """What a reader of the chunk sees: its text and the front matter of its document."""
    return f"{_plain(chunk.text)}\n{_plain(json.dumps(chunk.metadata, ensure_ascii=False, default=str))}"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _unmentioned(entity: Entity, proofs: Sequence[Proof], texts: dict[int, str]) -> list[str]:
    if not proofs:
        return [f"{entity.name}: no chunk at all"]
    return [
        f"{entity.name}: {proof.surface!r} is not in chunk {proof.chunk_id}"
        for proof in proofs
        if _plain(proof.surface) not in texts.get(proof.chunk_id, "")
    ]


def _unproved(
    link: Relationship, source: str, target: str, proofs: Sequence[Proof], mentioned: dict[int, set[int]]
) -> list[str]:
    said = f"{source} {link.relationship_type} {target}"
    if not proofs:
        return [f"{said}: no chunk at all"]
    both = mentioned[link.source_id] & mentioned[link.target_id]
    return [f"{said}: chunk {p.chunk_id} does not name both" for p in proofs if p.chunk_id not in both]
