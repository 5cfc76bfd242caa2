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
from trivium.model.code import Edge, Symbol
from trivium.ports.code_graph import CodeGraphReader

_ANY = tuple(kind for kinds in ENTITY_TYPES.values() for kind in kinds)


def find_path(
    graph: CodeGraphReader,
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
    edges = [] if start == goal else graph.path(start, goal, max_hops, relationships)
    if edges is None:
        return {"path_exists": False, "path": None, "metadata": {"hops": 0}}
    return {"path_exists": True, "path": _nodes(graph, start, goal, edges), "metadata": {"hops": len(edges)}}


def _nodes(graph: CodeGraphReader, start: Symbol, goal: Symbol, edges: Sequence[Edge]) -> list[dict[str, Any]]:
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
