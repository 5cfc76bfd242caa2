"""Filters as PostgreSQL's SQL. `model.filters.matches` is the definition; tests/contracts/test_chunks.py holds the two
together."""

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

# Every value of one metadata key, a list as its elements; `null` is no value. A NUL has no place in PostgreSQL's text.
_METADATA_VALUES = (
    "SELECT 1 FROM jsonb_each(replace(documents.metadata, '\\u0000', '')::jsonb) AS entry (key, value),"
    " jsonb_array_elements(CASE jsonb_typeof(entry.value) WHEN 'array' THEN entry.value"
    " ELSE jsonb_build_array(entry.value) END) AS held (value)"
    " WHERE entry.key = ? AND jsonb_typeof(held.value) <> 'null'"
)
_IS_LIST = "jsonb_typeof(entry.value) = 'array'"
_IS_TEXT = "jsonb_typeof(held.value) = 'string'"
_TEXT = "((held.value #>> '{}') COLLATE \"C\")"
_NUMBER = (
    "(CASE jsonb_typeof(held.value) WHEN 'number' THEN held.value::numeric"
    " WHEN 'boolean' THEN held.value::boolean::integer::numeric END)"
)

Sql = tuple[str, list[Any]]


def where(condition: Filter) -> Sql:
    """An expression over `chunks JOIN documents` that is true or false, never NULL, and its arguments."""
    match condition:
        case And(parts):
            return _joined(" AND ", parts, "TRUE")
        case Or(parts):
            return _joined(" OR ", parts, "FALSE")
        case Not(part):
            sql, arguments = where(part)
            return f"(NOT {sql})", arguments
        case Exists(field):
            return _exists(field)
        case Equals(field, value):
            return _any_value(field, "{value} = ?", [value])
        case In(field, values):
            return _joined(" OR ", tuple(Equals(field, value) for value in values), "FALSE")
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
    return _any_value(condition.field, " AND ".join(tests), arguments) if tests else _exists(condition.field)


def _exists(field: str) -> Sql:
    name = canonical_field(field)
    column = _TEXT_COLUMNS.get(name) or _NUMBER_COLUMNS.get(name)
    if column:
        return f"({column} IS NOT NULL)", []
    return f"EXISTS ({_METADATA_VALUES})", [name.removeprefix(METADATA_PREFIX)]


def _contains(field: str, value: Scalar) -> Sql:
    name = canonical_field(field)
    if name in _TEXT_COLUMNS:
        return _any_value(field, "strpos({value}, ?) > 0", [value])
    if name in _NUMBER_COLUMNS:
        return "FALSE", []
    key = name.removeprefix(METADATA_PREFIX)
    if not isinstance(value, str):
        return f"EXISTS ({_METADATA_VALUES} AND {_IS_LIST} AND {_NUMBER} = ?)", [key, value]
    element = f"CASE WHEN {_IS_LIST} THEN {_TEXT} = ? ELSE strpos({_TEXT}, ?) > 0 END"
    return f"EXISTS ({_METADATA_VALUES} AND {_IS_TEXT} AND {element})", [key, value, value]


def _any_value(field: str, test: str, operands: list[Any]) -> Sql:
    """True where some value of the field passes. Operands of another kind than the value never match."""
    name = canonical_field(field)
    kinds = {isinstance(operand, str) for operand in operands}
    if len(kinds) != 1:
        return "FALSE", []
    is_text = kinds.pop()
    for columns, wants_text in ((_TEXT_COLUMNS, True), (_NUMBER_COLUMNS, False)):
        if name in columns:
            if is_text is not wants_text:
                return "FALSE", []
            return f"COALESCE({test.format(value=columns[name])}, FALSE)", operands
    key = name.removeprefix(METADATA_PREFIX)
    if is_text:
        return f"EXISTS ({_METADATA_VALUES} AND {_IS_TEXT} AND {test.format(value=_TEXT)})", [key, *operands]
    return f"EXISTS ({_METADATA_VALUES} AND {test.format(value=_NUMBER)})", [key, *operands]
