"""AuditLog on SQLite."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from trivium.ports.audit import AuditEntry
from trivium.ports.sql import SqlDatabase

SCHEMA = (
    """
CREATE TABLE audit (
  at REAL NOT NULL,
  request_id TEXT NOT NULL,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  address TEXT NOT NULL,
  transport TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT NOT NULL,
  outcome TEXT NOT NULL,
  result_bytes INTEGER NOT NULL,
  results INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  flag TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (at);
""",
)
_COLUMNS = (
    "at, request_id, caller, key, address, transport, tool, arguments, outcome, result_bytes, results, duration_ms,"
    " flag"
)
_values = attrgetter(*_COLUMNS.split(", "))  # dataclasses.astuple copies deeply, which costs more than the INSERT


class SqliteAuditLog:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("audit", SCHEMA)

    def append(self, entries: Sequence[AuditEntry]) -> None:
        with self._database.transaction() as db:
            db.executemany(
                f"INSERT INTO audit ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_values(entry) for entry in entries],
            )

    def read(
        self,
        limit: int,
        *,
        since: float = 0.0,
        caller: str | None = None,
        tool: str | None = None,
        outcome: str | None = None,
        flagged: bool = False,
    ) -> list[AuditEntry]:
        where, values = ["at >= ?"], list[Any]([since])
        for column, wanted in (("caller", caller), ("tool", tool), ("outcome", outcome)):
            if column == "outcome" and wanted == "failed":
                where.append("outcome <> 'ok'")
            elif wanted is not None:
                where.append(f"{column} = ?")
                values.append(wanted)
        if flagged:
            where.append("flag <> ''")
        with self._database.read() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM audit WHERE {' AND '.join(where)} ORDER BY at DESC, rowid DESC LIMIT ?",
                (*values, limit),
            ).fetchall()
        return [AuditEntry(*row) for row in rows]

    def prune(self, before: float) -> int:
        with self._database.transaction() as db:
            return db.execute("DELETE FROM audit WHERE at < ?", (before,)).rowcount
