"""What PostgreSQL knows about our tables: their columns, keys and sequences."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from trivium.ports.sql import SqlConnection

_COLUMNS = (
    "SELECT attname, attidentity <> '' FROM pg_attribute"
    " WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
_KEYS = (
    "SELECT array_agg(attname::text ORDER BY place) FROM pg_index, unnest(indkey) WITH ORDINALITY AS k (number, place)"
    " JOIN pg_attribute ON attnum = number WHERE attrelid = indrelid AND indrelid = to_regclass(%s) AND indisunique"
    " AND indpred IS NULL GROUP BY indexrelid, indisprimary ORDER BY indisprimary DESC, indexrelid"
)
_TABLES = (
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    " AND relname NOT LIKE 'vector\\_index%'"
    " AND relname NOT LIKE 'keyword\\_%' ORDER BY oid"
)


_WITH_TRIGGERS = (
    "SELECT DISTINCT relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
    " WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace ORDER BY relname"
)


@dataclass(frozen=True, slots=True)
class _Table:
    columns: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    identity: str | None


class Catalogue:
    """Remembers what it asked; a table that is altered is asked for again after `forget`."""

    def __init__(self) -> None:
        self._known: dict[str, _Table] = {}

    def on(self, connection: "psycopg.Connection[Any]") -> "Seen":
        return Seen(self, connection)

    def forget(self) -> None:
        self._known.clear()

    def table(self, name: str, connection: "psycopg.Connection[Any]") -> _Table:
        known = self._known.get(name)
        if known is None:
            columns = connection.execute(_COLUMNS, (name,)).fetchall()
            keys = connection.execute(_KEYS, (name,)).fetchall()
            identity = next((column for column, is_identity in columns if is_identity), None)
            known = _Table(tuple(row[0] for row in columns), tuple(tuple(row[0]) for row in keys), identity)
            self._known[name] = known
        return known


class Seen:
    """The catalogue as one connection sees it, uncommitted tables of its own included."""

    def __init__(self, catalogue: Catalogue, connection: "psycopg.Connection[Any]") -> None:
        self._catalogue, self._connection = catalogue, connection

    def columns(self, table: str) -> Sequence[str]:
        return self._catalogue.table(table, self._connection).columns

    def unique(self, table: str) -> Sequence[Sequence[str]]:
        return self._catalogue.table(table, self._connection).unique

    def identity(self, table: str) -> str | None:
        return self._catalogue.table(table, self._connection).identity


class PostgresTables:
    """SqlTables on PostgreSQL."""

    def names(self, db: SqlConnection) -> list[str]:
        return [row[0] for row in db.execute(_TABLES)]

    def columns(self, db: SqlConnection, table: str) -> list[str]:
        return [row[0] for row in db.execute(_COLUMNS.replace("%s", "?"), (table,))]

    def key(self, db: SqlConnection, table: str) -> list[str]:
        row = db.execute(_KEYS.replace("%s", "?") + " LIMIT 1", (table,)).fetchone()
        return list(row[0]) if row else self.columns(db, table)

    def sequences(self, db: SqlConnection) -> dict[str, int]:
        found = {}
        for table, column in _identities(self, db):
            sequence = db.execute("SELECT pg_get_serial_sequence(?, ?)", (table, column)).fetchone()[0]
            last, is_used = db.execute(f"SELECT last_value, is_called FROM {sequence}").fetchone()
            if is_used:
                found[table] = last
        return found

    @contextmanager
    def filling(self, db: SqlConnection, sequences: dict[str, int] | None) -> Iterator[None]:
        names = [row[0] for row in db.execute(_WITH_TRIGGERS)]
        db.execute("SET CONSTRAINTS ALL DEFERRED")
        for name in names:
            db.execute(f'ALTER TABLE "{name}" DISABLE TRIGGER USER')
        yield
        db.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks that were put off cannot be altered
        for name in names:
            db.execute(f'ALTER TABLE "{name}" ENABLE TRIGGER USER')
        for table, column in _identities(self, db) if sequences is not None else ():
            highest = db.execute(f'SELECT COALESCE(MAX("{column}"), 0) FROM "{table}"').fetchone()[0]
            if last := max(highest, (sequences or {}).get(table, 0)):
                db.execute("SELECT setval(pg_get_serial_sequence(?, ?), ?)", (table, column, last))


def _identities(tables: PostgresTables, db: SqlConnection) -> list[tuple[str, str]]:
    rows = [(name, db.execute(_COLUMNS.replace("%s", "?"), (name,)).fetchall()) for name in tables.names(db)]
    return [(name, column) for name, columns in rows for column, is_identity in columns if is_identity]
