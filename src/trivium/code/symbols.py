"""Symbols of a repository: files, the definitions in them, the packages they use."""

from collections.abc import Sequence

from trivium.code.lowering import ops
from trivium.model.code import Symbol, package_id, symbol_id


class SymbolTable:
    """Ids for (path, definition index). Two definitions of one name in a file get `name`, `name#2`, …"""

    def __init__(self, repository: str, facts: Sequence[ops.FileFacts]) -> None:
        self.repository = repository
        self._symbols: dict[str, Symbol] = {}
        self._ids: dict[str, list[str]] = {}
        self.notes = [(f.path, f.notes) for f in facts]
        for unit in facts:
            self._add_file(unit)

    def _add_file(self, unit: ops.FileFacts) -> None:
        own = symbol_id(self.repository, unit.path)
        self._symbols[own] = Symbol(
            own, "file", self.repository, unit.path, "", unit.path.rpartition("/")[2], 1, unit.lines
        )
        ids: list[str] = []
        for definition in unit.definitions:
            ids.append(self._add_definition(unit.path, definition, own, ids))
        self._ids[unit.path] = ids

    def _add_definition(self, path: str, definition: ops.Definition, file_id: str, ids: list[str]) -> str:
        name, copy = definition.qualified_name, 1
        found = symbol_id(self.repository, path, name)
        while found in self._symbols:
            copy += 1
            name = f"{definition.qualified_name}#{copy}"
            found = symbol_id(self.repository, path, name)
        parent = ids[definition.parent] if 0 <= definition.parent < len(ids) else file_id
        self._symbols[found] = Symbol(
            found,
            definition.kind,  # type: ignore[arg-type]  # lowering uses the model's own words
            self.repository,
            path,
            name,
            definition.name,
            definition.line,
            definition.end_line,
            definition.signature,
            definition.docstring,
            parent,
        )
        return found

    def file(self, path: str) -> str:
        return symbol_id(self.repository, path)

    def definition(self, path: str, index: int) -> str:
        """The symbol of a definition; the file itself for code outside every definition."""
        return self._ids[path][index] if index >= 0 else symbol_id(self.repository, path)

    def package(self, name: str) -> str:
        found = package_id(name)
        if found not in self._symbols:
            self._symbols[found] = Symbol(found, "package", "", name, "", name, 0, 0)
        return found

    def methods(self) -> dict[str, list[str]]:
        """Method name -> symbols that go by it."""
        found: dict[str, list[str]] = {}
        for symbol in self._symbols.values():
            if symbol.kind == "method":
                found.setdefault(symbol.name, []).append(symbol.symbol_id)
        return found

    def get(self, key: str) -> Symbol:
        return self._symbols[key]

    def all(self) -> tuple[Symbol, ...]:
        return tuple(sorted(self._symbols.values(), key=lambda s: s.symbol_id))
