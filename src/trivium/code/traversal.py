"""Walking the stored graph level by level, in either direction."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from trivium.code.entities import entity_type
from trivium.model.code import Edge, Relationship, Symbol, is_inside
from trivium.ports.code_graph import CodeGraphStore

Neighbours = Callable[[Collection[str], Sequence[Relationship], bool], list[Edge]]
_WHOLE = ("class", "interface", "enum", "file")


@dataclass(frozen=True, slots=True)
class Step:
    """A symbol that was reached, by which edge, how far from the start."""

    symbol_id: str
    edge: Edge
    depth: int


def walk(
    start: Symbol,
    depth: int,
    relationships: Sequence[Relationship],
    neighbours: Neighbours,
    far_end: Callable[[Edge], str],
    allowed: Callable[[str], bool] = lambda _: True,
) -> list[Step]:
    """Breadth first; every symbol once, at its least distance, by its surest edge. A file or class stands for all that
    is defined in it."""
    seen: dict[str, Step] = {}
    level = [start.symbol_id]
    whole = start.kind in _WHOLE
    for distance in range(1, depth + 1):
        best: dict[str, Edge] = {}
        for edge in neighbours(level, relationships, whole or distance > 1):
            far = far_end(edge)
            if far in seen or is_inside(far, start.symbol_id) or not allowed(far):
                continue
            known = best.get(far)
            if known is None or edge.confidence > known.confidence:
                best[far] = edge
        for far, edge in sorted(best.items()):
            seen[far] = Step(far, edge, distance)
        level = sorted(best)
        if not level:
            break
    return list(seen.values())


def describe(graph: CodeGraphStore, steps: Sequence[Step]) -> dict[str, Symbol]:
    return {s.symbol_id: s for s in graph.symbols(None, [step.symbol_id for step in steps])}


def as_entry(step: Step, symbol: Symbol) -> dict[str, object]:
    """A dependency or dependent in the seed's words, with how sure the edge is."""
    metadata: dict[str, object] = {
        "line_number": step.edge.line_number,
        "resolution": step.edge.resolution,
        "confidence": step.edge.confidence,
    }
    if step.edge.resolved_by:
        metadata["resolved_by"] = step.edge.resolved_by
    if symbol.kind == "package":
        metadata["external"] = True
    return {
        "type": entity_type(symbol.kind),
        "path": symbol.entity_path,
        "repository": symbol.repository,
        "relationship": step.edge.relationship,
        "depth": step.depth,
        "metadata": metadata,
    }
