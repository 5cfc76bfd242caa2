"""A code graph as it is asked: symbols by id and by name, edges in arrays. Made from one state of a store."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from trivium.graph.links import NAME_ONLY, Flags, Level, Links, Numbers
from trivium.model.code import RELATIONSHIPS, BlindSpots, Edge, Relationship, Symbol
from trivium.ports.code_graph import Reach, Step

_RANK = {"exact": 0, "inferred": 1, "name_match": NAME_ONLY}
NOWHERE = Symbol("", "file", "", "", "", "", 0, 0)  # the end of an edge whose symbol is gone
_WHOLE = ("class", "interface", "enum", "file")


class GraphImage:
    """Never changed after it was made, so any number of threads may read it."""

    def __init__(self, symbols: Iterable[Symbol], edges: Sequence[Edge], blind_spots: Mapping[str, BlindSpots]) -> None:
        """Symbols come by id, edges by source, target and relationship."""
        self.blind_spots = blind_spots
        self.symbols = {symbol.symbol_id: symbol for symbol in symbols}
        self.edges = edges
        self.of_repository: dict[str, list[Symbol]] = {}
        self.names: dict[str, list[Symbol]] = {}
        for symbol in self.symbols.values():
            if symbol.kind != "package":
                self.of_repository.setdefault(symbol.repository, []).append(symbol)
            for name in {symbol.name, symbol.qualified_name or symbol.path, symbol.entity_path}:
                self.names.setdefault(name, []).append(symbol)
        self._number()

    def _number(self) -> None:
        ends = {end for edge in self.edges for end in (edge.source, edge.target)}
        self._ids = sorted(self.symbols.keys() | ends)
        self._numbers = numbers = {key: number for number, key in enumerate(self._ids)}
        count = len(self.edges)
        sources = np.fromiter((numbers[e.source] for e in self.edges), np.int32, count)
        targets = np.fromiter((numbers[e.target] for e in self.edges), np.int32, count)
        ranks = np.fromiter((_RANK[e.resolution] for e in self.edges), np.int8, count)
        kinds = np.fromiter((RELATIONSHIPS.index(e.relationship) for e in self.edges), np.int32, count)
        self._kinds = kinds
        self._links = Links(sources, targets, ranks, _inner(self._ids, numbers))
        self._at = [self.symbols.get(key, NOWHERE) for key in self._ids]
        self._known = np.fromiter((symbol is not NOWHERE for symbol in self._at), np.bool_, len(self._ids))
        self._all_known = bool(self._known.all())

    # edges of some symbols

    def outgoing(self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool) -> list[Edge]:
        return self._edges(symbol_ids, relationships, inside, backwards=False)

    def incoming(self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool) -> list[Edge]:
        return self._edges(symbol_ids, relationships, inside, backwards=True)

    def _edges(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool, *, backwards: bool
    ) -> list[Edge]:
        level = [self._numbers[key] for key in symbol_ids if key in self._numbers]
        found = self._links.edges(np.array(level, np.int64), backwards, inside, self._wanted(relationships))
        return [self.edges[number] for number in np.unique(found).tolist()]

    def find(self, name: str, repository: str | None) -> list[Symbol]:
        found = self.names.get(name, ())
        return [s for s in found if repository is None or s.repository == repository or s.kind == "package"]

    def some_symbols(self, repository: str | None, symbol_ids: Collection[str] | None) -> list[Symbol]:
        if symbol_ids is not None:
            return [self.symbols[key] for key in sorted(set(symbol_ids)) if key in self.symbols]
        if repository is not None:
            return list(self.of_repository.get(repository, ()))
        return [symbol for symbol in self.symbols.values() if symbol.kind != "package"]

    # walks

    def reach(
        self,
        start: Symbol,
        depth: int,
        relationships: Sequence[Relationship],
        backwards: bool,
        repositories: Collection[str] | None,
    ) -> Reach:
        if start.symbol_id not in self._numbers:  # it went away after it was found
            return Reach((0,) * depth, 0, lambda _first, _end: [])
        found = self._links.reach(
            self._numbers[start.symbol_id],
            depth,
            backwards,
            start.kind in _WHOLE,
            self._wanted(relationships),
            self._allowed(repositories),
        )
        counts = tuple(level.nodes.size for level in found) + (0,) * (depth - len(found))
        return Reach(counts, self._links.count_sure(found), lambda first, end: self._steps(found, first, end))

    def _steps(self, levels: Sequence[Level], first: int, end: int) -> list[Step]:
        """Only of the levels that are shown is it found out by which edges they were reached."""
        found: list[Step] = []
        at, edges = self._at, self.edges
        for distance, level in enumerate(levels, start=1):
            if first < level.nodes.size and end > 0:
                shown = slice(max(first, 0), max(end, 0))
                rows = zip(level.nodes[shown].tolist(), self._links.surest(level)[shown].tolist(), strict=True)
                found += [Step(at[node], edges[edge], distance) for node, edge in rows]
            first, end = first - level.nodes.size, end - level.nodes.size
        return found

    def path(
        self,
        start: Symbol,
        goal: Symbol,
        hops: int,
        relationships: Sequence[Relationship],
        repositories: Collection[str] | None = None,
    ) -> list[Edge] | None:
        if start.symbol_id not in self._numbers or goal.symbol_id not in self._numbers:
            return None
        found = self._links.path(
            self._numbers[start.symbol_id],
            self._numbers[goal.symbol_id],
            hops,
            (start.kind in _WHOLE, goal.kind in _WHOLE),
            self._wanted(relationships),
            self._allowed(repositories),
        )
        return None if found is None else [self.edges[number] for number in found]

    def _wanted(self, relationships: Sequence[Relationship]) -> Flags | None:
        if len(set(relationships)) == len(RELATIONSHIPS):
            return None
        chosen = np.zeros(len(RELATIONSHIPS), np.bool_)
        chosen[[RELATIONSHIPS.index(one) for one in relationships]] = True
        return np.asarray(chosen[self._kinds], np.bool_)

    def _allowed(self, repositories: Collection[str] | None) -> Flags | None:
        """A repository's symbols are one range of the ordered ids."""
        if repositories is None:
            return None if self._all_known else self._known
        allowed = np.zeros(len(self._ids), np.bool_)
        for name in repositories:
            first, end = (bisect_left(self._ids, f"symbol:{name}{mark}") for mark in ":;")
            allowed[first:end] = True
        return allowed if self._all_known else allowed & self._known


def _inner(ids: Sequence[str], numbers: Mapping[str, int]) -> tuple[Numbers, Numbers]:
    """For every id the range of those inside it. Ids inside start with the id around them, so they stand together."""
    first, end = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
    starts, ends = first.tolist(), end.tolist()
    for number, key in enumerate(ids):
        cut = key.rfind(".") if "::" in key else -1
        separator = key.find("::")
        while separator >= 0:
            outer = key[:cut] if cut > separator else key[:separator]
            around = numbers.get(outer)
            if around is not None:
                if not ends[around]:
                    starts[around] = number
                ends[around] = number + 1
            if cut <= separator:
                break
            cut = key.rfind(".", 0, cut)
    return np.array(starts, np.int64), np.array(ends, np.int64)
