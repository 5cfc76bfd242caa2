"""The code and vendor graphs as a graph server is to have them: GraphSource on SQL."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields

from trivium.backends.sqlite.code_schema import SCHEMA
from trivium.model.code import Edge, Symbol
from trivium.model.vendor import public_entity_id, public_relationship_id
from trivium.ports.graph_mirror import GraphCopy, MirroredLink, MirroredNode, Property
from trivium.ports.sql import SqlConnection, SqlDatabase

_SYMBOL = ", ".join(field.name for field in fields(Symbol))
_EDGE = ", ".join(field.name for field in fields(Edge))
DEFINES = "DEFINES"


class SqliteCodeSource:
    name = "code"

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("code", SCHEMA)

    def state(self) -> str:
        with self._database.snapshot() as db:
            return _code_state(db)

    def copy(self) -> GraphCopy:
        with self._database.snapshot() as db:
            state = _code_state(db)
            symbols = [Symbol(*row) for row in db.execute(f"SELECT {_SYMBOL} FROM code_symbols ORDER BY symbol_id")]
            edges = [Edge(*row) for row in db.execute(f"SELECT {_EDGE} FROM code_edges")]
        return code_copy(state, symbols, edges)


def code_copy(state: str, symbols: Iterable[Symbol], edges: Sequence[Edge]) -> GraphCopy:
    nodes = {symbol.symbol_id: _symbol_node(symbol) for symbol in symbols}
    for edge in edges:
        for end in (edge.source, edge.target):  # of an edge whose symbol is gone, or not there yet
            nodes.setdefault(end, MirroredNode(end, "Unknown", {}))
    return GraphCopy(state, list(nodes.values()), [*map(_edge_link, edges), *_definitions(nodes)])


class SqliteVendorSource:
    """`generation` is the store's: facts come and go with chunks."""

    name = "vendors"

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def state(self) -> str:
        with self._database.read() as db:
            return _generation(db)

    def copy(self) -> GraphCopy:
        with self._database.snapshot() as db:
            state = _generation(db)
            entities = db.execute(
                "SELECT entity_id, name, entity_type, confidence, mention_count, first_date, last_date FROM entities"
            ).fetchall()
            links = db.execute(
                "SELECT relationship_id, source_id, target_id, relationship_type, confidence, mention_count,"
                " first_date, last_date FROM relationships"
            ).fetchall()
        return GraphCopy(state, [_entity_node(*row) for row in entities], [_entity_link(*row) for row in links])


def _code_state(db: SqlConnection) -> str:
    rows = db.execute("SELECT repository, revision FROM code_graphs ORDER BY repository").fetchall()
    patch = db.execute("SELECT MAX(revision), COUNT(*) FROM code_patches").fetchone()
    return json.dumps([[list(row) for row in rows], list(patch)])


def _generation(db: SqlConnection) -> str:
    return str(db.execute("SELECT COALESCE(MAX(position), 0) FROM changes").fetchone()[0])


def _symbol_node(symbol: Symbol) -> MirroredNode:
    names = [field.name for field in fields(Symbol)]
    properties = dict(zip(names, astuple(symbol), strict=True))
    return MirroredNode(properties.pop("symbol_id"), symbol.kind.capitalize(), properties)


def _edge_link(edge: Edge) -> MirroredLink:
    properties = {
        "line_number": edge.line_number,
        "resolution": edge.resolution,
        "confidence": edge.confidence,
        "resolved_by": edge.resolved_by,
    }
    return MirroredLink(edge.source, edge.target, edge.relationship.upper(), properties)


def _definitions(nodes: Iterable[str]) -> Iterator[MirroredLink]:
    """From every node to those right inside it, as model.code.is_inside has it: a file to its functions and classes,
    a class to its methods."""
    known = set(nodes)
    for node in known:
        outer = next((one for one in _enclosing(node) if one in known), None)
        if outer is not None:
            yield MirroredLink(outer, node, DEFINES, {})


def _enclosing(node: str) -> Iterator[str]:
    """The ids a node may be inside of, nearest first."""
    path, separator, name = node.partition("::")
    while "." in name:
        name = name.rpartition(".")[0]
        yield f"{path}::{name}"
    if separator:
        yield path


def _entity_node(
    entity_id: int, name: str, entity_type: str, confidence: float, mentions: int, first: str | None, last: str | None
) -> MirroredNode:
    properties: dict[str, Property] = {
        "name": name,
        "entity_type": entity_type,
        "confidence": confidence,
        "mention_count": mentions,
        "first_date": first,
        "last_date": last,
    }
    return MirroredNode(public_entity_id(entity_id), entity_type.capitalize(), properties)


def _entity_link(
    relationship_id: int, source: int, target: int, kind: str, confidence: float, mentions: int, *dates: str | None
) -> MirroredLink:
    properties: dict[str, Property] = {
        "relationship_id": public_relationship_id(relationship_id),
        "confidence": confidence,
        "mention_count": mentions,
        "first_date": dates[0],
        "last_date": dates[1],
    }
    return MirroredLink(public_entity_id(source), public_entity_id(target), kind, properties)
