"""RepositoryStore and FactsCache on SQLite."""

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any

from trivium.backends.sqlite.code_schema import FACTS_SCHEMA, SCHEMA
from trivium.model.code import CodeGraph, Edge, Symbol
from trivium.ports.repositories import IndexedFile, Repository
from trivium.ports.sql import SqlConnection, SqlDatabase

_COLUMNS = tuple(field.name for field in fields(Repository))
_FILE = ", ".join(field.name for field in fields(IndexedFile))
_EDGE = ", ".join(field.name for field in fields(Edge))
UPSERT = (
    f"INSERT INTO code_repositories ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
    f" ON CONFLICT (name) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS[1:])}"
)


class SqliteRepositories:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("code", SCHEMA)

    def all(self) -> list[Repository]:
        with self._database.read() as db:
            rows = db.execute(f"SELECT {', '.join(_COLUMNS)} FROM code_repositories ORDER BY name").fetchall()
        return [_repository(row) for row in rows]

    def note(self, repository: Repository) -> None:
        with self._database.transaction() as db:
            db.execute(UPSERT, astuple(repository))

    def files(
        self, name: str, paths: Collection[str] | None = None, *, with_pieces: bool = True
    ) -> dict[str, IndexedFile]:
        columns = _FILE if with_pieces else _FILE.replace("pieces", "'[]'")
        query, arguments = f"SELECT {columns} FROM code_files WHERE repository = ?", [name]
        if paths is not None:
            query += " AND path IN (SELECT value FROM json_each(?))"
            arguments.append(json.dumps(list(paths)))
        with self._database.read() as db:
            rows = db.execute(query + " ORDER BY path", arguments).fetchall()
        return {row[0]: _file(row) for row in rows}

    def replace(
        self, repository: Repository, graph: CodeGraph, files: Sequence[IndexedFile], *, keep_calls: bool = False
    ) -> None:
        with self._database.transaction() as db:
            db.execute(UPSERT, astuple(repository))
            _put_graph(db, graph, keep_calls)
            db.execute("DELETE FROM code_files WHERE repository = ?", (repository.name,))
            put_files(db, repository.name, files)

    def remove(self, name: str) -> None:
        with self._database.transaction() as db:
            db.execute("DELETE FROM code_edges WHERE repository = ?", (name,))
            for end in ("source", "target"):  # edges that others have with it
                db.execute(
                    f"DELETE FROM code_edges WHERE {end} >= ? AND {end} < ?", (f"symbol:{name}:", f"symbol:{name};")
                )
            db.execute("DELETE FROM code_symbols WHERE repository = ?", (name,))
            db.execute("DELETE FROM code_repositories WHERE name = ?", (name,))
            _drop_unused_packages(db)


class SqliteFacts:
    """In a file of its own: it can be thrown away, and is no part of an export."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("facts", FACTS_SCHEMA)

    def get(self, fingerprints: Collection[str]) -> dict[str, bytes]:
        query = "SELECT fingerprint, packed FROM facts WHERE fingerprint IN (SELECT value FROM json_each(?))"
        with self._database.read() as db:
            return dict(db.execute(query, (json.dumps(list(fingerprints)),)).fetchall())

    def put(self, facts: Mapping[str, bytes], gone: Collection[str] = ()) -> None:
        with self._database.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", list(facts.items()))
            db.executemany("DELETE FROM facts WHERE fingerprint = ?", [(key,) for key in gone])

    def close(self) -> None:
        self._database.close()


def _put_graph(db: SqlConnection, graph: CodeGraph, keep_calls: bool) -> None:
    name = graph.repository
    db.execute("DELETE FROM code_patches WHERE repository = ?", (name,))
    db.execute("DELETE FROM code_symbols WHERE repository = ?", (name,))
    put_symbols(db, graph.symbols)
    only = " AND relationship = 'imports'" if keep_calls else ""
    db.execute(f"DELETE FROM code_edges WHERE repository = ?{only}", (name,))
    put_edges(db, name, graph.edges)
    _drop_unused_packages(db)
    spots = json.dumps([astuple(spot) for spot in graph.blind_spots], ensure_ascii=False)
    also = "" if keep_calls else ", blind_spots = excluded.blind_spots"
    db.execute(
        "INSERT INTO code_graphs VALUES (?, ?, ?)"
        f" ON CONFLICT (repository) DO UPDATE SET revision = excluded.revision{also}",
        (name, time.time_ns(), spots),
    )


def put_files(db: SqlConnection, name: str, files: Iterable[IndexedFile]) -> None:
    rows = [(name, *_file_row(file)) for file in files]
    db.executemany("INSERT OR REPLACE INTO code_files VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def put_symbols(db: SqlConnection, symbols: Iterable[Symbol]) -> None:
    slots = ", ".join("?" * len(fields(Symbol)))
    db.executemany(f"INSERT OR REPLACE INTO code_symbols VALUES ({slots})", [_symbol_row(s) for s in symbols])


def put_edges(db: SqlConnection, owner: str, edges: Iterable[Edge]) -> None:
    db.executemany(
        f"INSERT OR REPLACE INTO code_edges (repository, {_EDGE}) VALUES ({', '.join('?' * (len(fields(Edge)) + 1))})",
        [(owner, *_edge_row(edge)) for edge in edges],
    )


def _file_row(f: IndexedFile) -> tuple[Any, ...]:
    return f.path, f.blob_hash, f.fingerprint, f.size, f.modified_ns, f.language, json.dumps(f.pieces)


def _edge_row(e: Edge) -> tuple[Any, ...]:
    return e.source, e.target, e.relationship, e.line_number, e.resolution, e.confidence, e.resolved_by


def _symbol_row(s: Symbol) -> tuple[Any, ...]:
    return (
        s.symbol_id,
        s.kind,
        s.repository,
        s.path,
        s.qualified_name,
        s.name,
        s.line,
        s.end_line,
        s.signature,
        s.docstring,
        s.parent_id,
    )


def _drop_unused_packages(db: SqlConnection) -> None:
    db.execute(
        "DELETE FROM code_symbols WHERE repository = '' AND kind = 'package'"
        " AND NOT EXISTS (SELECT 1 FROM code_edges WHERE target = symbol_id)"
    )


def _repository(row: tuple[Any, ...]) -> Repository:
    values = dict(zip(_COLUMNS, row, strict=True))
    return Repository(**values | {"is_cloned": bool(values["is_cloned"])})


def _file(row: tuple[Any, ...]) -> IndexedFile:
    path, blob_hash, fingerprint, size, modified_ns, language, packed = row
    pieces = tuple((first, last, symbol) for first, last, symbol in json.loads(packed)) if packed != "[]" else ()
    return IndexedFile(path, blob_hash, fingerprint, size, modified_ns, language, pieces)
