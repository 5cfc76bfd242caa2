"""ExtractionQueue on SQLite: a text is read once by each version of the extractor, whatever chunks have it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trivium.backends.sqlite.vendor_facts import record, touch
from trivium.model.vendor import Extraction, Link, Mention
from trivium.ports.sql import SqlDatabase
from trivium.ports.vendor_graph import FactBatch, WaitingChunk


class SqliteExtractionQueue:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def pending(self, extractor: str) -> int:
        """Chunks read by another extractor wait as well: a new version reads everything again."""
        with self._database.read() as db:
            waiting = db.execute("SELECT COUNT(*) FROM extraction_queue").fetchone()[0]
            stale = db.execute(
                "SELECT COUNT(*) FROM extracted WHERE extractor <> ? AND chunk_id NOT IN (SELECT chunk_id FROM"
                " extraction_queue)",
                (extractor,),
            ).fetchone()[0]
        return int(waiting + stale)

    def take(self, extractor: str, limit: int) -> list[WaitingChunk]:
        self.requeue(extractor)
        with self._database.read() as db:
            rows = db.execute("SELECT chunk_id FROM extraction_queue ORDER BY chunk_id LIMIT ?", (limit,)).fetchall()
        return self.waiting([row[0] for row in rows])

    def waiting(self, chunk_ids: Sequence[int]) -> list[WaitingChunk]:
        with self._database.read() as db:
            rows = db.execute(
                "SELECT c.chunk_id, c.document_id, c.text, d.title, d.metadata, c.chunk_index = 0"
                " FROM chunks c JOIN documents d USING (document_id)"
                " WHERE c.chunk_id IN (SELECT value FROM json_each(?)) ORDER BY c.chunk_id",
                (json.dumps(list(chunk_ids)),),
            ).fetchall()
        return [WaitingChunk(row[0], row[1], row[2], row[3], json.loads(row[4]), bool(row[5])) for row in rows]

    def cached(self, extractor: str, hashes: Sequence[bytes]) -> dict[bytes, Extraction]:
        with self._database.read() as db:
            rows = [
                row
                for digest in hashes
                for row in db.execute(
                    "SELECT text_hash, found FROM extractions WHERE extractor = ? AND text_hash = ?",
                    (extractor, digest),
                )
            ]
        return {digest: _parsed(json.loads(found)) for digest, found in rows}

    def store(
        self,
        extractor: str,
        extractions: Mapping[bytes, Extraction],
        done: Sequence[int],
        batches: Sequence[FactBatch],
    ) -> None:
        with self._database.transaction() as db:
            db.executemany(
                "INSERT OR IGNORE INTO extractions VALUES (?, ?, ?)",
                [(extractor, digest, _written(found)) for digest, found in extractions.items()],
            )
            for batch in batches:
                record(db, batch)
            db.executemany("DELETE FROM extraction_queue WHERE chunk_id = ?", [(number,) for number in done])
            db.executemany(
                "INSERT OR REPLACE INTO extracted SELECT chunk_id, ? FROM chunks WHERE chunk_id = ?",
                [(extractor, number) for number in done],
            )
            if batches:
                touch(db)

    def requeue(self, extractor: str) -> None:
        """What another extractor found is taken back, and its chunks wait again."""
        with self._database.read() as db:
            stale = db.execute("SELECT 1 FROM extracted WHERE extractor <> ? LIMIT 1", (extractor,)).fetchone()
        if not stale:
            return
        with self._database.transaction() as db:
            ids = "SELECT chunk_id FROM extracted WHERE extractor <> ?"
            db.execute(f"INSERT OR IGNORE INTO extraction_queue {ids}", (extractor,))
            for table in ("relationship_proofs", "mentions"):
                db.execute(f"DELETE FROM {table} WHERE origin = 'extracted' AND chunk_id IN ({ids})", (extractor,))
            db.execute("DELETE FROM extracted WHERE extractor <> ?", (extractor,))
            db.execute("DELETE FROM extractions WHERE extractor <> ?", (extractor,))
            touch(db)


def _written(found: Extraction) -> str:
    mentions = [[m.start, m.end, m.entity_type, m.confidence] for m in found.mentions]
    links = [[link.head, link.tail, link.relationship_type, link.confidence] for link in found.links]
    return json.dumps([mentions, links], separators=(",", ":"))


def _parsed(rows: Any) -> Extraction:
    return Extraction(tuple(Mention(*row) for row in rows[0]), tuple(Link(*row) for row in rows[1]))
