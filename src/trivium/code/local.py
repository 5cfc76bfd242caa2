"""What a few changed files say, found from their neighbourhood: before the whole repository is solved anew.

All other files take part by their names alone, so that imports resolve as they do in the whole; those the changed ones
import are read, nearest first, until there is enough to resolve most calls. Edges *from* the changed files are the
result; who else calls into them is found by the whole analysis.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from trivium.code.analyse import DYNAMIC
from trivium.code.edges import EdgeSet
from trivium.code.link import Linked
from trivium.code.lowering import ops
from trivium.code.solver.solve import solve
from trivium.code.symbols import SymbolTable
from trivium.code.typed_calls import TypedProgram
from trivium.model.code import CodeGraph, Edge, Symbol

MOST_OPS = 12_000  # of the changed files and their neighbours: about 5 % of Django …
LEAST_OPS = 4_000  # … but so much of the neighbours in any case
MAX_HOPS = 3
_NO_BODY = ops.Function("", ops.MODULE, 0, 1, (), 0, (), -1, -1, False, False, 0, ())

Read = Callable[[Sequence[str]], list[ops.FileFacts]]


def family(language: str) -> str:
    """The language under which the facts of a file go: TypeScript's are JavaScript's."""
    return "javascript" if language in ("javascript", "typescript", "tsx") else language


def name_only(path: str, language: str) -> ops.FileFacts:
    """A file that is there, and of which nothing is known."""
    return ops.FileFacts(ops.VERSION, family(language), path, 0, [], [], [_NO_BODY], [], [], [], [])


class Surroundings:
    """The files of a repository by name, the changed ones among them as they are: what imports are resolved with."""

    def __init__(
        self, changed: Sequence[ops.FileFacts], others: Mapping[str, ops.FileFacts], configs: Mapping[str, bytes]
    ) -> None:
        self.changed, self.configs = changed, configs
        self.known = {**others, **{facts.path: facts for facts in changed}}
        self._numbers: dict[str, int] = {}
        self._linked: dict[str, Linked] = {}
        for language in DYNAMIC:
            units = [facts for _, facts in sorted(self.known.items()) if facts.language == language]
            if any(facts.language == language for facts in changed):
                self._linked[language] = Linked(units, configs)
                self._numbers.update((unit.path, number) for number, unit in enumerate(units))

    @property
    def own(self) -> frozenset[str]:
        return frozenset(facts.path for facts in self.changed)

    def imports(self, repository: str) -> CodeGraph:
        """Symbols and imports of the changed files."""
        symbols = SymbolTable(repository, list(self.known.values()))
        edges = EdgeSet(symbols)
        for linked in self._linked.values():
            edges.add_imports(linked, self.own)
        program = self._typed()
        if program is not None:
            edges.add_typed_imports(program, self.own)
        return _only(self.own, symbols, edges)

    def calls(self, repository: str, read: Read) -> CodeGraph:
        """And the calls they make, as far as the neighbours that are read tell."""
        facts = self._with_neighbours(read)
        symbols = SymbolTable(repository, facts)
        edges = EdgeSet(symbols)
        for language in self._linked:
            linked = Linked([unit for unit in facts if unit.language == language], self.configs)
            edges.add_imports(linked, self.own)
            edges.add_solution(linked, solve(linked.program, may_be_exact=False))
        program = self._typed()
        if program is not None:
            edges.add_typed(program)
        return _only(self.own, symbols, edges)

    def _typed(self) -> TypedProgram | None:
        if all(facts.language in DYNAMIC for facts in self.changed):
            return None
        return TypedProgram([unit for unit in self.known.values() if unit.language not in DYNAMIC], self.configs)

    def _with_neighbours(self, read: Read) -> list[ops.FileFacts]:
        """The changed files, what they import (read as far as MOST_OPS goes), and all others by name."""
        known = dict(self.known)
        level, met = list(self.changed), set(self.own)
        room = max(MOST_OPS - _weight(self.changed), LEAST_OPS)
        for _ in range(MAX_HOPS):
            wanted = [path for path in self._imported(level) if path not in met]
            met.update(wanted)
            level = []
            for start in range(0, len(wanted), 4):
                some = read(wanted[start : start + 4])
                level += some
                room -= _weight(some)
                if room < 0:
                    break
            known.update((facts.path, facts) for facts in level)
            if room < 0:
                break
        return [known[path] for path in sorted(known)]

    def _imported(self, files: Sequence[ops.FileFacts]) -> list[str]:
        """The files that these import, in the order they do."""
        found: dict[str, None] = {}
        for facts in files:
            linked = self._linked.get(facts.language)
            if linked is not None:
                for written in facts.imports:
                    numbers = linked.files(self._numbers[facts.path], written)
                    found.update((linked.units[n].path, None) for n in numbers)
        return list(found)


def _weight(files: Sequence[ops.FileFacts]) -> int:
    return sum(len(function.ops) for facts in files for function in facts.functions)


def _only(own: Collection[str], symbols: SymbolTable, edges: EdgeSet) -> CodeGraph:
    files = {symbols.file(path) for path in own}
    return CodeGraph(
        symbols.repository,
        tuple(s for s in symbols.all() if s.path in own or s.kind == "package"),
        tuple(e for e in edges.all() if e.source.partition("::")[0] in files),
        tuple(b for b in edges.blind_spots() if b.path in own),
    )


def kept_edges(
    before: Iterable[Edge], graph: CodeGraph, exists: Callable[[str], bool], text_of: Callable[[Symbol], Sequence[str]]
) -> list[Edge]:
    """Edges of the old version that the new one still seems to have: both ends are there, and what is depended on is
    still mentioned. What the neighbourhood is too small to resolve is thus not lost until the whole is solved."""
    here = {s.symbol_id: s for s in graph.symbols}
    found = {(e.source, e.target, e.relationship) for e in graph.edges}
    kept: list[Edge] = []
    for edge in before:
        source = here.get(edge.source)
        key = (edge.source, edge.target, edge.relationship)
        if source is None or edge.relationship == "imports" or key in found or not exists(edge.target):
            continue
        line = _mention(edge, source, text_of(source))
        if line:
            kept.append(replace(edge, line_number=line))
    return kept


def _mention(edge: Edge, source: Symbol, lines: Sequence[str]) -> int:
    """The first line of the source that names the target, 0 for none. Python's own names are never written out."""
    name = edge.target.rpartition("::")[2].rpartition(".")[2].partition("#")[0]
    if name.startswith("__") and name.endswith("__"):
        return max(source.line, min(edge.line_number, source.end_line))
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    return next((source.line + n for n, line in enumerate(lines) if word.search(line)), 0)
