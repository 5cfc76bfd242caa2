"""Who depends on an entity, how many that are at least and at most, and where a dependency could hide from us."""

import math
from collections.abc import Sequence
from typing import Any

from trivium.code.entities import ENTITY_TYPES, MAX_DEPTH, check_range, check_repository, check_type
from trivium.code.entities import find_entity as find
from trivium.code.traversal import Step, as_entry, describe, walk
from trivium.model.code import RELATIONSHIPS, BlindSpot, Symbol
from trivium.ports.code_graph import CodeGraphStore

MAX_BLIND_SPOTS = 20
# Fitted so that the seed's own example (1 direct, 3 transitive) scores the seed's 0.35; docs/code.md draws the curve.
_TRANSITIVE_WEIGHT = 0.5
_SCALE = 5.8


def impact_score(direct: int, transitive: int) -> float:
    """0 for nobody, towards 1 for everybody: 0.2, 0.5 and 0.8 part low, moderate, high and critical."""
    return round(1 - math.exp(-(direct + _TRANSITIVE_WEIGHT * transitive) / _SCALE), 2)


def get_dependents(
    graph: CodeGraphStore,
    entity_type: str,
    entity_path: str,
    repository: str | None = None,
    depth: int = 1,
    include_cross_repo: bool = False,
) -> dict[str, Any]:
    """The answer of `get_dependents` without its timing, which the door adds."""
    check_type(entity_type, ("file", "function", "class", "package"))
    check_range("depth", depth, 1, MAX_DEPTH)
    if repository is not None:
        check_repository(graph, repository)
    entity = find(graph, entity_path, ENTITY_TYPES[entity_type], repository)
    searched = _searched(graph, entity, repository, include_cross_repo)
    prefixes = tuple(f"symbol:{name}:" for name in searched)
    steps = walk(entity, MAX_DEPTH, RELATIONSHIPS, graph.incoming, lambda e: e.source, lambda s: s.startswith(prefixes))
    shown = [s for s in steps if s.depth <= depth]
    symbols = describe(graph, shown)
    found = [as_entry(s, symbols[s.symbol_id]) for s in shown if s.symbol_id in symbols]
    return {
        "entity": {"type": entity_type, "path": entity.entity_path, "repository": entity.repository},
        "dependents": found,
        "impact_analysis": impact(graph, entity, steps, searched),
        "metadata": {"total_count": len(found), "repositories_searched": searched},
    }


def _searched(graph: CodeGraphStore, entity: Symbol, repository: str | None, cross: bool) -> list[str]:
    if cross or (entity.kind == "package" and repository is None):
        return sorted(graph.repositories())
    return [repository or entity.repository]


def impact(graph: CodeGraphStore, entity: Symbol, steps: Sequence[Step], searched: Sequence[str]) -> dict[str, Any]:
    """Counts what is sure (lower bound), what a shared name suggests (upper bound), and what nobody can see."""
    direct = sum(s.depth == 1 for s in steps)
    spots = [s for name in searched for s in _hiding_places(entity, graph.repositories().get(name, ()))]
    sure = sum(s.edge.resolution != "name_match" for s in steps)
    return {
        "direct_impact_count": direct,
        "transitive_impact_count": len(steps) - direct,
        "impact_score": impact_score(direct, len(steps) - direct),
        "lower_bound": sure,
        "upper_bound": len(steps) + len({s.path for s in spots if s.reason == "unresolved_call"}),
        "blind_spot_count": len(spots),
        "blind_spots": [
            {"path": s.path, "line_number": s.line_number, "reason": s.reason, "name": s.name}
            for s in spots[:MAX_BLIND_SPOTS]
        ],
    }


def _hiding_places(entity: Symbol, spots: Sequence[BlindSpot]) -> list[BlindSpot]:
    """Calls of that very name that could not be resolved first, then code that decides at run time what to call."""
    named = [s for s in spots if s.reason == "unresolved_call" and s.name == entity.name and entity.kind != "file"]
    return named + [s for s in spots if s.reason in ("reflection", "dynamic_import", "budget", "syntax_error")]
