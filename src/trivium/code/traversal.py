"""What a walk over the stored graph found, in the words of the answers."""

from trivium.code.entities import entity_type
from trivium.ports.code_graph import Reach, Step


def part_of(reach: Reach, depth: int, offset: int, limit: int | None) -> list[dict[str, object]]:
    """The entries of one part, down to a depth. Only what is shown is made: a hub has thousands."""
    total = sum(reach.counts[:depth])
    end = total if limit is None else min(offset + limit, total)
    return [as_entry(step) for step in reach.steps(offset, end)]


def as_entry(step: Step) -> dict[str, object]:
    """A dependency or dependent in the seed's words, with how sure the edge is."""
    metadata: dict[str, object] = {
        "line_number": step.edge.line_number,
        "resolution": step.edge.resolution,
        "confidence": step.edge.confidence,
    }
    if step.edge.resolved_by:
        metadata["resolved_by"] = step.edge.resolved_by
    if step.symbol.kind == "package":
        metadata["external"] = True
    return {
        "type": entity_type(step.symbol.kind),
        "path": step.symbol.entity_path,
        "repository": step.symbol.repository,
        "relationship": step.edge.relationship,
        "depth": step.depth,
        "metadata": metadata,
    }
