"""From what a caller writes (`path`, `name`, `path::Class.method`) to one symbol, or an error that helps."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from trivium.errors import InvalidInput, NotFound
from trivium.model.code import RELATIONSHIPS, Relationship, Symbol, SymbolKind
from trivium.ports.code_graph import CodeGraphStore

ENTITY_TYPES: dict[str, tuple[SymbolKind, ...]] = {
    "file": ("file",),
    "function": ("function", "method"),
    "class": ("class", "interface", "enum"),
    "package": ("package",),
}
_TYPE_OF: dict[str, str] = {kind: word for word, kinds in ENTITY_TYPES.items() for kind in kinds}
MAX_DEPTH = 5
MAX_HOPS = 20
_MAX_NAMED = 10


def entity_type(kind: SymbolKind) -> str:
    """The seed's word for a kind of symbol."""
    return _TYPE_OF[kind]


def check_type(given: str, allowed: Sequence[str]) -> str:
    if given not in allowed:
        raise InvalidInput(f"entity_type must be one of: {', '.join(allowed)}", field="entity_type", allowed=allowed)
    return given


def check_range(field: str, value: int, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(f"{field} must be between {low} and {high}", field=field, allowed=[f"{low}–{high}"])
    return value


def check_relationships(given: Sequence[str] | None) -> tuple[Relationship, ...]:
    if given is None:
        return RELATIONSHIPS
    unknown = [r for r in given if r not in RELATIONSHIPS]
    if unknown or not given:
        named = ", ".join(RELATIONSHIPS)
        raise InvalidInput(f"relationship_types may hold: {named}", field="relationship_types", allowed=RELATIONSHIPS)
    return tuple(r for r in RELATIONSHIPS if r in given)


def check_repository(graph: CodeGraphStore, name: str) -> str:
    known = list(graph.repositories())
    if name not in known:
        nearest = get_close_matches(name, known, n=5, cutoff=0.3) or known[:5]
        raise NotFound(
            f"Repository not found: {name}",
            nearest=nearest,
            code="REPOSITORY_NOT_FOUND",
            hint="Check list_indexed_repositories for valid names",
        )
    return name


def find_entity(graph: CodeGraphStore, written: str, kinds: Sequence[SymbolKind], repository: str | None) -> Symbol:
    """Exactly one symbol. Several of that name are an error that lists them; none, one that lists the nearest."""
    name = written.strip().removeprefix("./")
    if not name:
        raise InvalidInput("entity_path must not be empty", field="entity_path")
    found = [s for s in _named(graph, name, repository) if s.kind in kinds]
    found = _narrowed(found, name)
    if len(found) == 1:
        return found[0]
    if not found:
        raise not_found(graph, name, kinds, repository)
    candidates = [_label(s, repository) for s in found]
    named = ", ".join(candidates[:_MAX_NAMED])
    raise InvalidInput(
        f"{name!r} is ambiguous: {len(found)} entities go by that name, say which: {named}",
        field="entity_path",
        allowed=candidates,
        hint="Use path::name",
        code="ENTITY_AMBIGUOUS",
    )


def _named(graph: CodeGraphStore, name: str, repository: str | None) -> list[Symbol]:
    """Without a repository, `repository/path::name` is understood, too: that is how candidates are listed."""
    found = graph.find(name, repository)
    first, slash, rest = name.partition("/")
    if found or repository is not None or not slash or first not in graph.repositories():
        return found
    return [s for s in graph.find(rest, first) if s.kind != "package"]


def _narrowed(found: list[Symbol], name: str) -> list[Symbol]:
    """A full match (path, path::name, qualified name) beats a bare name that happens to be the same."""
    by_path = [s for s in found if name in (s.entity_path, s.path, f"{s.repository}/{s.entity_path}")]
    return by_path or [s for s in found if s.qualified_name == name] or found


def not_found(graph: CodeGraphStore, name: str, kinds: Sequence[SymbolKind], repository: str | None) -> NotFound:
    known = [s for s in graph.symbols(repository) if s.kind in kinds]
    return NotFound(
        f"Entity not found: {name}",
        nearest=_nearest(name, known, repository),
        code="ENTITY_NOT_FOUND",
        hint="Verify path is relative to repository root",
    )


def _nearest(name: str, known: Iterable[Symbol], repository: str | None) -> list[str]:
    """By the last part of what was written: people remember names better than paths."""
    labels: dict[str, list[str]] = {}
    for symbol in known:
        labels.setdefault(symbol.name.lower(), []).append(_label(symbol, repository))
    wanted = name.rpartition("::")[2].rpartition(".")[2] if "::" in name else name.rpartition("/")[2]
    close = get_close_matches(wanted.lower(), list(labels), n=5, cutoff=0.5)
    return [label for match in close for label in sorted(labels[match])[:2]][:5]


def _label(symbol: Symbol, repository: str | None) -> str:
    return (
        symbol.entity_path
        if repository is not None or not symbol.repository
        else f"{symbol.repository}/{symbol.entity_path}"
    )
