"""EmbeddingQueue and the register of models on SQLite.

A vector is kept once per text and model, whatever chunks use it: that makes this both the cache and the store.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from trivium.backends.sqlite.changes import search_header
from trivium.model.embedding import EmbeddingModel, Vector
from trivium.ports.embedding_queue import Waiting
from trivium.ports.sql import SqlConnection, SqlDatabase

_WAITING = (
    "SELECT chunk_id, stamp, title, context_header, text FROM embedding_queue JOIN chunks USING (chunk_id)"
    " JOIN documents USING (document_id) WHERE model_id = ?"
)


class SqliteEmbeddingQueue:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def pending(self, model: EmbeddingModel) -> int:
        with self._database.read() as db:
            model_id = _find(db, model)
            if model_id is None:
                return int(db.execute("SELECT COUNT(*) FROM chunks").fetchone()[0])
            return int(db.execute("SELECT COUNT(*) FROM embedding_queue WHERE model_id = ?", (model_id,)).fetchone()[0])

    def take(self, model: EmbeddingModel, limit: int) -> list[Waiting]:
        with self._database.read() as db:
            rows = db.execute(f"{_WAITING} ORDER BY chunk_id LIMIT ?", (_find(db, model), limit)).fetchall()
        return _waiting(rows)

    def waiting(self, model: EmbeddingModel, chunk_ids: Sequence[int]) -> list[Waiting]:
        """Those of these chunks that wait, by id."""
        only = " AND chunk_id IN (SELECT value FROM json_each(?)) ORDER BY chunk_id"
        with self._database.read() as db:
            rows = db.execute(_WAITING + only, (_find(db, model), json.dumps(list(chunk_ids)))).fetchall()
        return _waiting(rows)

    def cached(self, model: EmbeddingModel, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        with self._database.read() as db:
            model_id = _find(db, model)
            rows = [
                row
                for text_hash in hashes
                for row in db.execute(
                    "SELECT text_hash, vector FROM embeddings WHERE model_id = ? AND text_hash = ?",
                    (model_id, text_hash),
                )
            ]
        return {text_hash: np.frombuffer(blob, dtype=np.float16).astype(np.float32) for text_hash, blob in rows}

    def store(
        self,
        model: EmbeddingModel,
        vectors: Mapping[bytes, Vector],
        passages: Sequence[tuple[Waiting, Sequence[bytes]]],
    ) -> None:
        with self._database.transaction() as db:
            model_id = _register(db, model)
            db.executemany(
                "INSERT OR IGNORE INTO embeddings (model_id, text_hash, vector) VALUES (?, ?, ?)",
                [(model_id, text_hash, vector.astype(np.float16).tobytes()) for text_hash, vector in vectors.items()],
            )
            for waiting, hashes in passages:
                _put_passages(db, model_id, waiting, hashes)

    def enqueue_all(self, model: EmbeddingModel) -> int:
        with self._database.transaction() as db:
            model_id = _register(db, model)
            db.execute(
                "INSERT OR IGNORE INTO embedding_queue SELECT ?, chunk_id, 0 FROM chunks WHERE NOT EXISTS"
                " (SELECT 1 FROM passages WHERE passages.chunk_id = chunks.chunk_id AND model_id = ? AND number = 0)",
                (model_id, model_id),
            )
            return int(db.execute("SELECT COUNT(*) FROM embedding_queue WHERE model_id = ?", (model_id,)).fetchone()[0])


class SqliteModelRegister:
    """Which embedding model the index serves with, and which one it is being moved to."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def active(self) -> tuple[str, int] | None:
        with self._database.read() as db:
            row = db.execute("SELECT name, dimension FROM models WHERE active = 1").fetchone()
        return (row[0], row[1]) if row else None

    def activate(self, model: EmbeddingModel) -> None:
        """Serves with this model from now on; the one before is no longer kept up to date."""
        with self._database.transaction() as db:
            model_id = _register(db, model)
            db.execute("UPDATE models SET active = 0, tracked = 0 WHERE model_id <> ?", (model_id,))
            db.execute("UPDATE models SET active = 1 WHERE model_id = ?", (model_id,))
            db.execute("DELETE FROM embedding_queue WHERE model_id <> ?", (model_id,))
            db.execute("INSERT INTO changes (kind, chunk_id) VALUES ('vectors', 0)")

    def forget_others(self) -> int:
        """Drops the vectors of models that are no longer tracked; answers how many."""
        with self._database.transaction() as db:
            stale = "SELECT model_id FROM models WHERE tracked = 0"
            db.execute(f"DELETE FROM passages WHERE model_id IN ({stale})")
            return db.execute(f"DELETE FROM embeddings WHERE model_id IN ({stale})").rowcount


def _waiting(rows: Iterable[tuple[int, int, str, str, str]]) -> list[Waiting]:
    return [
        Waiting(chunk_id, stamp, search_header(title, header), text) for chunk_id, stamp, title, header, text in rows
    ]


def _find(db: SqlConnection, model: EmbeddingModel) -> int | None:
    row = db.execute(
        "SELECT model_id FROM models WHERE name = ? AND dimension = ?", (model.name, model.dimension)
    ).fetchone()
    return int(row[0]) if row else None


def _register(db: SqlConnection, model: EmbeddingModel) -> int:
    db.execute(
        "INSERT INTO models (name, dimension, tracked) VALUES (?, ?, 1)"
        " ON CONFLICT (name, dimension) DO UPDATE SET tracked = 1",
        (model.name, model.dimension),
    )
    model_id = _find(db, model)
    assert model_id is not None
    return model_id


def _put_passages(db: SqlConnection, model_id: int, waiting: Waiting, hashes: Sequence[bytes]) -> None:
    chunk_id = waiting.chunk_id
    still_wanted = db.execute(
        "DELETE FROM embedding_queue WHERE model_id = ? AND chunk_id = ? AND stamp = ?",
        (model_id, chunk_id, waiting.stamp),
    ).rowcount
    if not still_wanted:
        return
    db.execute("DELETE FROM passages WHERE model_id = ? AND chunk_id = ?", (model_id, chunk_id))
    db.executemany(
        "INSERT INTO passages SELECT ?, ?, ?, embedding_id FROM embeddings WHERE model_id = ? AND text_hash = ?",
        [(chunk_id, model_id, number, model_id, text_hash) for number, text_hash in enumerate(hashes)],
    )
    db.execute("INSERT INTO changes (kind, chunk_id) VALUES ('vectors', ?)", (chunk_id,))
