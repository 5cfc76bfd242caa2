"""The code room: the graph, the repositories in it, and how questions about them fare."""

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from trivium.code.answered import Answered
from trivium.code.metrics import GraphMetrics
from trivium.code.repositories.freshness import fresh_files
from trivium.code.repositories.index import IndexRepositories
from trivium.model.code import Symbol
from trivium.model.filters import And, Equals
from trivium.ports.chunks import ChunkStore
from trivium.ports.code_graph import CodeGraphReader
from trivium.ports.repositories import IndexedFile, RepositoryStore

if TYPE_CHECKING:
    from trivium.code.scip.export import ScipExport


class Code:
    def __init__(self, graph: CodeGraphReader, store: RepositoryStore, repositories: IndexRepositories) -> None:
        self.graph, self.repositories = graph, repositories
        self.metrics = GraphMetrics(time.time)
        self.answered = Answered()
        self._store = store

    def files(self, name: str, paths: Collection[str]) -> dict[str, IndexedFile]:
        return self._store.files(name, paths)

    def export_scip(self, name: str | None = None) -> "ScipExport":
        """The graph of a repository, or of the only one, as a SCIP index."""
        from trivium.code.scip.export import export_scip

        return export_scip(self.graph, self._store, name)

    def defining_chunks(self, symbols: Sequence[Symbol], chunks: ChunkStore) -> dict[str, int]:
        """Symbol -> the chunk its definition begins in."""
        places: dict[tuple[str, str], list[Symbol]] = {}
        for symbol in symbols:
            places.setdefault((symbol.repository, symbol.path), []).append(symbol)
        found: dict[str, int] = {}
        for (name, path), some in places.items():
            file = self.files(name, [path]).get(path)
            is_here = And((Equals("source", "code"), Equals("repository", name), Equals("source_file", path)))
            begins = {chunk.chunk_index: chunk.chunk_id for chunk in chunks.get(chunks.select(is_here).tolist())}
            for index, (first, last, _) in enumerate(file.pieces if file is not None else ()):
                for symbol in some:
                    if first <= symbol.line <= last and index in begins:
                        found.setdefault(symbol.symbol_id, begins[index])
        return found

    def fresh(self, name: str, paths: Collection[str]) -> dict[str, bool]:
        """Which of these indexed files are still what was indexed."""
        known = {one.name: one for one in self._store.all()}
        return fresh_files(self._store, known[name].location, name, paths) if name in known else {}
