"""What an entity imports, calls, extends, implements or refers to."""

from collections.abc import Sequence
from typing import Any

from trivium.code.entities import (
    ENTITY_TYPES,
    MAX_DEPTH,
    check_range,
    check_relationships,
    check_repository,
    check_type,
)
from trivium.code.entities import find_entity as find
from trivium.code.traversal import as_entry, describe, walk
from trivium.ports.code_graph import CodeGraphStore


def get_dependencies(
    graph: CodeGraphStore,
    entity_type: str,
    entity_path: str,
    repository: str,
    depth: int = 1,
    relationship_types: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The answer of `get_dependencies` without its timing, which the door adds."""
    check_type(entity_type, ("file", "function", "class"))
    check_range("depth", depth, 1, MAX_DEPTH)
    relationships = check_relationships(relationship_types)
    check_repository(graph, repository)
    entity = find(graph, entity_path, ENTITY_TYPES[entity_type], repository)
    steps = walk(entity, depth, relationships, graph.outgoing, lambda e: e.target)
    symbols = describe(graph, steps)
    found = [as_entry(s, symbols[s.symbol_id]) for s in steps if s.symbol_id in symbols]
    return {
        "entity": {"type": entity_type, "path": entity.entity_path, "repository": repository},
        "dependencies": found,
        "metadata": {"total_count": len(found), "max_depth_reached": max((s.depth for s in steps), default=0)},
    }
