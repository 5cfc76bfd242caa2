"""Who depends on an entity, how many that are at least and at most, and where a dependency could hide from us."""

import math
from collections.abc import Sequence
from typing import Any

from trivium.code.entities import ENTITY_TYPES, MAX_DEPTH, check_range, check_repository, check_type
from trivium.code.entities import find_entity as find
from trivium.code.traversal import part_of
from trivium.model.code import RELATIONSHIPS, BlindSpot, BlindSpots, Symbol
from trivium.ports.code_graph import CodeGraphReader, CodeGraphStore, Reach

MAX_BLIND_SPOTS = 20
# Fitted so that the seed's own example (1 direct, 3 transitive) scores the seed's 0.35; docs/code.md draws the curve.
_TRANSITIVE_WEIGHT = 0.5
_SCALE = 5.8


def impact_score(direct: int, transitive: int) -> float:
    """0 for nobody, towards 1 for everybody: 0.2, 0.5 and 0.8 part low, moderate, high and critical."""
    return round(1 - math.exp(-(direct + _TRANSITIVE_WEIGHT * transitive) / _SCALE), 2)


def get_dependents(
    graph: CodeGraphReader,
    entity_type: str,
    entity_path: str,
    repository: str | None = None,
    depth: int = 1,
    include_cross_repo: bool = False,
    *,
    offset: int = 0,
    limit: int | None = None,
) -> dict[str, Any]:
    """The answer of `get_dependents` without its timing, which the door adds. `total_count` counts all of them,
    whichever part is shown."""
    check_type(entity_type, ("file", "function", "class", "package"))
    check_range("depth", depth, 1, MAX_DEPTH)
    if repository is not None:
        check_repository(graph, repository)
    entity = find(graph, entity_path, ENTITY_TYPES[entity_type], repository)
    searched = _searched(graph, entity, repository, include_cross_repo)
    reach = graph.reach(entity, MAX_DEPTH, RELATIONSHIPS, backwards=True, repositories=searched)
    beyond = _beyond(graph, entity, reach, searched)
    return {
        "entity": {"type": entity_type, "path": entity.entity_path, "repository": entity.repository},
        "dependents": part_of(reach, depth, offset, limit),
        "impact_analysis": impact(graph, entity, reach, searched, beyond),
        "metadata": {"total_count": sum(reach.counts[:depth]), "repositories_searched": searched},
    }


def _searched(graph: CodeGraphStore, entity: Symbol, repository: str | None, cross: bool) -> list[str]:
    if cross or (entity.kind == "package" and repository is None):
        return sorted(graph.repositories())
    return [repository or entity.repository]


def _beyond(graph: CodeGraphReader, entity: Symbol, reach: Reach, searched: Sequence[str]) -> int:
    """How many dependents in repositories that were not searched the answer leaves out."""
    known = sorted(graph.repositories())
    if set(known) <= set(searched):
        return 0
    everywhere = graph.reach(entity, MAX_DEPTH, RELATIONSHIPS, backwards=True, repositories=known)
    return sum(everywhere.counts) - sum(reach.counts)


def _overridden(graph: CodeGraphReader, entity: Symbol) -> list[Symbol]:
    """Methods of classes and interfaces above that this one overrides: who calls them may well call this one."""
    (owner,) = graph.symbols(None, [entity.parent_id or ""]) or (None,)
    if entity.kind != "method" or owner is None:
        return []
    above = graph.reach(owner, MAX_DEPTH, ("extends", "implements"))
    ids = [f"{step.symbol.symbol_id}.{entity.name}" for step in above.steps(0, sum(above.counts))]
    return graph.symbols(None, ids)


def _through(graph: CodeGraphReader, overridden: Sequence[Symbol], searched: Sequence[str]) -> int:
    reaches = (graph.reach(one, MAX_DEPTH, RELATIONSHIPS, backwards=True, repositories=searched) for one in overridden)
    return sum(sum(reach.counts) for reach in reaches)


def impact(
    graph: CodeGraphReader, entity: Symbol, reach: Reach, searched: Sequence[str], beyond: int = 0
) -> dict[str, Any]:
    """Counts what is sure (lower bound), what a shared name or an overridden method suggests (upper bound), and what
    nobody can see. `beyond`: dependents in repositories that were not asked for; a change would reach them all the
    same."""
    overridden = _overridden(graph, entity)
    direct, total = reach.counts[0], sum(reach.counts)
    known = graph.repositories()
    spots = [s for name in searched if name in known for s in _hiding_places(entity, known[name])]
    return {
        "direct_impact_count": direct,
        "transitive_impact_count": total - direct,
        "impact_score": impact_score(direct, total - direct),
        "lower_bound": reach.sure,
        "upper_bound": total
        + beyond
        + _through(graph, overridden, searched)
        + len({s.path for s in spots if s.reason == "unresolved_call"}),
        **({"overrides": [one.entity_path for one in overridden]} if overridden else {}),
        **({"cross_repo_impact_count": beyond} if beyond else {}),
        "blind_spot_count": len(spots),
        "blind_spots": [
            {"path": s.path, "line_number": s.line_number, "reason": s.reason, "name": s.name}
            for s in spots[:MAX_BLIND_SPOTS]
        ],
    }


def _hiding_places(entity: Symbol, spots: BlindSpots) -> list[BlindSpot]:
    """Calls of that very name that could not be resolved first, then code that decides at run time what to call."""
    named = spots.unresolved.get(entity.name, []) if entity.kind != "file" else []
    return named + spots.anywhere
