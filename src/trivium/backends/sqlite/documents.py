"""DocumentStore on SQLite: replaces documents chunk by chunk, so that text that stayed keeps its id and its vectors."""

import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trivium.backends.sqlite.schema_documents import SCHEMA
from trivium.model.chunk import Document, Piece, Source
from trivium.ports.documents import DocumentDraft, Saved, StoredFile
from trivium.ports.sql import SqlConnection, SqlDatabase


class SqliteDocumentStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("documents", SCHEMA)

    def files(self, source: Source, root: str | None = None) -> Iterator[StoredFile]:
        query = (
            "SELECT document_id, source, root, source_file, content_hash, total_chunks FROM documents WHERE source = ?"
        )
        arguments: tuple[str, ...] = (source,)
        if root is not None:
            query, arguments = query + " AND root = ?", (source, root)
        with self._database.read() as db:
            rows = db.execute(query + " ORDER BY root, source_file", arguments).fetchall()
        return (StoredFile(*row) for row in rows)

    def save(self, drafts: Sequence[DocumentDraft]) -> Saved:
        ids, added, kept, removed = [], 0, 0, 0
        with self._database.transaction() as db:
            models = [row[0] for row in db.execute("SELECT model_id FROM models WHERE tracked = 1")]
            for draft in drafts:
                change = _Replacement(db, draft, models)
                ids.append(change.document_id)
                added, kept, removed = added + change.added, kept + change.kept, removed + change.removed
        return Saved(tuple(ids), added, kept, removed)

    def move(self, places: Mapping[int, tuple[str, str]]) -> None:
        with self._database.transaction() as db:
            # Two steps, since documents may swap places: every one first leaves, then arrives.
            db.executemany(
                "UPDATE documents SET root = root || char(1), source_file = document_id WHERE document_id = ?",
                [(document_id,) for document_id in places],
            )
            db.executemany(
                "UPDATE documents SET root = ?, source_file = ? WHERE document_id = ?",
                [(root, file, document_id) for document_id, (root, file) in places.items()],
            )
            if places:  # answers show source_file, so cached ones must not outlive the move
                touch(db)

    def remove(self, document_ids: Sequence[int]) -> int:
        removed = 0
        with self._database.transaction() as db:
            for document_id in document_ids:
                rows = db.execute("SELECT chunk_id FROM chunks WHERE document_id = ?", (document_id,)).fetchall()
                _drop_chunks(db, [row[0] for row in rows])
                db.execute("DELETE FROM documents WHERE document_id = ?", (document_id,))
                removed += len(rows)
            if document_ids:
                touch(db)
        return removed

    def get(self, document_ids: Sequence[int]) -> list[Document]:
        with self._database.read() as db:
            rows = db.execute(
                "SELECT document_id, source, source_file, source_category, title, date, content_hash, metadata,"
                " total_chunks FROM documents WHERE document_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(document_ids)),),
            )
            found = {row[0]: _document(row) for row in rows}
        return [found[document_id] for document_id in document_ids if document_id in found]


def _document(row: tuple[Any, ...]) -> Document:
    return Document(
        document_id=row[0],
        source=row[1],
        source_file=row[2],
        source_category=row[3],
        title=row[4],
        date=row[5],
        content_hash=row[6],
        metadata=json.loads(row[7]),
        total_chunks=row[8],
    )


def touch(db: SqlConnection) -> None:
    """Moves the log on although no chunk changed, so that nothing answers from an older generation."""
    db.execute("INSERT INTO changes (kind, chunk_id) VALUES ('removed', 0)")


def piece_hash(piece: Piece) -> bytes:
    return hashlib.blake2b(piece.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _Replacement:
    """Puts one draft in place of what was there. A chunk is recognised by its text; among equal texts, by order."""

    def __init__(self, db: SqlConnection, draft: DocumentDraft, models: Sequence[int]) -> None:
        self._db, self._models = db, models
        self.document_id = _upsert_document(db, draft)
        self.added = self.kept = self.removed = 0
        old: dict[bytes, deque[tuple[int, str]]] = defaultdict(deque)
        for chunk_id, content_hash, header in db.execute(
            "SELECT chunk_id, content_hash, context_header FROM chunks WHERE document_id = ? ORDER BY chunk_index",
            (self.document_id,),
        ):
            old[content_hash].append((chunk_id, header))
        for index, piece in enumerate(draft.pieces):
            digest = piece_hash(piece)
            if old[digest]:
                self._keep(*old[digest].popleft(), index, piece)
            else:
                self._add(index, piece, digest)
        gone = [chunk_id for chunks in old.values() for chunk_id, _ in chunks]
        _drop_chunks(db, gone)
        self.removed = len(gone)
        touch(db)

    def _add(self, index: int, piece: Piece, digest: bytes) -> None:
        cursor = self._db.execute(
            "INSERT INTO chunks (document_id, chunk_index, start, end, token_count, content_hash, context_header, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self.document_id,
                index,
                piece.start,
                piece.end,
                piece.token_count,
                digest,
                piece.context_header,
                piece.text,
            ),
        )
        assert cursor.lastrowid is not None
        self._announce(cursor.lastrowid)
        self.added += 1

    def _keep(self, chunk_id: int, header: str, index: int, piece: Piece) -> None:
        self._db.execute(
            "UPDATE chunks SET chunk_index = ?, start = ?, end = ?, token_count = ?, context_header = ?"
            " WHERE chunk_id = ?",
            (index, piece.start, piece.end, piece.token_count, piece.context_header, chunk_id),
        )
        if header != piece.context_header:  # the header is searched and embedded too
            self._announce(chunk_id)
        self.kept += 1

    def _announce(self, chunk_id: int) -> None:
        stamp = self._db.execute("INSERT INTO changes (kind, chunk_id) VALUES ('text', ?)", (chunk_id,)).lastrowid
        self._db.executemany(
            "INSERT OR REPLACE INTO embedding_queue VALUES (?, ?, ?)", [(m, chunk_id, stamp) for m in self._models]
        )


def _upsert_document(db: SqlConnection, draft: DocumentDraft) -> int:
    row = db.execute(
        "INSERT INTO documents (source, root, source_file, source_category, title, date, content_hash, metadata,"
        " total_chunks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (source, root, source_file) DO UPDATE SET source_category = excluded.source_category,"
        " title = excluded.title, date = excluded.date, content_hash = excluded.content_hash,"
        " metadata = excluded.metadata, total_chunks = excluded.total_chunks RETURNING document_id",
        (
            draft.source,
            draft.root,
            draft.source_file,
            draft.source_category,
            draft.title,
            draft.date,
            draft.content_hash,
            json.dumps(draft.metadata, ensure_ascii=False, sort_keys=True, default=str),
            len(draft.pieces),
        ),
    ).fetchone()
    return int(row[0])


def _drop_chunks(db: SqlConnection, chunk_ids: Sequence[int]) -> None:
    db.executemany("INSERT INTO changes (kind, chunk_id) VALUES ('removed', ?)", [(i,) for i in chunk_ids])
    db.executemany("DELETE FROM chunks WHERE chunk_id = ?", [(i,) for i in chunk_ids])
