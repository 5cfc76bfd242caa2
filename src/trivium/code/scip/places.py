"""Our symbols by the place they stand at: which one is defined on a line, which one a line belongs to."""

from collections.abc import Iterable, Sequence

from trivium.model.code import Symbol, SymbolKind, symbol_id

_TYPES = ("class", "interface", "enum")
_CONSTRUCTORS = {"<constructor>": "constructor"}
_LINES_ABOVE = 30  # decorators and attributes between the first line of a definition and its name


class Places:
    def __init__(self, repository: str, symbols: Iterable[Symbol]) -> None:
        self._repository = repository
        self._symbols = {symbol.symbol_id: symbol for symbol in symbols}
        self._by_path: dict[str, list[Symbol]] = {}
        for symbol in self._symbols.values():
            if symbol.qualified_name:
                self._by_path.setdefault(symbol.path, []).append(symbol)
        for inside in self._by_path.values():
            inside.sort(key=lambda s: (s.line, -s.end_line))

    def all(self) -> Iterable[Symbol]:
        return self._symbols.values()

    def kind(self, key: str) -> SymbolKind:
        return self._symbols[key].kind

    def line(self, key: str) -> int:
        return self._symbols[key].line

    def path(self, key: str) -> str:
        symbol = self._symbols.get(key)
        return symbol.path if symbol is not None else ""

    def name(self, key: str) -> str:
        symbol = self._symbols.get(key)
        return symbol.name if symbol is not None else ""

    def defined(self, path: str, line: int, name: str, qualified_name: str) -> str:
        """The symbol of that name whose definition this line is part of; empty where there is none."""
        name = _CONSTRUCTORS.get(name, name)
        found = [
            s
            for s in self._by_path.get(path, ())
            if s.name == name and s.line <= line <= min(s.end_line, s.line + _LINES_ABOVE)
        ]
        if not found:
            return ""
        exact = [s for s in found if s.qualified_name == qualified_name]
        return (exact or sorted(found, key=lambda s: (-s.line, s.symbol_id)))[0].symbol_id

    def around(self, path: str, line: int) -> str:
        """The innermost symbol a line belongs to; the file where it belongs to none."""
        found = [s for s in self._by_path.get(path, ()) if s.line <= line <= s.end_line]
        best = min(found, key=lambda s: (s.end_line - s.line, -s.line, s.symbol_id), default=None)
        return best.symbol_id if best is not None else symbol_id(self._repository, path)

    def caller(self, path: str, line: int, is_decorator: bool) -> str:
        """Whoever runs a line: a function or the file. A class body and a decorator are run by what is around them."""
        key = self.around(path, line)
        steps = 1 if is_decorator else 0
        while key in self._symbols and (steps or self._symbols[key].kind in _TYPES) and self._symbols[key].parent_id:
            key, steps = self._symbols[key].parent_id or key, 0
        return key

    def add(
        self, path: str, qualified_name: str, name: str, kind: SymbolKind, span: Sequence[int], around: Sequence[int]
    ) -> str:
        """A definition only the index knows. `around` is the range of the whole of it, where the index tells."""
        key = symbol_id(self._repository, path, qualified_name)
        if key not in self._symbols:
            first, last = (around[0], around[2 if len(around) == 4 else 0]) if around else (span[0], span[0])
            parent = symbol_id(self._repository, path, qualified_name.rpartition(".")[0])
            outer = parent if parent in self._symbols else symbol_id(self._repository, path)
            made = Symbol(key, kind, self._repository, path, qualified_name, name, first + 1, last + 1, parent_id=outer)
            self._symbols[key] = made
            self._by_path.setdefault(path, []).append(made)
        return key
