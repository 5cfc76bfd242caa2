"""CodeGraphStore on SQLite. Ids of everything inside a file or class start with its own, so `inside` is a range."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields

from trivium.backends.sqlite.code_schema import SCHEMA
from trivium.backends.sqlite.database import Database
from trivium.model.code import BlindSpot, Edge, Relationship, Symbol, inner_prefix

_SYMBOL = ", ".join(field.name for field in fields(Symbol))
_EDGE = ", ".join(field.name for field in fields(Edge))


class SqliteCodeGraph:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._spots: dict[tuple[str, int], tuple[BlindSpot, ...]] = {}
        database.migrate("code", SCHEMA)

    def outgoing(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        return self._edges("source", symbol_ids, relationships, inside)

    def incoming(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        return self._edges("target", symbol_ids, relationships, inside)

    def find(self, name: str, repository: str | None) -> list[Symbol]:
        path, _, qualified = name.partition("::")
        query = (
            f"SELECT {_SYMBOL} FROM code_symbols WHERE name = ?1 OR qualified_name = ?1"
            " OR (path = ?1 AND qualified_name = '') OR (path = ?2 AND qualified_name = ?3 AND ?3 <> '')"
        )
        with self._database.read() as db:
            found = [Symbol(*row) for row in db.execute(query, (name, path, qualified))]
        kept = [s for s in found if repository is None or s.repository == repository or s.kind == "package"]
        return sorted(kept, key=lambda s: s.symbol_id)

    def symbols(self, repository: str | None, symbol_ids: Collection[str] | None = None) -> list[Symbol]:
        query = f"SELECT {_SYMBOL} FROM code_symbols WHERE kind <> 'package'"
        arguments: tuple[str, ...] = ()
        if symbol_ids is not None:
            query = f"SELECT {_SYMBOL} FROM code_symbols WHERE symbol_id IN (SELECT value FROM json_each(?))"
            arguments = (json.dumps(list(symbol_ids)),)
        elif repository is not None:
            query, arguments = f"{query} AND repository = ?", (repository,)
        with self._database.read() as db:
            return sorted((Symbol(*row) for row in db.execute(query, arguments)), key=lambda s: s.symbol_id)

    def repositories(self) -> dict[str, tuple[BlindSpot, ...]]:
        with self._database.snapshot() as db:
            keys = db.execute("SELECT repository, revision FROM code_graphs ORDER BY repository").fetchall()
            known = {}
            for key in keys:
                known[key] = self._spots.get(key)
                if known[key] is None:
                    row = db.execute("SELECT blind_spots FROM code_graphs WHERE repository = ?", (key[0],)).fetchone()
                    known[key] = tuple(BlindSpot(*spot) for spot in json.loads(row[0]))
        self._spots = {key: spots for key, spots in known.items() if spots is not None}
        return {name: spots for (name, _), spots in self._spots.items()}

    def _edges(
        self, end: str, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool
    ) -> list[Edge]:
        kinds = json.dumps(list(relationships))
        only = "relationship IN (SELECT value FROM json_each(?2))"
        query = f"SELECT {_EDGE} FROM code_edges WHERE {end} IN (SELECT value FROM json_each(?1)) AND {only}"
        with self._database.snapshot() as db:
            rows = db.execute(query, (json.dumps(list(symbol_ids)), kinds)).fetchall()
            if inside:
                query = (
                    f"SELECT {_EDGE} FROM json_each(?1) AS part CROSS JOIN code_edges"
                    f" ON {end} >= part.value ->> 0 AND {end} < part.value ->> 1 WHERE {only}"
                )
                rows += db.execute(query, (json.dumps([_span(i) for i in symbol_ids]), kinds)).fetchall()
        return _in_order(Edge(*row) for row in rows)


def _span(symbol: str) -> tuple[str, str]:
    """From the first id inside a symbol to the first after them."""
    prefix = inner_prefix(symbol)
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _in_order(edges: Iterable[Edge]) -> list[Edge]:
    unique = {(edge.source, edge.target, edge.relationship): edge for edge in edges}
    return [unique[key] for key in sorted(unique)]
