"""The search text of concepts: one document a concept, in the store that all indexes follow. Commits with the log."""

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.model.chunk import Piece, Scalar
from trivium.model.concept import Concept, Item, fingerprint
from trivium.ports.documents import DocumentDraft, DocumentStore
from trivium.ports.sql import SqlConnection
from trivium.ports.tokens import TokenCounter

ROOT = "concepts"


class ConceptText:
    """A deleted concept has no document, so that it leaves every search with the commit that deletes it."""

    name = "text"

    def __init__(self, tables: ConceptTables, documents: DocumentStore, tokens: TokenCounter) -> None:
        self._tables, self._documents, self._tokens = tables, documents, tokens

    def apply(self, put: Sequence[Item], drop: Sequence[str]) -> None:
        concepts = [item for item in put if isinstance(item, Concept)]
        live = [concept for concept in concepts if concept.deleted_at is None]
        gone = [concept.concept_id for concept in concepts if concept.deleted_at is not None]
        with self._tables.writing() as db:
            if live:
                self._documents.save(self._drafts(live))
            stale = [_document_id(db, concept_id) for concept_id in (*gone, *drop) if not concept_id.startswith("rel-")]
            if found := [document_id for document_id in stale if document_id is not None]:
                self._documents.remove(found)

    def contents(self) -> Iterator[tuple[str, str]]:
        with self._tables.reading() as db:
            for concept_id, text, metadata in db.execute(
                "SELECT source_file, text, metadata FROM documents CROSS JOIN chunks USING (document_id)"
                " WHERE source = 'concepts' AND root = ?",
                (ROOT,),
            ):
                yield concept_id, fingerprint([text, sorted(json.loads(metadata).items())])

    def expected(self, item: Item) -> str | None:
        if not isinstance(item, Concept) or item.deleted_at is not None:
            return None
        return fingerprint([item.text, sorted(_metadata(item).items())])

    def _drafts(self, concepts: Sequence[Concept]) -> list[DocumentDraft]:
        counts = self._tokens.count([concept.text for concept in concepts])
        return [_draft(concept, count) for concept, count in zip(concepts, counts, strict=True)]


def _draft(concept: Concept, token_count: int) -> DocumentDraft:
    text = concept.text
    return DocumentDraft(
        source="concepts",
        root=ROOT,
        source_file=concept.concept_id,
        source_category=concept.area,
        title="",  # a title would be embedded before the text, and the embedding is of the text alone
        date=concept.last_modified,
        content_hash=blake2b(text.encode(), digest_size=16).hexdigest(),
        pieces=(Piece(text, 0, len(text), "", token_count),),
        metadata=_metadata(concept),
    )


def _metadata(concept: Concept) -> dict[str, Scalar | list[Scalar]]:
    """What a hit in a search over everything shows beside the text."""
    given = {
        "concept_id": concept.concept_id,
        "name": concept.name,
        "area": concept.area,
        "topic": concept.topic,
        "subtopic": concept.subtopic,
        "certainty_score": concept.certainty_score,
    }
    return {name: value for name, value in given.items() if value is not None}


def _document_id(db: SqlConnection, concept_id: str) -> int | None:
    row = db.execute(
        "SELECT document_id FROM documents WHERE source = 'concepts' AND root = ? AND source_file = ?",
        (ROOT, concept_id),
    ).fetchone()
    return row[0] if row else None
