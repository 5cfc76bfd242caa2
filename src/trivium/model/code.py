"""Symbols, edges and chunks of source code: frozen values and the rules for naming them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from trivium.model.ids import typed_id

SymbolKind = Literal["file", "class", "interface", "enum", "function", "method", "package"]
Relationship = Literal["imports", "calls", "extends", "implements", "references"]
Resolution = Literal["exact", "inferred", "name_match"]

PACKAGES = "package"  # where packages stand among repositories: no repository has this name
RELATIONSHIPS: tuple[Relationship, ...] = get_args(Relationship)
CONFIDENCE: dict[Resolution, float] = {"exact": 1.0, "inferred": 0.9, "name_match": 0.4}


def symbol_id(repository: str, path: str, qualified_name: str = "") -> str:
    """Stable over re-indexing: it moves only when the file or the definition is renamed."""
    return typed_id("symbol", f"{repository}:{path}::{qualified_name}" if qualified_name else f"{repository}:{path}")


def package_id(name: str) -> str:
    """One node a package, whatever repository uses it, so that repositories meet there."""
    return typed_id("symbol", f"{PACKAGES}:{name}")


def inner_prefix(symbol: str) -> str:
    """How the ids of everything defined in a symbol start: `…path::` in a file, `…path::Class.` in a class."""
    return f"{symbol}." if "::" in symbol else f"{symbol}::"


def is_inside(symbol: str, outer: str) -> bool:
    """Whether a symbol is `outer` or defined in it, by their ids."""
    return symbol == outer or symbol.startswith(inner_prefix(outer))


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something that can depend and be depended on. Lines count from 1 and include the last."""

    symbol_id: str
    kind: SymbolKind
    repository: str
    path: str
    qualified_name: str  # `Class.method` within its file; empty for the file itself
    name: str
    line: int
    end_line: int
    signature: str = ""
    docstring: str = ""
    parent_id: str | None = None

    @property
    def entity_path(self) -> str:
        return f"{self.path}::{self.qualified_name}" if self.qualified_name else self.path


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    relationship: Relationship
    line_number: int
    resolution: Resolution
    confidence: float
    resolved_by: str = ""  # empty: by our own analysis; else who said so (`scip`)


@dataclass(frozen=True, slots=True)
class CodePiece:
    """A chunk of a source file before it is stored: `text == file_text[start:end]`."""

    text: str
    start: int
    end: int
    context_header: str
    token_count: int
    line: int
    end_line: int
    symbol_id: str
    kind: SymbolKind


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """A place where a dependency may hide from us: the reader of an impact figure must know of it."""

    path: str
    line_number: int
    reason: Literal["reflection", "unresolved_call", "syntax_error", "dynamic_import", "minified", "budget"]
    name: str


class BlindSpots(tuple[BlindSpot, ...]):
    """All of a repository's, in order; asked for every entity, so the answers are looked up."""

    @cached_property
    def unresolved(self) -> dict[str, list[BlindSpot]]:
        """Calls that could not be resolved, by the name that is called."""
        found: dict[str, list[BlindSpot]] = {}
        for spot in self:
            if spot.reason == "unresolved_call":
                found.setdefault(spot.name, []).append(spot)
        return found

    @cached_property
    def anywhere(self) -> list[BlindSpot]:
        """Those that may hide a call of anything: code that decides at run time, or was not read to the end."""
        return [s for s in self if s.reason in ("reflection", "dynamic_import", "budget", "syntax_error")]


@dataclass(frozen=True, slots=True)
class CodeGraph:
    """All that was found in one repository, in a fixed order."""

    repository: str
    symbols: tuple[Symbol, ...]
    edges: tuple[Edge, ...]
    blind_spots: tuple[BlindSpot, ...] = ()
