"""Edges of a repository, collected from every analysis, each with its line, how it was resolved and how sure we are."""

from collections.abc import Collection, Iterator

from trivium.code.imported import ImportedNames
from trivium.code.link import Linked
from trivium.code.lowering import ops
from trivium.code.solver.solve import Solution
from trivium.code.symbols import SymbolTable
from trivium.code.typed_calls import TypedProgram
from trivium.model.code import CONFIDENCE, BlindSpot, Edge, Relationship, Resolution, is_inside

MAX_CANDIDATES = 40  # methods of one name, where a call has more receivers than can be followed
_STRENGTH: dict[Resolution, int] = {"name_match": 0, "inferred": 1, "exact": 2}
_OTHER_COMMON = ("read", "write", "close", "map", "filter", "forEach", "push", "then", "catch", "toString", "slice")
# Calls of these on an unknown receiver are nearly always calls of the language's own containers.
_COMMON = frozenset(
    name for names in (dir(str), dir(dict), dir(list), dir(set), dir(bytes), _OTHER_COMMON) for name in names
)


class EdgeSet:
    def __init__(self, symbols: SymbolTable) -> None:
        self.symbols = symbols
        self._edges: dict[tuple[str, str, Relationship], Edge] = {}
        self._blind: dict[tuple[str, int, str, str], BlindSpot] = {}
        self._imported: dict[tuple[str, str], int] = {}  # (file, definition) -> line of the import
        for path, notes in symbols.notes:
            for reason, line, name in notes:
                self.miss(path, line, reason, name)

    def add(self, source: str, target: str, relationship: Relationship, line: int, resolution: Resolution) -> None:
        """Between two symbols one edge of a kind is kept: the surest, then the first."""
        if source == target and relationship != "calls":
            return
        line = line or self.symbols.get(source).line  # a property that is assigned, an item that is taken
        key = (source, target, relationship)
        known = self._edges.get(key)
        if known is not None:
            weaker = _STRENGTH[resolution] < _STRENGTH[known.resolution]
            if weaker or (resolution == known.resolution and line >= known.line_number):
                return
        self._edges[key] = Edge(source, target, relationship, line, resolution, CONFIDENCE[resolution])

    def _is_told(self, source: str, target: str) -> bool:
        """Whether an edge that says more than `references` connects the two, or the source is part of the target."""
        said = ("calls", "extends", "implements")
        return is_inside(source, target) or any((source, target, word) in self._edges for word in said)

    def miss(self, path: str, line: int, reason: str, name: str) -> None:
        spot = BlindSpot(path, line, reason, name)  # type: ignore[arg-type]  # lowering uses the model's own words
        self._blind.setdefault((path, line, reason, name), spot)

    # imports

    def add_imports(self, linked: Linked, only: Collection[str] | None = None) -> None:
        for unit, facts in enumerate(linked.units):
            if only is not None and facts.path not in only:
                continue
            source = self.symbols.file(facts.path)
            for written in facts.imports:
                found = [f for f in linked.files(unit, written) if f != unit]
                for target in found:
                    self.add(source, self.symbols.file(linked.units[target].path), "imports", written.line, "exact")
                package = "" if found else linked.external(unit, written)
                if package:
                    self.add(source, self.symbols.package(package), "imports", written.line, "exact")

    def add_typed_imports(self, program: TypedProgram, only: Collection[str] | None = None) -> None:
        for unit, facts in enumerate(program.units):
            if only is not None and facts.path not in only:
                continue
            source = self.symbols.file(facts.path)
            for index, written in enumerate(facts.imports):
                found = [f for f in program.names.import_files(unit, index) if f != unit]
                for target in found:
                    self.add(source, self.symbols.file(program.units[target].path), "imports", written.line, "exact")
                package = "" if found else program.names.external(unit, index)
                if package:
                    self.add(source, self.symbols.package(package), "imports", written.line, "exact")

    # calls and inheritance

    def add_typed(self, program: TypedProgram) -> None:
        for edge in program.edges():
            source = self.symbols.definition(program.units[edge.source[0]].path, edge.source[1])
            target = self.symbols.definition(program.units[edge.target[0]].path, edge.target[1])
            if edge.relationship != "references" or not self._is_told(source, target):
                self.add(source, target, edge.relationship, edge.line, edge.resolution)
        for unit, line, name in program.unresolved:
            self.miss(program.units[unit].path, line, "unresolved_call", name)
        for unit, line, (where, definition) in program.imported:
            self._import_name(program.units[unit].path, line, program.units[where].path, definition)
        self.add_typed_imports(program)

    def add_solution(self, linked: Linked, solution: Solution) -> None:
        for caller, found in enumerate(solution.calls):
            self._add_calls(linked, solution, caller, found)
        for (child, parent), line in solution.extends.items():
            self.add(self._class(linked, child), self._class(linked, parent), "extends", line, "exact")
        for (child, number), line in solution.extends_functions.items():
            self.add(self._class(linked, child), self._function(linked, number), "extends", line, "exact")
        for (child, parent), line in solution.implements.items():
            self.add(self._class(linked, child), self._class(linked, parent), "implements", line, "exact")
        self._add_unresolved(linked, solution)
        for unit, line, where, definition in ImportedNames(linked.program).all():
            self._import_name(linked.units[unit].path, line, linked.units[where].path, definition)
        if not solution.is_complete:
            self.miss("", 0, "budget", "the call graph was cut short: some calls are missing")

    def _add_calls(self, linked: Linked, solution: Solution, caller: int, found: dict[int, int]) -> None:
        if not (found or solution.creates[caller] or solution.refers[caller]):
            return
        source = self._function(linked, caller)
        for callee, line in found.items():
            target = self._function(linked, callee)
            if target != source or callee == caller:
                self.add(
                    source, target, "calls", line, "inferred" if (caller, callee) in solution.uncertain else "exact"
                )
        for key, line in solution.creates[caller].items():
            self.add(source, self._class(linked, key), "calls", line, "exact")
        for (what, first, second), line in solution.refers[caller].items():
            target = self._function(linked, first) if what == "f" else self._class(linked, (first, second))
            if (source, target, "calls") not in self._edges:
                self.add(source, target, "references", line, "exact")

    def _add_unresolved(self, linked: Linked, solution: Solution) -> None:
        methods = self.symbols.methods()
        for (number, line), name in solution.many.items():
            candidates = methods.get(name, ()) if name not in _COMMON else ()
            for candidate in candidates if len(candidates) <= MAX_CANDIDATES else ():
                self.add(self._function(linked, number), candidate, "calls", line, "name_match")
        for (number, line), name in solution.unresolved.items():
            candidates = methods.get(name, ())
            path = linked.units[linked.program.unit_of[number]].path
            if len(candidates) == 1 and name not in _COMMON:
                self.add(self._function(linked, number), candidates[0], "calls", line, "name_match")
            else:
                self.miss(path, line, "unresolved_call", name)

    def _function(self, linked: Linked, number: int) -> str:
        unit = linked.units[linked.program.unit_of[number]]
        function: ops.Function = linked.program.functions[number]
        index = function.definition if function.definition >= 0 else function.owner
        return self.symbols.definition(unit.path, index)

    def _class(self, linked: Linked, key: tuple[int, int]) -> str:
        unit = linked.units[key[0]]
        return self.symbols.definition(unit.path, unit.classes[key[1]].definition)

    def _import_name(self, path: str, line: int, where: str, definition: int) -> None:
        self._imported.setdefault((self.symbols.file(path), self.symbols.definition(where, definition)), line)

    def all(self) -> tuple[Edge, ...]:
        edges = [*self._edges.values(), *self._only_imported()]
        return tuple(sorted(edges, key=lambda e: (e.source, e.target, e.relationship)))

    def _only_imported(self) -> Iterator[Edge]:
        """A name that a file imports is a dependency even where we do not see what the file does with it."""
        used: set[tuple[str, str]] = set()
        for source, target, relationship in self._edges:
            if relationship != "imports":
                file, (outer, _, inner) = source.partition("::")[0], target.partition("::")
                used.add((file, target))
                used.add((file, f"{outer}::{inner.partition('.')[0]}"))
        for (file, target), line in self._imported.items():
            if (file, target) not in used:
                yield Edge(file, target, "references", line, "exact", CONFIDENCE["exact"])

    def blind_spots(self) -> tuple[BlindSpot, ...]:
        return tuple(self._blind[k] for k in sorted(self._blind))
