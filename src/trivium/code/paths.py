"""How one entity is connected to another: the shortest chain of relationships."""

from collections.abc import Sequence
from typing import Any

from trivium.code.entities import (
    ENTITY_TYPES,
    MAX_HOPS,
    check_range,
    check_relationships,
    check_repository,
    entity_type,
)
from trivium.code.entities import find_entity as find
from trivium.model.code import Edge, Relationship, Symbol, is_inside
from trivium.ports.code_graph import CodeGraphStore

_ANY = tuple(kind for kinds in ENTITY_TYPES.values() for kind in kinds)
_WHOLE = ("file", "class", "interface", "enum")


def find_path(
    graph: CodeGraphStore,
    from_entity: str,
    to_entity: str,
    repository: str,
    max_hops: int = 10,
    relationship_types: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The answer of `find_path` without its timing, which the door adds."""
    check_range("max_hops", max_hops, 1, MAX_HOPS)
    relationships = check_relationships(relationship_types)
    check_repository(graph, repository)
    start, goal = find(graph, from_entity, _ANY, repository), find(graph, to_entity, _ANY, repository)
    edges = [] if start == goal else shortest(graph, start, goal, max_hops, relationships)
    if edges is None:
        return {"path_exists": False, "path": None, "metadata": {"hops": 0}}
    return {"path_exists": True, "path": _nodes(graph, start, goal, edges), "metadata": {"hops": len(edges)}}


def shortest(
    graph: CodeGraphStore, start: Symbol, goal: Symbol, max_hops: int, relationships: Sequence[Relationship]
) -> list[Edge] | None:
    """Searches from both ends, always on from the smaller front. None where there is no chain that short."""
    ahead: dict[str, Edge | None] = {start.symbol_id: None}
    behind: dict[str, Edge | None] = {goal.symbol_id: None}
    front, back, hops = [start.symbol_id], [goal.symbol_id], 0
    while front and back and hops < max_hops:
        hops += 1
        if len(front) <= len(back):
            inside = hops == 1 and start.kind in _WHOLE
            edges = graph.outgoing(front, relationships, inside)
            front = _advance(edges, ahead, [e.target for e in edges], start.symbol_id)
        else:
            inside = back == [goal.symbol_id] and goal.kind in _WHOLE
            edges = graph.incoming(back, relationships, inside)
            back = _advance(edges, behind, [e.source for e in edges], goal.symbol_id)
        meeting = _meeting(ahead, behind, start, goal)
        if meeting is not None:
            return _joined(meeting, ahead, behind)
    return None


def _advance(edges: Sequence[Edge], seen: dict[str, Edge | None], reached: Sequence[str], origin: str) -> list[str]:
    found = []
    for edge, symbol in zip(edges, reached, strict=True):
        if symbol not in seen and not is_inside(symbol, origin):
            seen[symbol] = edge
            found.append(symbol)
    return sorted(found)


def _meeting(
    ahead: dict[str, Edge | None], behind: dict[str, Edge | None], start: Symbol, goal: Symbol
) -> tuple[str, str] | None:
    """Where the two searches touch: one symbol on both sides, or one inside the start or the goal."""
    common = sorted(ahead.keys() & behind.keys())
    if common:
        return common[0], common[0]
    if goal.kind in _WHOLE:
        for symbol in ahead:
            if is_inside(symbol, goal.symbol_id):
                return symbol, goal.symbol_id
    if start.kind in _WHOLE:
        for symbol in behind:
            if is_inside(symbol, start.symbol_id):
                return start.symbol_id, symbol
    return None


def _joined(meeting: tuple[str, str], ahead: dict[str, Edge | None], behind: dict[str, Edge | None]) -> list[Edge]:
    edges: list[Edge] = []
    step = _entry(ahead, meeting[0])
    while step is not None:
        edges.insert(0, step)
        step = _entry(ahead, step.source)
    step = _entry(behind, meeting[1])
    while step is not None:
        edges.append(step)
        step = _entry(behind, step.target)
    return edges


def _entry(seen: dict[str, Edge | None], symbol: str) -> Edge | None:
    return seen.get(symbol)


def _nodes(graph: CodeGraphStore, start: Symbol, goal: Symbol, edges: Sequence[Edge]) -> list[dict[str, Any]]:
    ids = [start.symbol_id, *(e.target for e in edges[:-1]), goal.symbol_id] if edges else [start.symbol_id]
    symbols = {s.symbol_id: s for s in graph.symbols(None, ids)}
    relationships = [e.relationship.upper() for e in edges]
    return [
        {
            "type": entity_type(symbols[i].kind),
            "identifier": symbols[i].entity_path,
            "repository": symbols[i].repository,
            "relationship_to_next": relationship,
        }
        for i, relationship in zip(ids, [*relationships, None], strict=True)
    ]
