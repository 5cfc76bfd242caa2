"""Puts an index that a compiler made over our graph: where it speaks of a place, it is believed.

A file the index covers keeps our symbols, gets those only the index knows, and has its references taken from the
index. Calls of ours remain where the index is silent: values that travel through parameters, containers and callbacks,
which no index of definitions can follow. A guess by name gives way as soon as the index knows what is meant.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trivium.code.scip.places import Places
from trivium.code.scip.symbols import ScipSymbol, parse
from trivium.code.scip.text import SourceText
from trivium.code.scip.wire import CALLED, DEFINITION, IMPORT, KINDS, LOCAL, NAMED, Message
from trivium.model.code import CONFIDENCE, CodeGraph, Edge, Relationship, Symbol, SymbolKind, package_id, symbol_id

SCIP = "scip"
_TYPES = ("class", "interface", "enum")


@dataclass(slots=True)
class _Found:
    """What the index says: edges, and on which line of a file it knows which name."""

    edges: dict[tuple[str, str, Relationship], Edge] = field(default_factory=dict)
    known: dict[tuple[str, int, str], set[str]] = field(default_factory=dict)
    packages: dict[str, Symbol] = field(default_factory=dict)

    def add(self, source: str, target: str, relationship: Relationship, line: int) -> None:
        if source != target or relationship == "calls":
            edge = Edge(source, target, relationship, line, "exact", 1.0, SCIP)
            before = self.edges.get((source, target, relationship))
            if before is None or line < before.line_number:
                self.edges[source, target, relationship] = edge


class Overlay:
    """`documents` by the path they have in the repository; `texts` of the same files, as they are indexed."""

    def __init__(self, graph: CodeGraph, documents: Mapping[str, Message], texts: Mapping[str, bytes]) -> None:
        self._graph = graph
        self._documents = {path: document for path, document in sorted(documents.items()) if path in texts}
        self._texts = {p: SourceText(texts[p], d.position_encoding) for p, d in self._documents.items()}
        self._places = Places(graph.repository, graph.symbols)
        self._parsed: dict[str, ScipSymbol | None] = {}
        self._symbols: dict[tuple[str, str], str] = {}  # (path for a local one, symbol) -> ours

    def graph(self) -> CodeGraph:
        for path, document in self._documents.items():
            self._define(path, document)
        found = _Found()
        for path, document in self._documents.items():
            for occurrence in document.occurrences:
                if not occurrence.symbol_roles & DEFINITION:
                    self._refer(path, occurrence, found)
            self._relate(path, document, found)
        return self._merged(found)

    # definitions

    def _define(self, path: str, document: Message) -> None:
        kinds = {one.symbol: one.kind for one in document.symbols}
        for occurrence in document.occurrences:
            if occurrence.symbol_roles & DEFINITION and occurrence.range:
                ours = self._ours(path, occurrence, kinds.get(occurrence.symbol, 0))
                if ours:
                    self._symbols[self._key(path, occurrence.symbol)] = ours

    def _ours(self, path: str, occurrence: Message, kind: int) -> str:
        symbol = self._parse(occurrence.symbol)
        if symbol is not None and symbol.is_module:
            return symbol_id(self._graph.repository, path)
        span = list(occurrence.range)
        name = symbol.name if symbol is not None else self._texts[path].at(span)
        known = self._places.defined(path, span[0] + 1, name, symbol.qualified_name if symbol is not None else "")
        word = _kind(symbol, kind)
        if known or word is None or symbol is None:
            return known
        return self._places.add(path, symbol.qualified_name, name, word, span, list(occurrence.enclosing_range))

    def _parse(self, written: str) -> ScipSymbol | None:
        if written not in self._parsed:
            self._parsed[written] = parse(written)
        return self._parsed[written]

    def _key(self, path: str, written: str) -> tuple[str, str]:
        return (path if written.startswith(LOCAL) else "", written)

    # references

    def _refer(self, path: str, occurrence: Message, found: _Found) -> None:
        span, line = list(occurrence.range), occurrence.range[0] + 1
        symbol = self._parse(occurrence.symbol)
        target = self._symbols.get(self._key(path, occurrence.symbol), "")
        if symbol is not None and not symbol.is_module:
            found.known.setdefault((path, line, symbol.name), set()).add(target)
        if not target:
            if symbol is not None and occurrence.symbol_roles & IMPORT and symbol.package:
                self._import_package(path, symbol.package, line, found)
            return
        file = symbol_id(self._graph.repository, path)
        if self._places.kind(target) == "file" or occurrence.symbol_roles & IMPORT:
            found.add(file, target.partition("::")[0], "imports", line)
        else:
            text = self._texts[path]
            kind = occurrence.syntax_kind
            called = kind == CALLED or (kind != NAMED and text.is_called(span))
            source = (
                self._places.caller(path, line, text.is_decorator(span)) if called else self._places.around(path, line)
            )
            found.add(source, target, "calls" if called else "references", line)

    def _import_package(self, path: str, package: str, line: int, found: _Found) -> None:
        key = package_id(package)
        found.packages.setdefault(key, Symbol(key, "package", "", package, "", package, 0, 0))
        found.add(symbol_id(self._graph.repository, path), key, "imports", line)

    def _relate(self, path: str, document: Message, found: _Found) -> None:
        """`is_implementation`: a class below another or fulfilling an interface, a method that overrides one."""
        for one in document.symbols:
            own = self._symbols.get(self._key(path, one.symbol), "")
            for related in one.relationships if own else ():
                other = self._symbols.get(self._key(path, related.symbol), "")
                if other and related.is_implementation:
                    found.add(own, other, self._relationship(own, other), self._places.line(own))

    def _relationship(self, own: str, other: str) -> Relationship:
        kinds = self._places.kind(own), self._places.kind(other)
        if kinds[1] not in _TYPES:  # a method that overrides one; in JavaScript, a class below a function
            return "extends" if kinds[0] in _TYPES else "implements"
        return "implements" if kinds[1] == "interface" and kinds[0] != "interface" else "extends"

    # together

    def _merged(self, found: _Found) -> CodeGraph:
        related = {key[0] for key in found.edges if key[2] in ("extends", "implements")}
        base = {(key[0], key[1]) for key in found.edges if key[2] in ("extends", "implements", "calls")}
        ours = (self._judged(edge, found, related) for edge in self._graph.edges)
        edges = {(e.source, e.target, e.relationship): e for e in ours if e is not None}
        edges |= {key: e for key, e in found.edges.items() if key[2] != "references" or key[:2] not in base}
        called = {key[:2] for key in edges if key[2] == "calls"}
        kept = [e for key, e in edges.items() if key[2] != "references" or key[:2] not in called]
        symbols = {s.symbol_id: s for s in (*self._places.all(), *found.packages.values(), *self._graph.symbols)}
        spots = [s for s in self._graph.blind_spots if not self._is_solved(s.path, s.line_number, s.name, found)]
        return replace(
            self._graph,
            symbols=tuple(sorted(symbols.values(), key=lambda s: s.symbol_id)),
            edges=tuple(sorted(kept, key=lambda e: (e.source, e.target, e.relationship))),
            blind_spots=tuple(spots),
        )

    def _judged(self, edge: Edge, found: _Found, related: set[str]) -> Edge | None:
        """An edge of ours in the light of the index: as it was, less sure, or None where the index knows better."""
        path = self._places.path(edge.source)
        if path not in self._documents or edge.relationship == "imports":
            return edge
        if edge.relationship in ("extends", "implements"):
            return None if edge.source in related and edge.resolution == "name_match" else edge
        meant = found.known.get((path, edge.line_number, self._places.name(edge.target)))
        if meant is None or edge.target in meant:
            return edge
        if edge.resolution == "name_match" or self._places.kind(edge.target) != "method":
            return None
        # The index names the method that is declared there; at run time it may be the one that overrides it.
        return replace(edge, resolution="inferred", confidence=CONFIDENCE["inferred"])

    def _is_solved(self, path: str, line: int, name: str, found: _Found) -> bool:
        return (path, line, name) in found.known


def _kind(symbol: ScipSymbol | None, kind: int) -> SymbolKind | None:
    """What a definition would be among our symbols; None for variables, parameters and the like."""
    if kind in KINDS.interfaces:
        return "interface"
    if kind in KINDS.enums:
        return "enum"
    if kind in KINDS.classes or (symbol is not None and symbol.suffix == "#"):
        return "class"
    if kind in KINDS.functions or (symbol is not None and symbol.suffix == "(.)"):
        within = symbol is not None and len(symbol.descriptors) > 1 and symbol.descriptors[-2].suffix == "#"
        return "method" if within else "function"
    return None


def overlaid(graph: CodeGraph, documents: Mapping[str, Message], texts: Mapping[str, bytes]) -> CodeGraph:
    return Overlay(graph, documents, texts).graph() if documents else graph


def is_made_from(document: Message, text: SourceText) -> bool:
    """Whether an index was made from this very text: names must stand where it says they are defined."""
    checked = matching = 0
    for occurrence in document.occurrences:
        symbol = parse(occurrence.symbol) if occurrence.symbol_roles & DEFINITION else None
        if symbol is not None and not symbol.is_module and symbol.name.isidentifier() and len(occurrence.range) == 3:
            checked += 1
            matching += symbol.name in text.at(list(occurrence.range))
    return checked == 0 or matching >= 0.8 * checked
