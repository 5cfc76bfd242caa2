"""A repository's graph that is kept up to date file by file, for a server that watches it.

`change` gives at once what a changed file says itself (its symbols, its imports); `solve` then brings calls up to date.
The state lives in memory; a new process starts with `replace`, from cached facts.
"""

from collections.abc import Iterable, Mapping

from trivium.code.analyse import DYNAMIC, is_config, read_facts
from trivium.code.edges import EdgeSet
from trivium.code.link import Linked
from trivium.code.lowering import ops
from trivium.code.solver.solve import LiveSolver
from trivium.code.symbols import Kept, SymbolTable
from trivium.code.typed_calls import TypedProgram
from trivium.model.code import CodeGraph


class LiveGraph:
    def __init__(self, repository: str) -> None:
        self.repository = repository
        self._facts: dict[str, ops.FileFacts] = {}
        self._configs: dict[str, bytes] = {}
        self._linked: dict[str, Linked] = {}
        self._solvers: dict[str, LiveSolver] = {}
        self._kept: Kept = {}

    def replace(self, files: Mapping[str, bytes]) -> CodeGraph:
        """Everything anew."""
        found = {path: facts for path in sorted(files) if (facts := read_facts(path, files[path])) is not None}
        self._facts = found
        self._configs = {path: raw for path, raw in files.items() if is_config(path)}
        self._linked, self._solvers = {}, {}
        return self.solve()

    def change(self, changed: Mapping[str, bytes], removed: Iterable[str]) -> CodeGraph:
        """The symbols and imports of the changed files alone; the graph of calls is as old as the last `solve`."""
        configs = {path: raw for path, raw in changed.items() if is_config(path)}
        new = {path: facts for path, raw in changed.items() if (facts := read_facts(path, raw)) is not None}
        moved = set(removed) & self._facts.keys() or new.keys() - self._facts.keys() or configs
        for path in removed:
            self._facts.pop(path, None)
            self._configs.pop(path, None)
        self._configs.update(configs)
        self._facts.update(new)
        if moved:  # imports may lead elsewhere now, in any file
            self._facts = dict(sorted(self._facts.items()))
            self._linked, self._solvers = {}, {}
        for facts in new.values():
            self._put(facts)
        return self._own_graph(list(new.values()))

    def _put(self, facts: ops.FileFacts) -> None:
        linked = self._linked.get(facts.language)
        if linked is not None:
            unit, targets = linked.put(facts)
            if facts.language in self._solvers:
                self._solvers[facts.language].put(unit, facts, targets)

    def _own_graph(self, facts: list[ops.FileFacts]) -> CodeGraph:
        symbols = SymbolTable(self.repository, facts)
        edges = EdgeSet(symbols)
        for language in DYNAMIC:
            mine = [f.path for f in facts if f.language == language]
            if mine:
                edges.add_imports(self._link(language), mine)
        typed = [f.path for f in facts if f.language not in DYNAMIC]
        if typed:
            edges.add_typed_imports(self._typed(), typed)
        return CodeGraph(self.repository, symbols.all(), edges.all(), edges.blind_spots())

    def _link(self, language: str) -> Linked:
        if language not in self._linked:
            units = [f for f in self._facts.values() if f.language == language]
            self._linked[language] = Linked(units, self._configs)
        return self._linked[language]

    def _typed(self) -> TypedProgram:
        return TypedProgram([f for f in self._facts.values() if f.language not in DYNAMIC], self._configs)

    def solve(self) -> CodeGraph:
        """The whole graph, calls included."""
        symbols = SymbolTable(self.repository, list(self._facts.values()), self._kept)
        edges = EdgeSet(symbols)
        for language in DYNAMIC:
            linked = self._link(language)
            if language not in self._solvers:
                self._solvers[language] = LiveSolver(linked.program)
            edges.add_imports(linked)
            edges.add_solution(linked, self._solvers[language].solution())
        edges.add_typed(self._typed())
        return CodeGraph(self.repository, symbols.all(), edges.all(), edges.blind_spots())
