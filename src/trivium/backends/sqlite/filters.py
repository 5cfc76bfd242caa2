"""Filters as SQL. `model.filters.matches` is the definition; tests/contracts/test_chunks.py holds the two together."""

from typing import Any

from trivium.model.chunk import Scalar
from trivium.model.filters import (
    METADATA_PREFIX,
    And,
    Contains,
    Equals,
    Exists,
    Filter,
    In,
    Not,
    Or,
    Range,
    canonical_field,
)

_TEXT_COLUMNS = {name: f"documents.{name}" for name in ("source", "source_file", "source_category", "title", "date")}
_NUMBER_COLUMNS = {name: f"chunks.{name}" for name in ("chunk_id", "chunk_index", "token_count")}

# Every value of one metadata key, a list as its elements; `null` is no value.
_METADATA_VALUES = (
    "SELECT 1 FROM json_each(documents.metadata) AS entry,"
    " json_each(CASE entry.type WHEN 'array' THEN entry.value ELSE json_array(entry.value) END) AS held"
    " WHERE entry.key = ? AND held.type <> 'null'"
)

Sql = tuple[str, list[Any]]


def where(condition: Filter) -> Sql:
    """An expression over `chunks JOIN documents` that is 1 or 0, never NULL, and its arguments."""
    match condition:
        case And(parts):
            return _joined(" AND ", parts, "1")
        case Or(parts):
            return _joined(" OR ", parts, "0")
        case Not(part):
            sql, arguments = where(part)
            return f"NOT {sql}", arguments
        case Exists(field):
            return _any_value(field, "{value} IS NOT NULL", [])
        case Equals(field, value):
            return _any_value(field, "{value} = ?", [value], [value])
        case In(field, values):
            return _joined(" OR ", tuple(Equals(field, value) for value in values), "0")
        case Range():
            return _range(condition)
        case Contains(field, value):
            return _contains(field, value)


def _joined(word: str, parts: tuple[Filter, ...], nothing: str) -> Sql:
    if not parts:
        return nothing, []
    compiled = [where(part) for part in parts]
    return f"({word.join(sql for sql, _ in compiled)})", [a for _, arguments in compiled for a in arguments]


def _range(condition: Range) -> Sql:
    tests, arguments = [], []
    if condition.low is not None:
        tests.append("{value} > ?" if condition.low_open else "{value} >= ?")
        arguments.append(condition.low)
    if condition.high is not None:
        tests.append("{value} < ?" if condition.high_open else "{value} <= ?")
        arguments.append(condition.high)
    return _any_value(condition.field, " AND ".join(tests) or "1", arguments, arguments)


def _contains(field: str, value: Scalar) -> Sql:
    name = canonical_field(field)
    if name in _TEXT_COLUMNS:
        return _any_value(field, "instr({value}, ?) > 0", [value], [value])
    if name in _NUMBER_COLUMNS:
        return "0", []
    element, arguments = "held.value = ?", [value]
    if isinstance(value, str):
        element = (
            "CASE entry.type WHEN 'array' THEN held.value = ? ELSE held.type = 'text' AND instr(held.value, ?) > 0 END"
        )
        arguments = [value, value]
    else:
        element = "entry.type = 'array' AND held.type <> 'text' AND held.value = ?"
    return f"EXISTS ({_METADATA_VALUES} AND {element})", [name.removeprefix(METADATA_PREFIX), *arguments]


def _any_value(field: str, test: str, arguments: list[Any], operands: list[Any] | None = None) -> Sql:
    """True where some value of the field passes. Operands of another kind than the value never match: SQLite would
    otherwise convert, or sort every number below every text."""
    name = canonical_field(field)
    is_text = [isinstance(operand, str) for operand in operands or []]
    for columns, wants_text in ((_TEXT_COLUMNS, True), (_NUMBER_COLUMNS, False)):
        if name in columns:
            if any(text is not wants_text for text in is_text):
                return "0", []
            return f"COALESCE({test.format(value=columns[name])}, 0)", arguments
    kind = ""
    if is_text:
        if len(set(is_text)) > 1:
            return "0", []
        kind = " AND held.type = 'text'" if is_text[0] else " AND held.type <> 'text'"
    key = name.removeprefix(METADATA_PREFIX)
    return f"EXISTS ({_METADATA_VALUES}{kind} AND {test.format(value='held.value')})", [key, *arguments]
