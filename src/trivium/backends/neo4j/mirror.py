"""GraphMirror on Neo4j. Only what differs is written; while that goes on the copy has no state, so nobody reads it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from trivium.backends.neo4j.connection import Neo4jConnection, Statement
from trivium.backends.neo4j.schema import Neo4jSchema
from trivium.errors import InvalidInput, NotFound
from trivium.model.concept import fingerprint
from trivium.ports.graph_mirror import GraphCopy, MirroredLink, MirroredNode

BATCH = 2_000
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

T = TypeVar("T")


class _Kind(NamedTuple):
    """The label all nodes of a graph have, the property that names them, and the labels that say what they are."""

    label: str
    key: str
    labels: tuple[str, ...]


class _LinkKey(NamedTuple):
    source: str
    target: str
    kind: str


KINDS: Mapping[str, _Kind] = {
    "code": _Kind(
        "Symbol", "symbol_id", ("File", "Class", "Interface", "Enum", "Function", "Method", "Package", "Unknown")
    ),
    "vendors": _Kind("Entity", "entity_id", ("Org", "Product", "Person", "Location", "Event")),
}


class Neo4jMirror:
    def __init__(self, connection: Neo4jConnection, schema: Neo4jSchema) -> None:
        self._connection, self._schema = connection, schema

    def state(self, name: str) -> str:
        return self._schema.state(name)

    def write(self, name: str, copy: GraphCopy) -> int:
        if name not in KINDS:
            raise NotFound(f"no graph is called {name!r}", nearest=list(KINDS))
        self._schema.ready()
        self._connection.write([self._schema.mark(name, "")])
        written = self._write_differences(KINDS[name], copy)
        self._connection.write([self._schema.mark(name, copy.state)])
        return written

    def _write_differences(self, kind: _Kind, copy: GraphCopy) -> int:
        nodes = {node.node_id: (node, fingerprint(node)) for node in copy.nodes}
        links = {_LinkKey(*link[:3]): (link, fingerprint(link)) for link in copy.links}
        held_nodes, held_links = self._held_nodes(kind), self._held_links(kind)
        old_nodes = [key for key in held_nodes if key not in nodes]
        gone = set(old_nodes)  # and with them their links
        old_links = [
            key for key in held_links if key not in links and key.source not in gone and key.target not in gone
        ]
        new_nodes = [one for key, one in nodes.items() if held_nodes.get(key) != one[1]]
        new_links = [one for key, one in links.items() if held_links.get(key) != one[1]]
        for statement in (
            *_drop_links(kind, old_links),
            *_drop_nodes(kind, old_nodes),
            *_put_nodes(kind, new_nodes),
            *_put_links(kind, new_links),
        ):
            self._connection.write([statement])
        return len(old_links) + len(old_nodes) + len(new_nodes) + len(new_links)

    def _held_nodes(self, kind: _Kind) -> dict[str, str]:
        rows = self._connection.read_all(f"MATCH (n:{kind.label}) RETURN n.{kind.key}, n.fingerprint")
        return dict(rows)

    def _held_links(self, kind: _Kind) -> dict[_LinkKey, str]:
        rows = self._connection.read_all(
            f"MATCH (a:{kind.label})-[r]->(b:{kind.label}) RETURN a.{kind.key}, b.{kind.key}, type(r), r.fingerprint"
        )
        return {_LinkKey(source, target, name): print_ for source, target, name, print_ in rows}


def _put_nodes(kind: _Kind, nodes: Iterable[tuple[MirroredNode, str]]) -> Iterator[Statement]:
    for label, group in _grouped(nodes, lambda one: one[0].label):
        if label not in kind.labels:
            raise InvalidInput(f"{label!r} is not a label of this graph", field="label", allowed=kind.labels)
        # What a node was before (a function that became a class) must not stay with it.
        query = (
            f"UNWIND $rows AS row MERGE (n:{kind.label} {{{kind.key}: row.{kind.key}}}) SET n = row"
            f" REMOVE n:{':'.join(kind.labels)} SET n:{label}"
        )
        rows = [{**node.properties, kind.key: node.node_id, "fingerprint": print_} for node, print_ in group]
        yield from _batches(query, rows)


def _put_links(kind: _Kind, links: Iterable[tuple[MirroredLink, str]]) -> Iterator[Statement]:
    for name, group in _grouped(links, lambda one: one[0].kind):
        query = f"UNWIND $rows AS row {_ends(kind)} MERGE (a)-[r:{_safe(name)}]->(b) SET r = row.properties"
        rows = [
            {"source": one.source, "target": one.target, "properties": {**one.properties, "fingerprint": print_}}
            for one, print_ in group
        ]
        yield from _batches(query, rows)


def _drop_links(kind: _Kind, links: Iterable[_LinkKey]) -> Iterator[Statement]:
    for name, group in _grouped(links, lambda one: one.kind):
        query = f"UNWIND $rows AS row {_ends(kind)} MATCH (a)-[r:{_safe(name)}]->(b) DELETE r"
        yield from _batches(query, [{"source": one.source, "target": one.target} for one in group])


def _drop_nodes(kind: _Kind, node_ids: Sequence[str]) -> Iterator[Statement]:
    yield from _batches(f"UNWIND $rows AS row MATCH (n:{kind.label} {{{kind.key}: row}}) DETACH DELETE n", node_ids)


def _ends(kind: _Kind) -> str:
    return f"MATCH (a:{kind.label} {{{kind.key}: row.source}}) MATCH (b:{kind.label} {{{kind.key}: row.target}})"


def _safe(name: str) -> str:
    """Names of relationships cannot be parameters, so they must be nothing but names."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} cannot be the name of a relationship", field="kind")
    return name


def _grouped(items: Iterable[T], key: Callable[[T], str]) -> Iterator[tuple[str, list[T]]]:
    for name, group in groupby(sorted(items, key=key), key):
        yield name, list(group)


def _batches(query: str, rows: Sequence[Any]) -> Iterator[Statement]:
    for start in range(0, len(rows), BATCH):
        yield query, {"rows": list(rows[start : start + BATCH])}
