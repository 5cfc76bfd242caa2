"""A code graph in dictionaries: for tests, and for one-off questions about a repository."""

from bisect import bisect_left
from collections.abc import Collection, Sequence

from trivium.model.code import BlindSpot, CodeGraph, Edge, Relationship, Symbol, inner_prefix


class MemoryCodeGraph:
    def __init__(self, graphs: Sequence[CodeGraph] = ()) -> None:
        self._graphs: dict[str, CodeGraph] = {}
        self._symbols: dict[str, Symbol] = {}
        self._out: dict[str, list[Edge]] = {}
        self._in: dict[str, list[Edge]] = {}
        self._names: dict[str, list[str]] = {}
        self._sources: list[str] = []
        self._targets: list[str] = []
        for graph in graphs:
            self.put(graph)

    def put(self, graph: CodeGraph) -> None:
        """Replaces a repository's graph as a whole."""
        self._graphs[graph.repository] = graph
        self._rebuild()

    def remove(self, repository: str) -> None:
        self._graphs.pop(repository, None)
        self._rebuild()

    def _rebuild(self) -> None:
        symbols = {s.symbol_id: s for g in self._graphs.values() for s in g.symbols}
        edges = sorted(
            (e for g in self._graphs.values() for e in g.edges), key=lambda e: (e.source, e.target, e.relationship)
        )
        out: dict[str, list[Edge]] = {}
        into: dict[str, list[Edge]] = {}
        names: dict[str, list[str]] = {}
        for edge in edges:
            out.setdefault(edge.source, []).append(edge)
            into.setdefault(edge.target, []).append(edge)
        for symbol in symbols.values():
            for name in {symbol.name, symbol.qualified_name or symbol.path, symbol.entity_path}:
                names.setdefault(name, []).append(symbol.symbol_id)
        self._symbols, self._out, self._in, self._names = symbols, out, into, names
        self._sources, self._targets = sorted(out), sorted(into)

    def outgoing(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        sources = self._with_inner(symbol_ids, self._sources) if inside else symbol_ids
        return [e for s in sorted(sources) for e in self._out.get(s, ()) if e.relationship in relationships]

    def incoming(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        targets = self._with_inner(symbol_ids, self._targets) if inside else symbol_ids
        found = [e for t in targets for e in self._in.get(t, ()) if e.relationship in relationships]
        return sorted(found, key=lambda e: (e.source, e.target, e.relationship))

    def _with_inner(self, symbol_ids: Collection[str], ordered: list[str]) -> set[str]:
        found = set(symbol_ids)
        for symbol in symbol_ids:
            prefix = inner_prefix(symbol)
            for position in range(bisect_left(ordered, prefix), len(ordered)):
                if not ordered[position].startswith(prefix):
                    break
                found.add(ordered[position])
        return found

    def find(self, name: str, repository: str | None) -> list[Symbol]:
        found = [self._symbols[i] for i in sorted(self._names.get(name, ()))]
        return [s for s in found if repository is None or s.repository == repository or s.kind == "package"]

    def symbols(self, repository: str | None, symbol_ids: Collection[str] | None = None) -> list[Symbol]:
        if symbol_ids is not None:
            return [self._symbols[i] for i in sorted(symbol_ids) if i in self._symbols]
        return sorted(
            (s for s in self._symbols.values() if s.kind != "package" and repository in (None, s.repository)),
            key=lambda s: s.symbol_id,
        )

    def repositories(self) -> dict[str, tuple[BlindSpot, ...]]:
        return {name: graph.blind_spots for name, graph in sorted(self._graphs.items())}
