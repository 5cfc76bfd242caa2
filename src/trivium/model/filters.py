"""Conditions on chunks: a small tree of frozen values, two ways to write it, and what it means.

    As a value   And((Equals("source_category", "guides"), Range("date", low="2024-01-01")))
    As JSON      {"source_category": "guides", "date": {"gte": "2024-01-01"}}
    As text      category = guides and date >= 2024-01-01

A field is one of FIELDS or, failing that, a key of the document's metadata; `metadata.title` reaches a key that shares
its name with a field. What holds (stores must agree with `matches`, which is the definition):

- Values compare only within their kind: numbers (true is 1) with numbers, text with text, letter case included. Dates
  are text in ISO form, so their order is the order of time.
- Where a chunk has a list, one fitting element is enough. `Contains` finds an element of a list or a stretch of a text.
- A field a chunk does not have fulfils nothing but `Not`. A `null` counts as not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from trivium.model.chunk import Chunk, Scalar

FIELDS = ("source", "source_file", "source_category", "title", "date", "chunk_id", "chunk_index", "token_count")
TEXT_FIELDS = ("source", "source_file", "source_category", "title", "date")
ALIASES = {"category": "source_category", "file": "source_file"}
METADATA_PREFIX = "metadata."


@dataclass(frozen=True, slots=True)
class Equals:
    field: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class In:
    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    field: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`, each optional (but not both) and included unless its `…_open` says otherwise."""

    field: str
    low: str | int | float | None = None
    high: str | int | float | None = None
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    field: str


@dataclass(frozen=True, slots=True)
class And:
    parts: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    parts: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    part: "Filter"


Filter = Equals | In | Contains | Range | Exists | And | Or | Not


def matches(condition: Filter, values: Mapping[str, object]) -> bool:
    """Whether a chunk with these values (see `fields_of`) fulfils the condition."""
    match condition:
        case And(parts):
            return all(matches(part, values) for part in parts)
        case Or(parts):
            return any(matches(part, values) for part in parts)
        case Not(part):
            return not matches(part, values)
        case Exists(field):
            return bool(_values(values, field))
        case Contains(field, value):
            return any(_contains(held, value) for held in _held(values, field))
        case _:
            return any(_fits(condition, value) for value in _values(values, condition.field))


def fields_of(chunk: Chunk) -> dict[str, object]:
    """A chunk as `matches` reads it: its own fields, and its document's metadata under `metadata.…`."""
    own: dict[str, object] = {name: getattr(chunk, name) for name in FIELDS}
    return own | {METADATA_PREFIX + key: value for key, value in chunk.metadata.items()}


def canonical_field(name: str) -> str:
    """The one spelling of a field: a built-in one, or `metadata.` and the key."""
    name = ALIASES.get(name, name)
    return name if name in FIELDS or name.startswith(METADATA_PREFIX) else METADATA_PREFIX + name


def _held(values: Mapping[str, object], field: str) -> list[object]:
    value = values.get(canonical_field(field))
    return [] if value is None else [value]


def _values(values: Mapping[str, object], field: str) -> list[object]:
    return [
        element
        for value in _held(values, field)
        for element in (value if isinstance(value, list) else [value])
        if element is not None
    ]


def _fits(condition: "Equals | In | Range", value: object) -> bool:
    match condition:
        case Equals(_, wanted):
            return _is_same(value, wanted)
        case In(_, wanted_values):
            return any(_is_same(value, wanted) for wanted in wanted_values)
        case Range(_, low, high, low_open, high_open):
            above = low is None or _is_below(low, value) or (not low_open and _is_same(value, low))
            below = high is None or _is_below(value, high) or (not high_open and _is_same(value, high))
            return above and below


def _contains(held: object, wanted: Scalar) -> bool:
    if isinstance(held, list):
        return any(_is_same(element, wanted) for element in held)
    return isinstance(held, str) and isinstance(wanted, str) and wanted in held


def _is_same(one: object, other: object) -> bool:
    return isinstance(one, str) == isinstance(other, str) and one == other


def _is_below(one: object, other: object) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one < other
    return isinstance(one, int | float) and isinstance(other, int | float) and one < other
