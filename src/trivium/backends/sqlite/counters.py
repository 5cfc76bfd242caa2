"""Counters on SQLite."""

from collections.abc import Mapping

from trivium.ports.sql import SqlDatabase

SCHEMA = ("CREATE TABLE counters (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;",)


class SqliteCounters:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("counters", SCHEMA)

    def value(self, name: str) -> float:
        with self._database.read() as db:
            row = db.execute("SELECT value FROM counters WHERE name = ?", (name,)).fetchone()
        return float(row[0]) if row else 0.0

    def add(self, amounts: Mapping[str, float]) -> None:
        with self._database.transaction() as db:
            db.executemany(
                "INSERT INTO counters VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
                list(amounts.items()),
            )

    def all(self) -> dict[str, float]:
        with self._database.read() as db:
            return dict(db.execute("SELECT name, value FROM counters").fetchall())
