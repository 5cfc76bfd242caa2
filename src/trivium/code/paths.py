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
from trivium.errors import NotFound
from trivium.model.code import PACKAGES, Edge, Symbol
from trivium.ports.code_graph import CodeGraphReader

_ANY = tuple(kind for kinds in ENTITY_TYPES.values() for kind in kinds)


def find_path(
    graph: CodeGraphReader,
    from_entity: str,
    to_entity: str,
    repository: str,
    max_hops: int = 10,
    relationship_types: Sequence[str] | None = None,
    include_cross_repo: bool = False,
) -> dict[str, Any]:
    """The answer of `find_path` without its timing, which the door adds. Across repositories, an entity of another one
    is written `repository/path::name` where its name alone is not clear."""
    check_range("max_hops", max_hops, 1, MAX_HOPS)
    relationships = check_relationships(relationship_types)
    check_repository(graph, repository)
    own = None if include_cross_repo else (repository, PACKAGES)
    start, goal = (_end(graph, written, repository, include_cross_repo) for written in (from_entity, to_entity))
    edges = [] if start == goal else graph.path(start, goal, max_hops, relationships, repositories=own)
    if edges is None:
        return {"path_exists": False, "path": None, "metadata": {"hops": 0}}
    return {"path_exists": True, "path": _nodes(graph, start, goal, edges), "metadata": {"hops": len(edges)}}


def _end(graph: CodeGraphReader, written: str, repository: str, anywhere: bool) -> Symbol:
    try:
        return find(graph, written, _ANY, repository)
    except NotFound:
        if not anywhere:
            raise
        return find(graph, written, _ANY, None)


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
