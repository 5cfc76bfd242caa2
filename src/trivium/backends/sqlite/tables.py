"""SqlTables on SQLite."""

from collections.abc import Iterator
from contextlib import contextmanager

from trivium.ports.sql import SqlConnection


class SqliteTables:
    def names(self, db: SqlConnection) -> list[str]:
        rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
        return [name for (name,) in rows if not name.startswith("sqlite_")]

    def columns(self, db: SqlConnection, table: str) -> list[str]:
        return [column[1] for column in db.execute(f'PRAGMA table_info("{table}")')]

    def key(self, db: SqlConnection, table: str) -> list[str]:
        rows = db.execute(f'PRAGMA table_info("{table}")').fetchall()
        return [row[1] for row in sorted(rows, key=lambda row: row[5]) if row[5]] or [row[1] for row in rows]

    def sequences(self, db: SqlConnection) -> dict[str, int]:
        return dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())

    @contextmanager
    def filling(self, db: SqlConnection, sequences: dict[str, int] | None) -> Iterator[None]:
        db.execute("PRAGMA defer_foreign_keys = ON")
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid").fetchall()
        for name, _ in triggers:
            db.execute(f'DROP TRIGGER "{name}"')
        yield
        for name, last in (sequences or {}).items():
            if name not in self._numbered(db):
                continue
            db.execute(
                "INSERT INTO sqlite_sequence SELECT ?, 0"
                " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)",
                (name, name),
            )
            db.execute("UPDATE sqlite_sequence SET seq = MAX(seq, ?) WHERE name = ?", (last, name))
        for _, statement in triggers:
            db.execute(statement)

    def _numbered(self, db: SqlConnection) -> set[str]:
        rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'")
        return {name for (name,) in rows}
