"""ChunkStore on SQLite."""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from trivium.backends.sqlite.changes import SqliteChangeLog
from trivium.backends.sqlite.filters import Sql, where
from trivium.model.chunk import Chunk
from trivium.model.embedding import Ids
from trivium.model.filters import Filter
from trivium.ports.sql import SqlDatabase

_FIELDS = tuple(field.name for field in fields(Chunk))
_COLUMNS = ", ".join("chunks.content_hash" if name == "content_hash" else name for name in _FIELDS)
_CONTENT_HASH, _METADATA = _FIELDS.index("content_hash"), _FIELDS.index("metadata")

Where = Callable[[Filter], Sql]  # a filter as an expression over `chunks JOIN documents`, and its arguments


class SqliteChunkStore:
    def __init__(self, database: SqlDatabase, where: Where = where) -> None:
        self._database, self._where = database, where
        self._log = SqliteChangeLog(database)
        self._counted = (-1, 0)  # generation, chunks

    def get(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        with self._database.read() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM chunks JOIN documents USING (document_id)"
                " WHERE chunk_id IN (SELECT value FROM json_each(?))",
                (json.dumps([int(chunk_id) for chunk_id in chunk_ids]),),
            )
            found = {row[0]: _chunk(row) for row in rows}
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def select(self, condition: Filter) -> Ids:
        sql, arguments = self._where(condition)
        with self._database.read() as db:
            rows = db.execute(f"SELECT chunk_id FROM chunks JOIN documents USING (document_id) WHERE {sql}", arguments)
            return np.sort(np.fromiter((row[0] for row in rows), dtype=np.int64))

    def count(self) -> int:
        generation = self.generation()
        if self._counted[0] != generation:
            with self._database.read() as db:
                self._counted = generation, int(db.execute("SELECT COUNT(*) FROM chunks").fetchone()[0])
        return self._counted[1]

    def generation(self) -> int:
        return self._log.head()


def _chunk(row: tuple[Any, ...]) -> Chunk:
    values = list(row)
    values[_CONTENT_HASH] = values[_CONTENT_HASH].hex()
    values[_METADATA] = json.loads(values[_METADATA])
    return Chunk(*values)
