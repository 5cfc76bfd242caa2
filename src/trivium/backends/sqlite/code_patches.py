"""GraphPatches on SQLite: which files were changed on top of a graph, and how an image of the tables follows them.

The rows themselves stand among all others; `code_patches` only says which files to read again, and since when.
"""

import json
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple, fields
from typing import Any

from trivium.backends.sqlite.code_repositories import UPSERT, put_edges, put_files, put_symbols
from trivium.backends.sqlite.code_schema import SCHEMA
from trivium.graph.patch import FileState
from trivium.model.code import BlindSpot, BlindSpots, Edge, Symbol, inner_prefix, symbol_id
from trivium.ports.repositories import GraphPatch, IndexedFile, Repository
from trivium.ports.sql import SqlConnection, SqlDatabase

_SYMBOL = ", ".join(field.name for field in fields(Symbol))
_EDGE = ", ".join(field.name for field in fields(Edge))
PENDING = BlindSpot("", 0, "budget", "a file changed; calls of it from other files are still being resolved")


class SqliteGraphPatches:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("code", SCHEMA)

    def apply(self, repository: Repository, patch: GraphPatch, files: Sequence[IndexedFile]) -> None:
        name, revision = repository.name, time.time_ns()
        with self._database.transaction() as db:
            db.execute(UPSERT, astuple(repository))
            put_files(db, name, files)
            for path in patch.paths:
                _remove(db, name, path)
                spots = [(s.path, s.line_number, s.reason, s.name) for s in patch.blind_spots if s.path == path]
                db.execute(
                    "INSERT OR REPLACE INTO code_patches VALUES (?, ?, ?, ?)",
                    (name, path, revision, json.dumps(spots, ensure_ascii=False)),
                )
            put_symbols(db, patch.symbols)
            put_edges(db, name, patch.edges)

    def leaving(self, name: str, paths: Sequence[str]) -> list[Edge]:
        columns = f"repository, {_EDGE}"
        with self._database.snapshot() as db:
            rows = [row for path in paths for row in _select(db, "code_edges", columns, name, path, "source")]
        return [Edge(*row[1:]) for row in rows if row[0] == name]

    def existing(self, symbol_ids: Collection[str]) -> set[str]:
        query = "SELECT symbol_id FROM code_symbols WHERE symbol_id IN (SELECT value FROM json_each(?))"
        with self._database.read() as db:
            return {row[0] for row in db.execute(query, (json.dumps(sorted(symbol_ids)),))}

    def is_patched(self, name: str) -> bool:
        with self._database.read() as db:
            return db.execute("SELECT 1 FROM code_patches WHERE repository = ? LIMIT 1", (name,)).fetchone() is not None


def _remove(db: SqlConnection, name: str, path: str) -> None:
    """Edges that other files have with it stay: they are found out of date, or not, by the next whole analysis."""
    for where, given in _ranges(name, path, "symbol_id"):
        db.execute(f"DELETE FROM code_symbols WHERE {where}", given)
    columns = "source, target, relationship, repository"
    keys = [row[:3] for row in _select(db, "code_edges", columns, name, path, "source") if row[3] == name]
    db.executemany("DELETE FROM code_edges WHERE source = ? AND target = ? AND relationship = ?", keys)


def _ranges(name: str, path: str, key: str) -> list[tuple[str, tuple[str, ...]]]:
    """A file and all that is in it: two ranges of a primary key, not a scan of the repository."""
    own = symbol_id(name, path)
    inner = inner_prefix(own)
    end = inner[:-1] + chr(ord(inner[-1]) + 1)
    return [(f"{key} = ?", (own,)), (f"{key} >= ? AND {key} < ?", (inner, end))]


def _select(db: SqlConnection, table: str, columns: str, name: str, path: str, key: str) -> list[Any]:
    parts = _ranges(name, path, key)
    return [row for where, given in parts for row in db.execute(f"SELECT {columns} FROM {table} WHERE {where}", given)]


def patches_since(db: SqlConnection, seen: int) -> tuple[int, list[tuple[str, str]]]:
    """The newest patch, and the files (repository, path) that were changed after the one that was seen."""
    rows = db.execute("SELECT repository, path, revision FROM code_patches WHERE revision > ?", (seen,)).fetchall()
    return max((row[2] for row in rows), default=seen), sorted((name, path) for name, path, _ in rows)


def read_files(db: SqlConnection, files: Sequence[tuple[str, str]]) -> Iterator[FileState]:
    for name, path in files:
        edges = [Edge(*row) for row in _select(db, "code_edges", _EDGE, name, path, "source")]
        symbols = [Symbol(*row) for row in _select(db, "code_symbols", _SYMBOL, name, path, "symbol_id")]
        for package in sorted({e.target for e in edges if e.target.startswith("symbol:package:")}):
            row = db.execute(f"SELECT {_SYMBOL} FROM code_symbols WHERE symbol_id = ?", (package,)).fetchone()
            symbols += [Symbol(*row)] if row else []
        edges.sort(key=lambda e: (e.source, e.target, e.relationship))
        yield FileState(symbol_id(name, path), symbols, edges)


def with_patches(db: SqlConnection, spots: dict[str, BlindSpots]) -> dict[str, BlindSpots]:
    """What is known of the patched files replaces what was known before; that calls are waiting, stands first."""
    patched: dict[str, dict[str, list[BlindSpot]]] = {}
    for name, path, packed in db.execute("SELECT repository, path, blind_spots FROM code_patches ORDER BY 1, 2"):
        patched.setdefault(name, {})[path] = [BlindSpot(*spot) for spot in json.loads(packed)]
    found = dict(spots)
    for name, files in patched.items():
        kept = [spot for spot in spots.get(name, ()) if spot.path not in files]
        new = [spot for some in files.values() for spot in some]
        found[name] = BlindSpots([PENDING, *kept, *new])
    return found
