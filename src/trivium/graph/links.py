"""Edges between numbered nodes as arrays: breadth-first searches that touch a whole level at a time.

Nodes are numbered so that everything inside a node is one range of numbers (ids in alphabetical order are such an
order), and edges so that a lower number is the better one to show among equals. Knows nothing of names.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.signedinteger]
Flags = npt.NDArray[np.bool_]
ROOT, UNSEEN = -2, -1
NAME_ONLY = 2  # the rank of edges that only a shared name speaks for


class Level(NamedTuple):
    """Nodes at one distance, by number; `far` and `edges` are all the ways they were come upon."""

    nodes: Numbers
    far: Numbers
    edges: Numbers


class Links:
    def __init__(self, sources: Numbers, targets: Numbers, ranks: Numbers, inner: tuple[Numbers, Numbers]) -> None:
        """`ranks`: the surest edges have the lowest. `inner`: first and last-but-one number inside each node."""
        self.count = inner[0].size
        self.sources, self.targets, self.ranks = sources, targets, ranks
        self.inner = self._first, self._end = inner
        self._out = _Rows(sources, self.count)
        self._into = _Rows(targets, self.count)

    def reach(
        self, start: int, depth: int, backwards: bool, is_whole: bool, wanted: Flags | None, allowed: Flags | None
    ) -> list[Level]:
        """Level by level; every node once, at its least distance. A node that was reached stands for all that is in it;
        the start does where it `is_whole`. `wanted` edges and `allowed` nodes only; None is all of them."""
        seen = np.zeros(self.count, np.bool_) if allowed is None else ~allowed
        seen[start] = True
        seen[self._first[start] : self._end[start]] = True
        level = np.array([start])
        found: list[Level] = []
        for distance in range(1, depth + 1):
            edges = self.edges(level, backwards, is_whole or distance > 1, wanted)
            far = self.sources[edges] if backwards else self.targets[edges]
            fresh = ~seen[far]
            far, edges = far[fresh], edges[fresh]
            level = self._flagged(far)
            if not level.size:
                break
            seen[level] = True
            found.append(Level(level, far, edges))
        return found

    def count_sure(self, levels: Sequence[Level]) -> int:
        """How many of the nodes were reached by more than a shared name."""
        flags = np.zeros(self.count, np.bool_)
        for level in levels:
            flags[level.far[self.ranks[level.edges] < NAME_ONLY]] = True
        return int(np.count_nonzero(flags))

    def _flagged(self, nodes: Numbers) -> Numbers:
        flags = np.zeros(self.count, np.bool_)
        flags[nodes] = True
        return np.flatnonzero(flags)

    def surest(self, level: Level) -> Numbers:
        """For each node of a level the edge to show: the surest, then the first."""
        total = max(self.sources.size, 1)
        keys = np.sort((level.far.astype(np.int64) * 4 + self.ranks[level.edges]) * total + level.edges)
        nodes = keys // (4 * total)
        return np.asarray(keys[np.append(True, nodes[1:] != nodes[:-1])] % total)

    def path(
        self,
        start: int,
        goal: int,
        hops: int,
        wholes: tuple[bool, bool],
        wanted: Flags | None,
        allowed: Flags | None = None,
    ) -> list[int] | None:
        """The edges of a shortest chain, searched from both ends, always on from the smaller front; None where there is
        none of at most so many hops."""
        ahead, behind = (np.full(self.count, UNSEEN) for _ in range(2))
        front, back = self._rooted(start, wholes[0], ahead), self._rooted(goal, wholes[1], behind)
        ahead[goal] = behind[start] = UNSEEN  # one may lie inside the other, and is no way there by that alone
        front, back = front[front != goal], back[back != start]
        for _ in range(hops):
            if not (front.size and back.size):
                return None
            backwards = front.size > back.size
            known = behind if backwards else ahead
            edges = self.edges(back if backwards else front, backwards, False, wanted)
            far = self.sources[edges] if backwards else self.targets[edges]
            fresh = known[far] == UNSEEN
            if allowed is not None:
                fresh &= allowed[far]
            level, edges = _first_of_each(far[fresh], edges[fresh])
            known[level] = edges
            front, back = (front, level) if backwards else (level, back)
            meeting = level[(ahead[level] != UNSEEN) & (behind[level] != UNSEEN)]
            if meeting.size:
                return self._joined(int(meeting[0]), ahead, behind)
        return None

    def _rooted(self, node: int, is_whole: bool, known: Numbers) -> Numbers:
        known[node] = ROOT
        if not is_whole:
            return np.array([node])
        inside = np.arange(self._first[node], self._end[node])
        known[inside] = ROOT
        return np.append(inside, node)

    def _joined(self, meeting: int, ahead: Numbers, behind: Numbers) -> list[int]:
        chain: list[int] = []
        edge = int(ahead[meeting])
        while edge != ROOT:
            chain.insert(0, edge)
            edge = int(ahead[self.sources[edge]])
        edge = int(behind[meeting])
        while edge != ROOT:
            chain.append(edge)
            edge = int(behind[self.targets[edge]])
        return chain

    def edges(self, level: Numbers, backwards: bool, inside: bool, wanted: Flags | None) -> Numbers:
        rows = self._into if backwards else self._out
        if inside:
            starts = np.concatenate((level, self._first[level]))
            ends = np.concatenate((level + 1, self._end[level]))
        else:
            starts, ends = level, level + 1
        edges = rows.of(starts, ends)
        return edges if wanted is None else edges[wanted[edges]]


class _Rows:
    """The edges of each node, one after another, so that those of a range of nodes are one range."""

    def __init__(self, nodes: Numbers, count: int) -> None:
        self._order = np.argsort(nodes, kind="stable").astype(np.int32)  # half the bytes to move
        self._starts = np.searchsorted(nodes[self._order], np.arange(count + 1))

    def of(self, first: Numbers, end: Numbers) -> Numbers:
        starts = self._starts[first]
        lengths = np.maximum(self._starts[end] - starts, 0)
        before = np.cumsum(lengths) - lengths
        at = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
        return self._order[at]


def _first_of_each(far: Numbers, edges: Numbers) -> tuple[Numbers, Numbers]:
    order = np.lexsort((edges, far))
    nodes, edges = far[order], edges[order]
    first = np.append(True, nodes[1:] != nodes[:-1]) if nodes.size else np.zeros(0, np.bool_)
    return nodes[first], edges[first]
