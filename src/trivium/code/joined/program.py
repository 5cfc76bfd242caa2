"""Several repositories as one program: the one that imports, and those that publish what it imports.

Each resolves its own imports by its own rules; what leads out of one is looked up in the others. Paths start with the
repository's name, so that two files called `setup.py` stay two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.code.analyse import DYNAMIC
from trivium.code.link import Linked
from trivium.code.lowering import ops
from trivium.code.solver.program import Program, Target
from trivium.code.symbols import SymbolTable
from trivium.model.code import Symbol


@dataclass(frozen=True, slots=True)
class Source:
    """What an indexed repository was made from. `prefix` is set where it is itself a Python package; `names` are those
    others may import from it, by language."""

    repository: str
    prefix: str
    facts: Sequence[ops.FileFacts]
    configs: Mapping[str, bytes]
    names: Mapping[str, frozenset[str]]

    def linked(self, language: str) -> Linked:
        units = [f._replace(path=self.prefix + f.path) for f in self.facts if f.language == language]
        return Linked(units, {self.prefix + path: raw for path, raw in self.configs.items()})

    def placed(self, languages: frozenset[str]) -> list[ops.FileFacts]:
        return [f._replace(path=f"{self.repository}/{f.path}") for f in self.facts if f.language in languages]

    def placed_configs(self) -> dict[str, bytes]:
        return {f"{self.repository}/{path}": raw for path, raw in self.configs.items()}


class JoinedSymbols(SymbolTable):
    """Symbols of several repositories, asked for by `repository/path`."""

    def __init__(self, sources: Sequence[Source]) -> None:
        super().__init__("", ())
        self._tables = {source.repository: SymbolTable(source.repository, source.facts) for source in sources}
        self.notes = []

    def file(self, path: str) -> str:
        repository, _, own = path.partition("/")
        return self._tables[repository].file(own)

    def definition(self, path: str, index: int) -> str:
        repository, _, own = path.partition("/")
        return self._tables[repository].definition(own, index)

    def get(self, key: str) -> Symbol:
        return self._tables[repository_of(key)].get(key)

    def methods(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for table in self._tables.values():
            for name, symbols in table.methods().items():
                found.setdefault(name, []).extend(symbols)
        return found


class JoinedLinked:
    """The files of one dynamic language: all of the first repository, and those it reaches in the others."""

    def __init__(self, sources: Sequence[Source], language: str) -> None:
        self._sources, self._language = sources, language
        self._linked = [source.linked(language) for source in sources]
        self._places = self._reached()
        numbers = {place: number for number, place in enumerate(self._places)}
        self.units = [self._placed(place) for place in self._places]
        targets = [self._targets(place, numbers) for place in self._places]
        submodules = {
            (numbers[which, package], name): numbers[which, unit]
            for which, linked in enumerate(self._linked)
            for (package, name), unit in linked.program.submodules.items()
            if (which, package) in numbers and (which, unit) in numbers
        }
        self._numbers = numbers
        self.program = Program(self.units, [self._name(place) for place in self._places], targets, submodules)

    def __bool__(self) -> bool:
        return any(which for which, _ in self._places)

    def files(self, unit: int, written: ops.Import) -> list[int]:
        """The files of other repositories that an import needs."""
        which, own = self._places[unit]
        if self._linked[which].files(own, written):
            return []
        found = self._abroad(which, own, written)
        if found is None:
            return []
        there, module = found
        return [self._numbers[there, file] for file in self._taken(there, module, written)]

    def _reached(self) -> list[tuple[int, int]]:
        places = [(0, unit) for unit in range(len(self._linked[0].units))]
        seen = set(places)
        for which, unit in places:  # grows while it is walked
            for written in self._linked[which].units[unit].imports:
                for place in self._needed(which, unit, written):
                    if place not in seen:
                        seen.add(place)
                        places.append(place)
        return sorted(places)

    def _needed(self, which: int, unit: int, written: ops.Import) -> list[tuple[int, int]]:
        linked = self._linked[which]
        own = linked.target(unit, written).unit
        if own >= 0:
            near = [own, *linked.files(unit, written)]
            return [(which, file) for one in near for file in self._with_parents(which, one)]
        found = self._abroad(which, unit, written)
        if found is None:
            return []
        there, module = found
        files = [module, *self._taken(there, module, written)]
        return [(there, file) for one in files for file in self._with_parents(there, one)]

    def _with_parents(self, which: int, unit: int) -> list[int]:
        """Importing `a.b.c` runs `a` and `a.b`, too."""
        linked = self._linked[which]
        if self._language != "python":
            return [unit]
        parts = linked.names[unit].split(".")
        above = [linked.module(".".join(parts[:cut])) for cut in range(1, len(parts))]
        return [unit, *(found for found in above if found >= 0)]

    def _abroad(self, which: int, unit: int, written: ops.Import) -> tuple[int, int] | None:
        """The repository and the file an import means that its own repository does not have."""
        package = self._linked[which].external(unit, written)
        for there, source in enumerate(self._sources):
            if there != which and package and package in source.names.get(self._language, ()):
                module = self._linked[there].module(written.module)
                if module >= 0 or (self._language == "python" and self._submodules(there, written)):
                    return there, module
        return None

    def _submodules(self, there: int, written: ops.Import) -> list[int]:
        inner = [self._linked[there].module(f"{written.module}.{name}") for name in written.names]
        return [unit for unit in inner if unit >= 0]

    def _taken(self, there: int, module: int, written: ops.Import) -> list[int]:
        """`from package import module` needs the module; anything else the file that was named."""
        inner = self._submodules(there, written) if self._language == "python" and written.kind == "from" else []
        wanted = inner if len(inner) == len(written.names) and inner else [module, *inner]
        return [unit for unit in dict.fromkeys(wanted) if unit >= 0]

    def _targets(self, place: tuple[int, int], numbers: Mapping[tuple[int, int], int]) -> list[Target]:
        which, unit = place
        found = []
        for written in self._linked[which].units[unit].imports:
            target = self._linked[which].target(unit, written)
            abroad = self._abroad(which, unit, written) if target.unit < 0 else (which, target.unit)
            found.append(Target(numbers[abroad]) if abroad is not None and abroad[1] >= 0 else target)
        return found

    def _placed(self, place: tuple[int, int]) -> ops.FileFacts:
        source, unit = self._sources[place[0]], self._linked[place[0]].units[place[1]]
        return unit._replace(path=f"{source.repository}/{unit.path.removeprefix(source.prefix)}")

    def _name(self, place: tuple[int, int]) -> str:
        """As importers write it: the part below the folder that is put on the path."""
        which, unit = place
        name = self._linked[which].names[unit]
        if which == 0 or self._language != "python":
            return name
        parts = name.split(".")
        names = self._sources[which].names.get("python", frozenset())
        start = next((n for n, part in enumerate(parts) if part in names), 0)
        return ".".join(parts[start:])


def languages_of(sources: Sequence[Source]) -> list[str]:
    return [language for language in DYNAMIC if any(f.language == language for f in sources[0].facts)]


def repository_of(symbol: str) -> str:
    """The repository in a symbol's id; empty for a package's."""
    name = symbol.split(":", 2)[1]
    return "" if name == "package" else name
