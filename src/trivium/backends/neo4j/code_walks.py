"""CodeWalks on Neo4j: the server hands over the edges of each level, the part of the graph that was come upon is walked
here by the same code as the embedded one, so that both give the same answers, ties included."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from trivium.backends.neo4j.connection import Neo4jConnection
from trivium.graph.image import GraphImage
from trivium.model.code import RELATIONSHIPS, Edge, Relationship, Symbol
from trivium.ports.code_graph import Reach

_WHOLE = ("class", "interface", "enum", "file")
_INSIDE = "-[:DEFINES*0..]->(x:Symbol)"
_STEP = (
    "UNWIND $ids AS id MATCH (a:Symbol {{symbol_id: id}}){inside} MATCH {pattern}"
    " RETURN DISTINCT x.symbol_id, b.symbol_id, type(r), r.line_number, r.resolution, r.confidence, r.resolved_by,"
    " b.kind IS NOT NULL"
)
_FIELDS = tuple(Symbol.__dataclass_fields__)
_SYMBOLS = (
    "UNWIND $ids AS id MATCH (s:Symbol {symbol_id: id}) WHERE s.kind IS NOT NULL"
    f" RETURN {', '.join(f's.{name}' for name in _FIELDS)} ORDER BY s.symbol_id"
)
_BELOW = "MATCH (:Symbol {symbol_id: $id})-[:DEFINES*0..]->(x:Symbol) RETURN x.symbol_id, x.kind IS NOT NULL"


class Neo4jCodeWalks:
    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    def reach(
        self,
        start: Symbol,
        depth: int,
        relationships: Sequence[Relationship],
        *,
        backwards: bool = False,
        repositories: Collection[str] | None = None,
    ) -> Reach:
        part, allowed = _Part(self._connection), _allowed(repositories)
        part.nodes.add(start.symbol_id)
        seen, level = {start.symbol_id}, [start.symbol_id]
        for distance in range(1, depth + 1):
            inside = distance > 1 or start.kind in _WHOLE
            far = part.step(level, relationships, backwards=backwards, inside=inside)
            level = [one for one in far if one not in seen and allowed(one)]
            seen.update(level)
            if not level:
                break
        return part.image().reach(start, depth, relationships, backwards, repositories)

    def path(
        self,
        start: Symbol,
        goal: Symbol,
        hops: int,
        relationships: Sequence[Relationship],
        *,
        repositories: Collection[str] | None = None,
    ) -> list[Edge] | None:
        part, allowed = _Part(self._connection), _allowed(repositories)
        front, back = part.rooted(start) - {goal.symbol_id}, part.rooted(goal) - {start.symbol_id}
        ahead, behind = set(front), set(back)
        for _ in range(hops):
            if not (front and back):
                break
            backwards = len(front) > len(back)
            known = behind if backwards else ahead
            far = part.step(sorted(back if backwards else front), relationships, backwards=backwards, inside=False)
            level = {one for one in far if one not in known and allowed(one)}
            known |= level
            front, back = (front, level) if backwards else (level, back)
            if level & ahead & behind:
                break
        return part.outline().path(start, goal, hops, relationships, repositories)


class _Part:
    """What was come upon of the graph: every edge of every node that was stepped from."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection
        self.nodes: set[str] = set()
        self._known: set[str] = set()  # those of the nodes that have a symbol
        self._edges: dict[tuple[str, str, str], Edge] = {}

    def rooted(self, symbol: Symbol) -> set[str]:
        rows = self._connection.read(_BELOW, id=symbol.symbol_id)
        if symbol.kind not in _WHOLE:
            rows = [row for row in rows if row[0] == symbol.symbol_id]
        self._known |= {one for one, is_known in rows if is_known}
        return {one for one, _ in rows}

    def step(
        self, level: Sequence[str], relationships: Iterable[Relationship], *, backwards: bool, inside: bool
    ) -> list[str]:
        """Fetches the edges of these nodes (or of all inside them); answers where they lead."""
        kinds = "|".join(sorted({one.upper() for one in relationships}))
        pattern = f"(x)<-[r:{kinds}]-(b:Symbol)" if backwards else f"(x)-[r:{kinds}]->(b:Symbol)"
        query = _STEP.format(inside=_INSIDE if inside else " WITH a AS x", pattern=pattern)
        far: dict[str, None] = {}
        for row in self._connection.read(query, ids=list(level)) if kinds else ():
            self._add(row, backwards)
            far[row[1]] = None
        return list(far)

    def image(self) -> GraphImage:
        rows = self._connection.read(_SYMBOLS, ids=sorted(self.nodes))
        edges = sorted(self._edges.values(), key=lambda one: (one.source, one.target, one.relationship))
        return GraphImage([Symbol(*row) for row in rows], edges, {})

    def outline(self) -> GraphImage:
        """Enough to find a way: who is there and who is joined, not what they are."""
        edges = sorted(self._edges.values(), key=lambda one: (one.source, one.target, one.relationship))
        return GraphImage([_outlined(one) for one in sorted(self._known)], edges, {})

    def _add(self, row: tuple[Any, ...], backwards: bool) -> None:
        near, far, kind, *rest, is_known = row
        source, target = (far, near) if backwards else (near, far)
        self.nodes |= {near, far}
        if is_known:
            self._known.add(far)
        self._edges[source, target, kind] = Edge(source, target, _RELATIONSHIP[kind], *rest)


def _outlined(node: str) -> Symbol:
    return Symbol(node, "function", "", "", "", "", 0, 0)


_RELATIONSHIP: dict[str, Relationship] = {one.upper(): one for one in RELATIONSHIPS}


def _allowed(repositories: Collection[str] | None) -> Callable[[str], bool]:
    if repositories is None:
        return lambda _: True
    starts = tuple(f"symbol:{name}:" for name in repositories)
    return lambda one: one.startswith(starts)
