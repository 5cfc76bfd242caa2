"""ConceptChunks on SQLite: knows the chunk of every concept and follows the change log, so that a search need not
collect them anew."""

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trivium.backends.sqlite.concept_catalogue import conditions_of
from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.model.embedding import Ids
from trivium.ports.concept_catalogue import Selection
from trivium.ports.sql import SqlConnection

_EMPTY = np.empty(0, dtype=np.int64)


class _Known(NamedTuple):
    """Chunk ids in order, and the key of the concept each of them is."""

    position: int = 0
    last: int = 0
    chunks: Ids = _EMPTY
    keys: Ids = _EMPTY


class SqliteConceptChunks:
    def __init__(self, tables: ConceptTables) -> None:
        self._tables = tables
        self._known = _Known()

    def live(self) -> Ids:
        with self._tables.snapshot() as db:
            return self._follow(db).chunks

    def matching(self, wanted: Selection, among: Ids | None = None) -> Ids:
        with self._tables.snapshot() as db:
            known = self._follow(db)
            conditions, arguments = conditions_of(db, wanted)
            source = "concepts c"
            if among is not None:
                places = np.searchsorted(known.chunks, among)
                keys = known.keys[places[places < len(known.keys)]]
                source = "json_each(?) CROSS JOIN concepts c ON c.key = value"
                arguments = [json.dumps(keys.tolist()), *arguments]
            rows = db.execute(f"SELECT c.key FROM {source} WHERE {conditions}", arguments)
            found = np.fromiter((row[0] for row in rows), dtype=np.int64)
        matching: Ids = known.chunks[np.isin(known.keys, found)]
        return matching

    def concepts(self, chunk_ids: Sequence[int]) -> dict[int, str]:
        with self._tables.reading() as db:
            rows = db.execute(
                "SELECT chunk_id, source_file FROM json_each(?) CROSS JOIN chunks ON chunk_id = value"
                " CROSS JOIN documents USING (document_id) WHERE source = 'concepts'",
                (json.dumps([int(i) for i in chunk_ids]),),
            )
            return dict(rows.fetchall())

    def _follow(self, db: SqlConnection) -> _Known:
        head = db.execute("SELECT COALESCE(MAX(position), 0) FROM changes").fetchone()[0]
        known = self._known
        if head == known.position:
            return known
        added = _after(db, known.last)
        gone = db.execute("SELECT chunk_id FROM changes WHERE position > ? AND kind = 'removed'", (known.position,))
        chunks, keys = np.append(known.chunks, added[0]), np.append(known.keys, added[1])
        stays = ~np.isin(chunks, np.array([row[0] for row in gone], dtype=np.int64))
        last = int(added[0][-1]) if len(added[0]) else known.last
        known = _Known(head, last, chunks[stays], keys[stays])
        if not self._tables.is_writing:  # what is not committed may yet be taken back
            self._known = known
        return known


def _after(db: SqlConnection, last: int) -> tuple[Ids, Ids]:
    """Chunks with ids above `last`, in order, with their concepts' keys: all of them by place, later ones by id."""
    source = (
        "documents CROSS JOIN chunks USING (document_id)"
        if last == 0
        else "chunks CROSS JOIN documents USING (document_id)"
    )
    rows = db.execute(
        f"SELECT chunk_id, key FROM {source} CROSS JOIN concepts ON concept_id = source_file"
        " WHERE source = 'concepts' AND root = 'concepts' AND chunk_id > ?",
        (last,),
    ).fetchall()
    pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
    pairs = pairs[np.argsort(pairs[:, 0])]
    return pairs[:, 0], pairs[:, 1]
