"""ProjectionLedger on SQLite."""

import json
from collections.abc import Sequence
from typing import Any

from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.ports.concept_ledger import Parked, Progress

KEPT_SNAPSHOTS = 2016  # a week of one every five minutes


class SqliteProjectionLedger:
    def __init__(self, tables: ConceptTables) -> None:
        self._tables = tables

    def progress(self, projection: str) -> Progress:
        with self._tables.reading() as db:
            row = db.execute(
                "SELECT position, attempts, failures, retry_at, error FROM concept_projections WHERE projection = ?",
                (projection,),
            ).fetchone()
        return Progress(*row) if row else Progress()

    def save(self, projection: str, progress: Progress, parked: Parked | None = None) -> None:
        with self._tables.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO concept_projections VALUES (?, ?, ?, ?, ?, ?)",
                (
                    projection,
                    progress.position,
                    progress.attempts,
                    progress.failures,
                    progress.retry_at,
                    progress.error,
                ),
            )
            if parked is not None:
                db.execute("INSERT OR REPLACE INTO concept_parked VALUES (?, ?, ?, ?, ?)", parked)

    def parked(self, projection: str | None = None) -> list[Parked]:
        only, arguments = ("", ()) if projection is None else (" WHERE projection = ?", (projection,))
        with self._tables.reading() as db:
            rows = db.execute(
                f"SELECT projection, position, stream, error, parked_at FROM concept_parked{only}"
                " ORDER BY position, projection",
                arguments,
            ).fetchall()
        return [Parked(*row) for row in rows]

    def release(self, parked: Sequence[Parked]) -> None:
        with self._tables.writing() as db:
            db.executemany(
                "DELETE FROM concept_parked WHERE projection = ? AND position = ?",
                [(entry.projection, entry.position) for entry in parked],
            )

    def record(self, snapshot: dict[str, Any]) -> None:
        with self._tables.writing() as db:
            number = db.execute(
                "INSERT INTO consistency_snapshots (consistent, found) VALUES (?, ?)",
                (bool(snapshot["consistent"]), json.dumps(snapshot)),
            ).lastrowid
            assert number is not None
            db.execute("DELETE FROM consistency_snapshots WHERE snapshot_id <= ?", (number - KEPT_SNAPSHOTS,))
