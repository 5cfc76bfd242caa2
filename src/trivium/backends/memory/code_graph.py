"""A code graph in memory: for tests, and for one-off questions about a repository."""

from collections.abc import Collection, Sequence

from trivium.graph.image import GraphImage
from trivium.model.code import BlindSpots, CodeGraph, Edge, Relationship, Symbol
from trivium.ports.code_graph import Reach


class MemoryCodeGraph:
    def __init__(self, graphs: Sequence[CodeGraph] = ()) -> None:
        self._graphs = {graph.repository: graph for graph in graphs}
        self._rebuild()

    def put(self, graph: CodeGraph) -> None:
        """Replaces a repository's graph as a whole."""
        self._graphs[graph.repository] = graph
        self._rebuild()

    def remove(self, repository: str) -> None:
        self._graphs.pop(repository, None)
        self._rebuild()

    def _rebuild(self) -> None:
        graphs = sorted(self._graphs.items())
        symbols = {s.symbol_id: s for _, graph in graphs for s in graph.symbols}
        edges = [e for _, graph in graphs for e in graph.edges]
        self._image = GraphImage(
            sorted(symbols.values(), key=lambda s: s.symbol_id),
            sorted(edges, key=lambda e: (e.source, e.target, e.relationship)),
            {name: BlindSpots(graph.blind_spots) for name, graph in graphs},
        )

    def outgoing(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        return self._image.outgoing(symbol_ids, relationships, inside)

    def incoming(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        return self._image.incoming(symbol_ids, relationships, inside)

    def find(self, name: str, repository: str | None) -> list[Symbol]:
        return self._image.find(name, repository)

    def symbols(self, repository: str | None, symbol_ids: Collection[str] | None = None) -> list[Symbol]:
        return self._image.some_symbols(repository, symbol_ids)

    def repositories(self) -> dict[str, BlindSpots]:
        return dict(self._image.blind_spots)

    def state(self) -> object:
        return self._image

    def reach(
        self,
        start: Symbol,
        depth: int,
        relationships: Sequence[Relationship],
        *,
        backwards: bool = False,
        repositories: Collection[str] | None = None,
    ) -> Reach:
        return self._image.reach(start, depth, relationships, backwards, repositories)

    def path(
        self,
        start: Symbol,
        goal: Symbol,
        hops: int,
        relationships: Sequence[Relationship],
        *,
        repositories: Collection[str] | None = None,
    ) -> list[Edge] | None:
        return self._image.path(start, goal, hops, relationships, repositories)
