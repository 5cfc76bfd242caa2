"""The stored graph as it is asked: in dictionaries, made from one state of the tables."""

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter

from trivium.model.code import RELATIONSHIPS, BlindSpot, Edge, Relationship, Symbol, inner_prefix

Revisions = tuple[tuple[str, int], ...]

_SYMBOL = ", ".join(field.name for field in fields(Symbol))
_EDGE = ", ".join(field.name for field in fields(Edge))
_ORDER = attrgetter("source", "target", "relationship")


class CodeImage:
    """Never changed after it was made, so any number of threads may read it."""

    def __init__(
        self,
        revisions: Revisions,
        symbols: Iterable[Symbol],
        edges: Iterable[Edge],
        blind_spots: Mapping[str, tuple[BlindSpot, ...]],
    ) -> None:
        """Symbols come by id, edges by source, target and relationship."""
        self.revisions, self.blind_spots = revisions, blind_spots
        self.symbols = {symbol.symbol_id: symbol for symbol in symbols}
        self.of_repository: dict[str, list[Symbol]] = {}
        self.names: dict[str, list[Symbol]] = {}
        self._out: dict[str, list[Edge]] = {}
        self._into: dict[str, list[Edge]] = {}
        for symbol in self.symbols.values():
            if symbol.kind != "package":
                self.of_repository.setdefault(symbol.repository, []).append(symbol)
            for name in {symbol.name, symbol.qualified_name or symbol.path, symbol.entity_path}:
                self.names.setdefault(name, []).append(symbol)
        for edge in edges:
            self._out.setdefault(edge.source, []).append(edge)
            self._into.setdefault(edge.target, []).append(edge)
        self._sources, self._targets = sorted(self._out), sorted(self._into)

    def outgoing(self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool) -> list[Edge]:
        sources = _with_inner(symbol_ids, self._sources) if inside else set(symbol_ids)
        return _only([edge for source in sorted(sources) for edge in self._out.get(source, ())], relationships)

    def incoming(self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool) -> list[Edge]:
        targets = _with_inner(symbol_ids, self._targets) if inside else set(symbol_ids)
        found = [edge for target in targets for edge in self._into.get(target, ())]
        return sorted(_only(found, relationships), key=_ORDER)


def load_image(db: sqlite3.Connection, revisions: Revisions) -> CodeImage:
    """Reads everything; the connection must see one state throughout."""
    symbols = [Symbol(*row) for row in db.execute(f"SELECT {_SYMBOL} FROM code_symbols ORDER BY symbol_id")]
    same = {symbol.symbol_id: symbol.symbol_id for symbol in symbols}  # one string an id, however many edges it has
    edges = (
        Edge(same.get(source, source), same.get(target, target), *rest)
        for source, target, *rest in db.execute(f"SELECT {_EDGE} FROM code_edges ORDER BY source, target, relationship")
    )
    spots = db.execute("SELECT repository, blind_spots FROM code_graphs ORDER BY repository")
    blind = {name: tuple(BlindSpot(*spot) for spot in json.loads(packed)) for name, packed in spots}
    return CodeImage(revisions, symbols, edges, blind)


def _only(edges: list[Edge], relationships: Sequence[Relationship]) -> list[Edge]:
    wanted = set(relationships)
    return edges if len(wanted) == len(RELATIONSHIPS) else [edge for edge in edges if edge.relationship in wanted]


def _with_inner(symbol_ids: Collection[str], ordered: list[str]) -> set[str]:
    """The symbols and everything inside them: ids inside start with the id around them, so they stand together."""
    found = set(symbol_ids)
    for symbol in symbol_ids:
        prefix = inner_prefix(symbol)
        start = bisect_left(ordered, prefix)
        end = bisect_left(ordered, prefix[:-1] + chr(ord(prefix[-1]) + 1), start)
        found.update(ordered[start:end])
    return found
