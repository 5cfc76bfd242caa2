"""A code graph as it is asked: symbols by id and by name, edges in arrays. Made from one state of a store."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from trivium.graph.links import NAME_ONLY, Flags, Level, Links, Numbers
from trivium.model.code import RELATIONSHIPS, BlindSpots, Edge, Relationship, Symbol
from trivium.ports.code_graph import Reach, Step

_RANK = {"exact": 0, "inferred": 1, "name_match": NAME_ONLY}
NOWHERE = Symbol("", "file", "", "", "", "", 0, 0)  # the end of an edge whose symbol is gone
_KIND = {name: number for number, name in enumerate(RELATIONSHIPS)}
_KEPT = 64  # walks; that of a hub weighs half a megabyte
_WHOLE = ("class", "interface", "enum", "file")


class GraphImage:
    """Never changed after it was made, so any number of threads may read it."""

    ids: list[str]  # of symbols and of the ends of edges, in order: a node's number is its place
    numbers: dict[str, int]
    at: list[Symbol]  # by number
    links: Links
    kinds: Numbers
    edges: list[Edge]
    symbols: dict[str, Symbol]
    names: dict[str, list[Symbol]]
    of_repository: dict[str, list[Symbol]]
    blind_spots: Mapping[str, BlindSpots]

    def __init__(self, symbols: Iterable[Symbol], edges: Iterable[Edge], blind_spots: Mapping[str, BlindSpots]) -> None:
        """Symbols come by id, edges by source, target and relationship."""
        self.blind_spots = blind_spots
        self.symbols = {symbol.symbol_id: symbol for symbol in symbols}
        self.edges = list(edges)
        self.of_repository, self.names = {}, {}
        for symbol in self.symbols.values():
            if symbol.kind != "package":
                self.of_repository.setdefault(symbol.repository, []).append(symbol)
            for name in self.names_of(symbol):
                self.names.setdefault(name, []).append(symbol)
        ends = {end for edge in self.edges for end in (edge.source, edge.target)}
        self.ids = sorted(self.symbols.keys() | ends)
        self.numbers = {key: number for number, key in enumerate(self.ids)}
        first, end = np.zeros(len(self.ids), np.int64), np.zeros(len(self.ids), np.int64)
        for number, (low, high) in inner_ranges(self.ids, self.numbers).items():
            first[number], end[number] = low, high
        self.link(*self.rows(self.edges), (first, end))

    def rows(self, edges: Sequence[Edge]) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Edges as columns: sources, targets, ranks, kinds."""
        count, numbers = len(edges), self.numbers
        return (
            np.fromiter((numbers[e.source] for e in edges), np.int32, count),
            np.fromiter((numbers[e.target] for e in edges), np.int32, count),
            np.fromiter((_RANK[e.resolution] for e in edges), np.int8, count),
            np.fromiter((_KIND[e.relationship] for e in edges), np.int8, count),
        )

    def link(
        self, sources: Numbers, targets: Numbers, ranks: Numbers, kinds: Numbers, inner: tuple[Numbers, Numbers]
    ) -> None:
        """The last step of making an image: `ids`, `numbers` and `symbols` are there."""
        self.kinds = kinds
        self._reached: dict[object, Reach] = {}  # the latest: a method is asked for with those it overrides
        self.links = Links(sources, targets, ranks, inner)
        if not hasattr(self, "at"):
            self.at = [self.symbols.get(key, NOWHERE) for key in self.ids]
        self._known = np.array([symbol is not NOWHERE for symbol in self.at], np.bool_)
        self._all_known = bool(self._known.all())

    @staticmethod
    def names_of(symbol: Symbol) -> set[str]:
        return {symbol.name, symbol.qualified_name or symbol.path, symbol.entity_path}

    def ranges_of(self, file_id: str) -> list[tuple[int, int]]:
        """The numbers of a file and of all that is defined in it."""
        number = self.numbers.get(file_id)
        if number is None:
            return []
        first, end = self.links.inner
        return [(number, number + 1), (int(first[number]), int(end[number]))]

    def in_file(self, file_id: str) -> list[Symbol]:
        found = [s for first, end in self.ranges_of(file_id) for s in self.at[first:end]]
        return [s for s in found if s is not NOWHERE]

    # edges of some symbols

    def outgoing(self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool) -> list[Edge]:
        return self._edges(symbol_ids, relationships, inside, backwards=False)

    def incoming(self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool) -> list[Edge]:
        return self._edges(symbol_ids, relationships, inside, backwards=True)

    def _edges(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool, *, backwards: bool
    ) -> list[Edge]:
        level = [self.numbers[key] for key in symbol_ids if key in self.numbers]
        found = self.links.edges(np.array(level, np.int64), backwards, inside, self._wanted(relationships))
        return [self.edges[number] for number in np.unique(found).tolist()]

    def find(self, name: str, repository: str | None) -> list[Symbol]:
        found = self.names.get(name, ())
        return [s for s in found if repository is None or s.repository == repository or s.kind == "package"]

    def some_symbols(self, repository: str | None, symbol_ids: Collection[str] | None) -> list[Symbol]:
        if symbol_ids is not None:
            return [self.symbols[key] for key in sorted(set(symbol_ids)) if key in self.symbols]
        if repository is not None:
            return list(self.of_repository.get(repository, ()))
        return [s for name in sorted(self.of_repository, key=lambda n: f"{n}:") for s in self.of_repository[name]]

    # walks

    def reach(
        self,
        start: Symbol,
        depth: int,
        relationships: Sequence[Relationship],
        backwards: bool,
        repositories: Collection[str] | None,
    ) -> Reach:
        if start.symbol_id not in self.numbers:  # it went away after it was found
            return Reach((0,) * depth, 0, lambda _first, _end: [])
        key = (start.symbol_id, depth, tuple(relationships), backwards, repositories and tuple(repositories))
        known = self._reached.get(key)
        if known is None:
            known = self._reach(start, depth, relationships, backwards, repositories)
            if len(self._reached) >= _KEPT:
                self._reached.clear()
            self._reached[key] = known
        return known

    def _reach(
        self,
        start: Symbol,
        depth: int,
        relationships: Sequence[Relationship],
        backwards: bool,
        repositories: Collection[str] | None,
    ) -> Reach:
        found = self.links.reach(
            self.numbers[start.symbol_id],
            depth,
            backwards,
            start.kind in _WHOLE,
            self._wanted(relationships),
            self._allowed(repositories),
        )
        counts = tuple(level.nodes.size for level in found) + (0,) * (depth - len(found))
        return Reach(counts, self.links.count_sure(found), lambda first, end: self._steps(found, first, end))

    def _steps(self, levels: Sequence[Level], first: int, end: int) -> list[Step]:
        """Only of the levels that are shown is it found out by which edges they were reached."""
        found: list[Step] = []
        at, edges = self.at, self.edges
        for distance, level in enumerate(levels, start=1):
            if first < level.nodes.size and end > 0:
                shown = slice(max(first, 0), max(end, 0))
                rows = zip(level.nodes[shown].tolist(), self.links.surest(level)[shown].tolist(), strict=True)
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
        if start.symbol_id not in self.numbers or goal.symbol_id not in self.numbers:
            return None
        found = self.links.path(
            self.numbers[start.symbol_id],
            self.numbers[goal.symbol_id],
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
        chosen[[_KIND[one] for one in relationships]] = True
        return np.asarray(chosen[self.kinds], np.bool_)

    def _allowed(self, repositories: Collection[str] | None) -> Flags | None:
        """A repository's symbols are one range of the ordered ids."""
        if repositories is None:
            return None if self._all_known else self._known
        allowed = np.zeros(len(self.ids), np.bool_)
        for name in repositories:
            first, end = (bisect_left(self.ids, f"symbol:{name}{mark}") for mark in ":;")
            allowed[first:end] = True
        return allowed if self._all_known else allowed & self._known


def inner_ranges(ids: Sequence[str], numbers: Mapping[str, int]) -> dict[int, tuple[int, int]]:
    """For those of the numbered ids that have others inside them, the range of these. Ids inside start with the id
    around them, so they stand together."""
    found: dict[int, tuple[int, int]] = {}
    for key in ids:
        separator = key.find("::")
        cut = len(key)
        while separator >= 0 and cut > separator:
            cut = key.rfind(".", separator + 2, cut)
            outer = numbers.get(key[: cut if cut > 0 else separator])
            if outer is not None:
                number = numbers[key]
                low, high = found.get(outer, (number, number))
                found[outer] = (min(low, number), max(high, number + 1))
    return found
