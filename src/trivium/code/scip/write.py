"""Our graph of one repository as a SCIP index.

Symbols are `trivium . REPOSITORY . path/`file`/Class#method().`; edges become occurrences at the place the name stands
on the edge's line (the whole line where it does not stand there: a call through a variable), `extends` and
`implements` also relationships. Guesses by name stay out: readers of SCIP take what it says for certain.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from trivium.code.scip.symbols import escaped, head, namespaces
from trivium.code.scip.text import SourceText
from trivium.code.scip.wire import CALLED, DEFINITION, IMPORT, KIND_NUMBERS, NAMED, UTF8, UTF32, Index, Message
from trivium.model.code import Edge, Symbol

TOOL = "trivium"
_LANGUAGES = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "java": "Java",
    "go": "Go",
    "rust": "Rust",
    "c": "C",
    "cpp": "CPP",
    "csharp": "CSharp",
    "ruby": "Ruby",
    "php": "PHP",
}
_TYPES = ("class", "interface", "enum")
_LINES_ABOVE = 30  # decorators and attributes between the first line of a definition and its name

Span = list[int]


class ScipWriter:
    """`texts` are the files as they were indexed; a file without its text is left out."""

    def __init__(
        self,
        repository: str,
        root: str,
        version: str,
        symbols: Sequence[Symbol],
        edges: Iterable[Edge],
        texts: Mapping[str, bytes],
    ) -> None:
        self._repository, self._root, self._version = repository, root, version
        self._symbols = {symbol.symbol_id: symbol for symbol in symbols}
        self._edges = [edge for edge in edges if edge.resolution != "name_match"]
        self._texts = {path: SourceText(data, UTF32) for path, data in texts.items()}
        self._written: dict[str, str] = {}
        self._index = Index()

    def serialized(self, languages: Mapping[str, str]) -> bytes:
        """Deterministic: equal graphs give equal bytes. `languages` by path, in our words."""
        self._index.metadata.tool_info.name = TOOL
        self._index.metadata.tool_info.version = self._version
        self._index.metadata.project_root = self._root
        self._index.metadata.text_document_encoding = UTF8
        by_path: dict[str, list[Symbol]] = {}
        for symbol in self._symbols.values():
            if symbol.kind != "package" and symbol.path in self._texts:
                by_path.setdefault(symbol.path, []).append(symbol)
        leaving: dict[str, list[Edge]] = {}
        for edge in self._edges:
            leaving.setdefault(edge.source, []).append(edge)
        for path in sorted(by_path):
            document = self._index.documents.add(relative_path=path, position_encoding=UTF32)
            document.language = _LANGUAGES.get(languages.get(path, ""), "")
            self._fill(document, sorted(by_path[path], key=lambda s: (s.line, s.symbol_id)), leaving)
        self._add_packages()
        return bytes(self._index.SerializeToString(deterministic=True))

    def _fill(self, document: Message, symbols: Sequence[Symbol], leaving: Mapping[str, list[Edge]]) -> None:
        taken: set[tuple[int, ...]] = set()
        rows: list[tuple[Span, str, int, int, Span]] = []
        for symbol in symbols:
            self._describe(document, symbol, leaving.get(symbol.symbol_id, ()))
            span, around = self._defined(symbol)
            taken.add((*span,))
            rows.append((span, self.name(symbol.symbol_id), DEFINITION, 0, around))
        for symbol in symbols:
            for edge in sorted(leaving.get(symbol.symbol_id, ()), key=lambda e: (e.line_number, e.target)):
                row = self._occurrence(symbol.path, edge, taken)
                if row is not None:
                    rows.append(row)
        once = {(*span, name, roles): (span, name, roles, syntax, around) for span, name, roles, syntax, around in rows}
        for span, name, roles, syntax, around in sorted(once.values()):
            document.occurrences.add(
                range=span, symbol=name, symbol_roles=roles, syntax_kind=syntax, enclosing_range=around
            )

    def _describe(self, document: Message, symbol: Symbol, leaving: Iterable[Edge]) -> None:
        made = document.symbols.add(symbol=self.name(symbol.symbol_id), kind=KIND_NUMBERS[symbol.kind])
        made.display_name = symbol.name
        made.documentation.extend(text for text in (symbol.signature, symbol.docstring) if text)
        if symbol.parent_id and symbol.parent_id in self._symbols:
            made.enclosing_symbol = self.name(symbol.parent_id)
        for edge in leaving:
            if edge.relationship in ("extends", "implements") and self._is_written(edge.target):
                made.relationships.add(symbol=self.name(edge.target), is_implementation=True, is_reference=True)

    def _is_written(self, key: str) -> bool:
        """Whether a symbol is described in this index; one of another repository is not."""
        symbol = self._symbols.get(key)
        return symbol is not None and (symbol.kind == "package" or symbol.path in self._texts)

    def _defined(self, symbol: Symbol) -> tuple[Span, Span]:
        text = self._texts[symbol.path]
        if symbol.kind == "file":
            return [0, 0, 0], []
        last = min(symbol.end_line, max(len(text.lines), 1)) - 1
        around = [symbol.line - 1, 0, last, len(text.line(last))]
        for line in range(symbol.line - 1, min(symbol.end_line, symbol.line + _LINES_ABOVE)):
            match = _word(symbol.name).search(text.line(line))
            if match is not None and not text.is_decorator([line, *match.span()]):
                return [line, *match.span()], around
        return [symbol.line - 1, 0, 0], around

    def _occurrence(
        self, path: str, edge: Edge, taken: set[tuple[int, ...]]
    ) -> tuple[Span, str, int, int, Span] | None:
        if not self._is_written(edge.target):
            return None
        source, target, line = self._symbols[edge.source], self._symbols[edge.target], max(edge.line_number - 1, 0)
        if edge.relationship in ("extends", "implements") and not source.line <= edge.line_number <= source.end_line:
            return None  # said elsewhere (Rust's `impl`): the relationship tells it
        text = self._texts[path].line(line)
        wanted = target.name.rpartition("/")[2].partition(".")[0] if edge.relationship == "imports" else target.name
        spans = [[line, *match.span()] for match in _word(wanted).finditer(text)]
        free = [span for span in spans if (*span,) not in taken]
        called = [span for span in free if self._texts[path].is_called(span)]
        whole = [line, len(text) - len(text.lstrip()), len(text.rstrip())]
        span = next(iter(called if edge.relationship == "calls" and called else free), whole)
        roles = IMPORT if edge.relationship == "imports" else 0
        syntax = {"calls": CALLED, "references": NAMED}.get(edge.relationship, 0)
        return span, self.name(edge.target), roles, syntax, []

    def _add_packages(self) -> None:
        used = {edge.target for edge in self._edges}
        for key, symbol in sorted(self._symbols.items()):
            if symbol.kind == "package" and key in used:
                self._index.external_symbols.add(
                    symbol=self.name(key), kind=KIND_NUMBERS["package"], display_name=symbol.name
                )

    def name(self, key: str) -> str:
        """A symbol's id in SCIP's grammar."""
        if key not in self._written:
            self._written[key] = self._named(self._symbols[key])
        return self._written[key]

    def _named(self, symbol: Symbol) -> str:
        if symbol.kind == "package":
            return head(TOOL, "", symbol.name, "") + namespaces([symbol.name])
        if symbol.kind == "file":
            return head(TOOL, "", self._repository, "") + namespaces(symbol.path.split("/"))
        outer = self._symbols.get(symbol.parent_id or "")
        base = self.name(outer.symbol_id) if outer is not None else self._of_file(symbol)
        inner = symbol.qualified_name
        if outer is not None and outer.qualified_name:
            inner = inner.removeprefix(outer.qualified_name + ".")
        name, _, copy = inner.partition("#")
        if symbol.kind in _TYPES:
            return f"{base}{escaped(inner)}#"
        return f"{base}{escaped(name)}({'+' + str(int(copy) - 1) if copy.isdecimal() else ''})."

    def _of_file(self, symbol: Symbol) -> str:
        return head(TOOL, "", self._repository, "") + namespaces(symbol.path.split("/"))


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
