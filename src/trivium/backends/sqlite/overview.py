"""Numbers for people: how much is stored, of what."""

from typing import Any

from trivium.ports.sql import SqlDatabase


class SqliteOverview:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def counts(self) -> dict[str, Any]:
        with self._database.snapshot() as db:
            by_source = {
                source: {"documents": documents, "chunks": chunks or 0}
                for source, documents, chunks in db.execute(
                    "SELECT source, COUNT(*), SUM(total_chunks) FROM documents GROUP BY source ORDER BY source"
                )
            }
            categories = db.execute(
                "SELECT COALESCE(source_category, ''), COUNT(*) FROM documents GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50"
            )
            return {
                "documents": sum(row["documents"] for row in by_source.values()),
                "chunks": sum(row["chunks"] for row in by_source.values()),
                "sources": by_source,
                "categories": dict(categories.fetchall()),
                "vectors_cached": db.execute("SELECT COUNT(*) FROM embeddings").fetchone()[0],
            }
