"""Copies everything from one database to another, whatever the two are: page by page, so that a move that was cut off
goes on where it stopped, and verified, table by table, before it is declared done.

What is computed from the rest (indexes, queues) is made anew there; keys move along, logs of calls do not.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from trivium.backends.sqlite.portable import SECRETS, announce, exported, pages, raw, refuse_if_used
from trivium.errors import Conflict
from trivium.ports.sql import SqlConnection, SqlDatabase, SqlTables

SCHEMA = (
    """
CREATE TABLE moves (
  source TEXT NOT NULL,
  name TEXT NOT NULL,
  last TEXT NOT NULL,
  PRIMARY KEY (source, name)
) WITHOUT ROWID;
""",
)
ROUNDS = 5  # tables that were written to while they were copied are copied again
_OWN = "installation"  # the secret that names a store; the copy is another one

Told = Callable[[str, int], None]  # a table, and how many of its rows are there


@dataclass(frozen=True, slots=True)
class Side:
    """One end of a move."""

    database: SqlDatabase
    tables: SqlTables


def move(source: Side, target: Side, name: str, told: Told) -> dict[str, int]:
    """Answers the rows of each table. `name` tells moves into one target apart."""
    target.database.migrate("moves", SCHEMA)
    _start(target, name)
    for _ in range(ROUNDS):
        _copy_all(source, target, name, told)
        differing = [table for table in _moved(source) if _digest(source, table) != _digest(target, table)]
        if not differing:
            return _finish(source, target, name)
        _forget(target, name, differing)
    raise Conflict(
        f"the source was written to while it was moved: {', '.join(differing)} differ",
        hint="stop what writes to it, then run the same command again: it goes on where it stopped",
    )


def _start(target: Side, name: str) -> None:
    with target.database.transaction() as db:
        if db.execute("SELECT 1 FROM moves WHERE source = ?", (name,)).fetchone():
            return
        refuse_if_used(db)
        with target.tables.filling(db, None):
            for table in reversed(_names(db, target.tables)):  # what opening a store puts there gives way
                db.execute(f'DELETE FROM "{table}"{_mine(table)}')
        db.execute("INSERT INTO moves VALUES (?, '', '')", (name,))


def _copy_all(source: Side, target: Side, name: str, told: Told) -> None:
    """Parents first. A row whose parent was written after the parents were copied waits for the next round."""
    for table in _moved(source):
        try:
            _copy(source, target, name, table, told)
        except Conflict:
            continue


def _copy(source: Side, target: Side, name: str, table: str, told: Told) -> None:
    with target.database.read() as db:
        row = db.execute("SELECT last FROM moves WHERE source = ? AND name = ?", (name, table)).fetchone()
    after, done = json.loads(row[0]) if row else (None, 0)
    for rows, last in _pages(source, table, after):
        done += len(rows)
        with target.database.transaction() as db:
            with target.tables.filling(db, None):
                _put(db, table, rows)
            db.execute("INSERT OR REPLACE INTO moves VALUES (?, ?, ?)", (name, table, json.dumps([last, done])))
        told(table, done)


def _pages(source: Side, table: str, after: Any) -> Iterator[tuple[list[dict[str, Any]], list[Any]]]:
    """Each from a state of its own: a move of hours must not hold a snapshot open."""
    while True:
        with source.database.snapshot() as db:
            key = source.tables.key(db, table)
            page = next(pages(db, source.tables, table, [raw(value) for value in after] if after else None), [])
        if not page:
            return
        after = [page[-1][column] for column in key]
        yield page, after


def _put(db: SqlConnection, table: str, rows: list[dict[str, Any]]) -> None:
    kept = [row for row in rows if not (table == "secrets" and row["purpose"] == _OWN)]
    if kept:
        names, marks = ", ".join(f'"{name}"' for name in kept[0]), ", ".join("?" for _ in kept[0])
        values = [[raw(value) for value in row.values()] for row in kept]
        db.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', values)


def _digest(side: Side, table: str) -> tuple[int, str]:
    """How many rows, and what is in them."""
    number, digest = 0, hashlib.blake2b(digest_size=16)
    with side.database.snapshot() as db:
        for rows in pages(db, side.tables, table):
            for row in rows:
                if not (table == "secrets" and row["purpose"] == _OWN):
                    number += 1
                    digest.update(json.dumps(row, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"))
    return number, digest.hexdigest()


def _forget(target: Side, name: str, tables: list[str]) -> None:
    with target.database.transaction() as db:
        with target.tables.filling(db, None):
            for table in reversed(tables):
                db.execute(f'DELETE FROM "{table}"{_mine(table)}')
        for table in tables:
            db.execute("DELETE FROM moves WHERE source = ? AND name = ?", (name, table))


def _finish(source: Side, target: Side, name: str) -> dict[str, int]:
    with source.database.snapshot() as db:
        sequences = source.tables.sequences(db)
    with target.database.transaction() as db:
        with target.tables.filling(db, sequences):
            announce(db)
        db.execute("DELETE FROM moves WHERE source = ?", (name,))
        names = _names(db, target.tables)
        return {table: int(db.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0]) for table in names}


def _moved(source: Side) -> list[str]:
    with source.database.read() as db:
        return _names(db, source.tables)


def _names(db: SqlConnection, tables: SqlTables) -> list[str]:
    known = tables.names(db)
    return [*exported(db, tables), *(name for name in SECRETS if name in known)]


def _mine(table: str) -> str:
    return f" WHERE purpose <> '{_OWN}'" if table == "secrets" else ""
