"""ChangeLog on SQLite."""

import json
from collections.abc import Iterator, Sequence

import numpy as np

from trivium.model.embedding import EmbeddingModel, Ids, Vectors
from trivium.ports.changes import Change
from trivium.ports.keywords import KeywordRow
from trivium.ports.sql import SqlDatabase


class SqliteChangeLog:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def head(self) -> int:
        with self._database.read() as db:
            row = db.execute("SELECT COALESCE(MAX(position), 0) FROM changes").fetchone()
        return int(row[0])

    def read(self, after: int, limit: int) -> list[Change]:
        with self._database.read() as db:
            rows = db.execute(
                "SELECT position, kind, chunk_id FROM changes WHERE position > ? ORDER BY position LIMIT ?",
                (after, limit),
            ).fetchall()
        return [Change(*row) for row in rows]

    def rows(self, chunk_ids: Sequence[int]) -> list[KeywordRow]:
        with self._database.read() as db:
            rows = db.execute(
                "SELECT chunk_id, title, context_header, text FROM chunks JOIN documents USING (document_id)"
                " WHERE chunk_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(chunk_ids)),),
            ).fetchall()
        return [KeywordRow(chunk_id, search_header(title, header), text) for chunk_id, title, header, text in rows]

    def vectors(self, chunk_ids: Sequence[int], model: EmbeddingModel) -> Iterator[tuple[int, Vectors]]:
        with self._database.read() as db:
            rows = db.execute(
                "SELECT chunk_id, vector FROM passages JOIN embeddings USING (embedding_id)"
                " JOIN models ON models.model_id = passages.model_id"
                " WHERE chunk_id IN (SELECT value FROM json_each(?)) AND name = ? AND models.dimension = ?"
                " ORDER BY chunk_id, number",
                (json.dumps(list(chunk_ids)), model.name, model.dimension),
            ).fetchall()
        grouped: dict[int, list[bytes]] = {}
        for chunk_id, vector in rows:
            grouped.setdefault(chunk_id, []).append(vector)
        for chunk_id, blobs in grouped.items():
            flat = np.frombuffer(b"".join(blobs), dtype=np.float16).astype(np.float32)
            yield chunk_id, flat.reshape(len(blobs), model.dimension)

    def chunk_ids(self, model: EmbeddingModel | None = None) -> Ids:
        query, arguments = "SELECT chunk_id FROM chunks ORDER BY chunk_id", tuple[str | int, ...]()
        if model is not None:
            query = (
                "SELECT chunk_id FROM passages JOIN models USING (model_id)"
                " WHERE name = ? AND dimension = ? AND number = 0 ORDER BY chunk_id"
            )
            arguments = (model.name, model.dimension)
        with self._database.read() as db:
            return np.fromiter((row[0] for row in db.execute(query, arguments)), dtype=np.int64)


def search_header(title: str, context_header: str) -> str:
    """Title and heading path, the title once."""
    if not title or context_header == title or context_header.startswith(f"{title} > "):
        return context_header
    return f"{title} > {context_header}" if context_header else title
