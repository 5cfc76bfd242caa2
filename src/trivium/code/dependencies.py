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
from trivium.code.traversal import part_of
from trivium.model.code import PACKAGES
from trivium.ports.code_graph import CodeGraphReader


def get_dependencies(
    graph: CodeGraphReader,
    entity_type: str,
    entity_path: str,
    repository: str,
    depth: int = 1,
    relationship_types: Sequence[str] | None = None,
    include_cross_repo: bool = False,
    *,
    offset: int = 0,
    limit: int | None = None,
) -> dict[str, Any]:
    """The answer of `get_dependencies` without its timing, which the door adds. `total_count` counts all of them,
    whichever part is shown."""
    check_type(entity_type, ("file", "function", "class"))
    check_range("depth", depth, 1, MAX_DEPTH)
    relationships = check_relationships(relationship_types)
    check_repository(graph, repository)
    entity = find(graph, entity_path, ENTITY_TYPES[entity_type], repository)
    own = None if include_cross_repo else (repository, PACKAGES)
    reach = graph.reach(entity, depth, relationships, repositories=own)
    beyond: dict[str, Any] = {}
    if own is not None and len(graph.repositories()) > 1:
        left_out = sum(graph.reach(entity, depth, relationships).counts) - sum(reach.counts)
        beyond = {"cross_repo_count": left_out} if left_out else {}
    return {
        "entity": {"type": entity_type, "path": entity.entity_path, "repository": repository},
        "dependencies": part_of(reach, depth, offset, limit),
        "metadata": {"total_count": sum(reach.counts), "max_depth_reached": sum(n > 0 for n in reach.counts)} | beyond,
    }
