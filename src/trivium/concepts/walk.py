"""Walks over relationships, level by level: what is near, what comes before, how two concepts connect."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from trivium.model.concept import Direction, RelationshipType
from trivium.ports.concept_graph import ConceptGraph, Edge


class Reached(NamedTuple):
    key: int
    distance: int
    relationship: int  # the last step of a shortest way


def around(
    graph: ConceptGraph,
    start: int,
    direction: Direction,
    relationship_type: RelationshipType | None,
    max_depth: int,
    enough: int,
) -> list[Reached]:
    """Concepts within `max_depth` steps, nearest first, then by the strength of the last step. Once `enough` are found,
    only the level is finished, so that what is nearer is never missing."""
    seen, reached, level = {start}, list[Reached](), [start]
    for distance in range(1, max_depth + 1):
        steps = [edge for edge in graph.edges(level, direction, relationship_type) if edge[1] not in seen]
        steps.sort(key=itemgetter(1, 2))
        steps.sort(key=itemgetter(3), reverse=True)
        following = {far: relationship for _, far, relationship, _ in reversed(steps)}
        seen.update(following)
        reached += [Reached(key, distance, following[key]) for key in reversed(following)]
        level = list(following)
        if not level or len(reached) >= enough:
            break
    return reached


def before(graph: ConceptGraph, targets: Sequence[int], max_depth: int, most: int) -> tuple[dict[int, int], bool]:
    """What the targets need within `max_depth` steps, with the longest way from it to a target: whatever is deeper is
    needed by, or independent of, what is less deep. Of more than `most`, the nearest; False says there were more."""
    edges: set[tuple[int, int]] = set()
    seen, level = set(targets), list(targets)
    complete = True
    for _ in range(max_depth):
        found = graph.edges(level, "incoming", "prerequisite")
        fresh = sorted({far for _, far, _, _ in found if far not in seen})
        room = most + len(targets) - len(seen)
        complete = len(fresh) <= room
        level = fresh[: max(0, room)]
        seen.update(level)
        edges.update((far, near) for near, far, _, _ in found if far in seen)
        if not level or not complete:
            break
    depths = _longest(edges, targets)
    return {source: depths[source] for source, _ in edges}, complete


def _longest(edges: Iterable[tuple[int, int]], targets: Sequence[int]) -> dict[int, int]:
    """The longest way from every concept to a target. Each is settled once all that need it are."""
    needs: dict[int, list[int]] = {}
    waiting: dict[int, int] = {}
    for source, target in edges:
        needs.setdefault(target, []).append(source)
        waiting[source] = waiting.get(source, 0) + 1
    depths = dict.fromkeys(targets, 0)
    ready = [target for target in targets if target not in waiting]
    while ready:
        target = ready.pop()
        for source in needs.get(target, ()):
            depths[source] = max(depths.get(source, 0), depths[target] + 1)
            waiting[source] -= 1
            if waiting[source] == 0:
                ready.append(source)
    return depths


def shortest(
    graph: ConceptGraph,
    start: int,
    end: int,
    direction: Direction,
    relationship_type: RelationshipType | None,
    *,
    deleted: bool = False,
) -> list[int]:
    """The keys along a shortest way, both ends included; empty where there is none. Grows from both ends, always the
    smaller frontier."""
    if start == end:
        return [start]
    backwards: Direction = {"outgoing": "incoming", "incoming": "outgoing", "both": "both"}[direction]  # type: ignore[assignment]
    sides = (_Side(start, direction), _Side(end, backwards))
    while sides[0].level and sides[1].level:
        near, far = sides if len(sides[0].level) <= len(sides[1].level) else (sides[1], sides[0])
        near.grow(graph.edges(near.level, near.direction, relationship_type, deleted=deleted))
        meeting = [key for key in near.level if key in far.parents]
        if meeting:
            middle = min(meeting, key=lambda key: (far.distance(key), key))
            return sides[0].way(middle)[::-1] + sides[1].way(middle)[1:]
    return []


class _Side:
    def __init__(self, start: int, direction: Direction) -> None:
        self.direction = direction
        self.level = [start]
        self.parents: dict[int, int | None] = {start: None}

    def grow(self, edges: Iterable[Edge]) -> None:
        following: dict[int, int] = {}
        for near, far, _, _ in edges:
            if far not in self.parents:
                # The lowest of several: the same way whatever order a store answers in.
                following[far] = min(near, following.get(far, near))
        self.parents.update(following)
        self.level = list(following)

    def way(self, key: int) -> list[int]:
        """From `key` back to where this side began."""
        steps, at = [key], self.parents[key]
        while at is not None:
            steps.append(at)
            at = self.parents[at]
        return steps

    def distance(self, key: int) -> int:
        return len(self.way(key))
