"""Reads filters as people and programs write them (see filters.py); anything else is an InvalidInput saying where."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trivium.errors import InvalidInput
from trivium.model.chunk import Scalar
from trivium.model.filters import (
    TEXT_FIELDS,
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

MAX_CONDITIONS = 200
MAX_DEPTH = 20
OPERATORS = ("eq", "ne", "in", "contains", "gt", "gte", "lt", "lte", "exists")
_SYMBOLS = {"=": "eq", "==": "eq", "!=": "ne", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
_FIELD = re.compile(r"[^\W\d][\w.\-]*")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<symbol>==|!=|>=|<=|[=<>(),])
      | (?P<word>[^\s=<>!(),"']+)
    )""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def parse_filter(written: str | Mapping[str, object]) -> Filter:
    """A filter from its text or its JSON form."""
    condition = _Text(written).parsed() if isinstance(written, str) else _from_mapping(written, 0)
    if _size(condition) > MAX_CONDITIONS:
        raise _invalid(f"has more than {MAX_CONDITIONS} conditions")
    return condition


def _size(condition: Filter) -> int:
    match condition:
        case And(parts) | Or(parts):
            return sum(_size(part) for part in parts)
        case Not(part):
            return _size(part)
        case _:
            return 1


def _invalid(problem: str, allowed: Sequence[str] | None = None) -> InvalidInput:
    hint = "for example: category = guides and date >= 2024-01-01 and not tags contains draft"
    return InvalidInput(f"the filter {problem}", field="filter", allowed=allowed, hint=hint)


def _field(name: object) -> str:
    if isinstance(name, str) and _FIELD.fullmatch(name):
        return name
    raise _invalid(f"names a field {name!r}; a field is a word of letters, digits, '_', '.' or '-'")


def _condition(field: str, operator: str, value: object) -> Filter:
    """One operator on one field: the meeting point of both syntaxes."""
    match operator:
        case "eq":
            return Equals(field, _scalar(field, value))
        case "ne":
            return Not(Equals(field, _scalar(field, value)))
        case "in":
            return In(field, _scalars(field, value))
        case "contains":
            return Contains(field, _scalar(field, value))
        case "exists" if isinstance(value, bool):
            return Exists(field) if value else Not(Exists(field))
        case "gt" | "gte" | "lt" | "lte":
            return _range(field, operator, value)
    if operator == "exists":
        raise _invalid(f"wants true or false after exists of {field!r}, not {value!r}")
    raise _invalid(f"has no operator {operator!r} (at field {field!r})", OPERATORS)


def _range(field: str, operator: str, value: object) -> Range:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _invalid(f"compares {field!r} with {value!r}; an order needs a number, a text or an ISO date")
    is_open = operator in ("gt", "lt")
    return (
        Range(field, low=value, low_open=is_open) if operator[0] == "g" else Range(field, high=value, high_open=is_open)
    )


def _scalar(field: str, value: object) -> Scalar:
    if isinstance(value, str | int | float):
        return value
    raise _invalid(f"compares {field!r} with {value!r}; a value is a text, a number, true or false")


def _scalars(field: str, value: object) -> tuple[Scalar, ...]:
    if isinstance(value, list | tuple) and value:
        return tuple(_scalar(field, element) for element in value)
    raise _invalid(f"wants a list of values for {field!r} in …, not {value!r}")


def _all_of(parts: Sequence[Filter]) -> Filter:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _from_mapping(written: object, depth: int) -> Filter:
    if depth > MAX_DEPTH:
        raise _invalid(f"is nested more than {MAX_DEPTH} deep")
    if not isinstance(written, Mapping) or not written:
        raise _invalid(f"wants an object with at least one field, not {written!r}")
    return _all_of([_from_entry(key, value, depth + 1) for key, value in written.items()])


def _from_entry(key: object, value: object, depth: int) -> Filter:
    match key:
        case "and" | "or":
            if not isinstance(value, list | tuple) or not value:
                raise _invalid(f"wants a list of conditions under {key!r}, not {value!r}")
            parts = tuple(_from_mapping(part, depth) for part in value)
            return And(parts) if key == "and" else Or(parts)
        case "not":
            return Not(_from_mapping(value, depth))
    field = _field(key)
    if isinstance(value, Mapping):
        if not value:
            raise _invalid(f"gives no operator for {field!r}", OPERATORS)
        return _all_of([_condition(field, str(operator), operand) for operator, operand in value.items()])
    return _condition(field, "in" if isinstance(value, list | tuple) else "eq", value)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    column: int
    is_quoted: bool = False


class _Text:
    """Recursive descent: or < and < not < one condition or a bracket."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._next = 0

    def parsed(self) -> Filter:
        if not self._tokens:
            raise _invalid("is empty")
        condition = self._any_of(0)
        if self._next < len(self._tokens):
            raise self._unexpected("'and', 'or' or the end")
        return condition

    def _any_of(self, depth: int) -> Filter:
        return self._chain("or", Or, lambda: self._chain("and", And, lambda: self._negatable(depth + 1)))

    def _chain(self, word: str, join: type[And] | type[Or], part: Callable[[], Filter]) -> Filter:
        parts = [part()]
        while self._takes(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else join(tuple(parts))

    def _negatable(self, depth: int) -> Filter:
        if depth > MAX_DEPTH:
            raise _invalid(f"is nested more than {MAX_DEPTH} deep")
        if self._takes("not"):
            return Not(self._negatable(depth + 1))
        if self._takes("("):
            condition = self._any_of(depth)
            self._expects(")")
            return condition
        return self._comparison()

    def _comparison(self) -> Filter:
        field = _field(self._value_token("a field").text)
        if self._takes("exists"):
            return Exists(field)
        if self._takes("in"):
            return In(field, self._list(field))
        negated = self._takes("not")
        if self._takes("contains"):
            found = Contains(field, self._value(field))
            return Not(found) if negated else found
        if negated:
            self._expects("in")
            return Not(In(field, self._list(field)))
        for symbol, operator in _SYMBOLS.items():
            if self._takes(symbol):
                return _condition(field, operator, self._value(field))
        raise self._unexpected(f"an operator after {field!r}: = != < <= > >= in contains exists")

    def _list(self, field: str) -> tuple[Scalar, ...]:
        self._expects("(")
        values = [self._value(field)]
        while self._takes(","):
            values.append(self._value(field))
        self._expects(")")
        return tuple(values)

    def _value(self, field: str) -> Scalar:
        """`date < 2025` and `title = 1984` mean texts: a word is a number only where the field can hold one."""
        token = self._value_token("a value")
        is_text = token.is_quoted or canonical_field(field) in TEXT_FIELDS
        return token.text if is_text else _literal(token.text)

    def _value_token(self, wanted: str) -> _Token:
        token = self._peek()
        if token is None or (not token.is_quoted and token.text in {*_SYMBOLS, "(", ")", ","}):
            raise self._unexpected(wanted)
        self._next += 1
        return token

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _takes(self, text: str) -> bool:
        token = self._peek()
        if token is None or token.is_quoted or token.text.lower() != text:
            return False
        self._next += 1
        return True

    def _expects(self, text: str) -> None:
        if not self._takes(text):
            raise self._unexpected(repr(text))

    def _unexpected(self, wanted: str) -> InvalidInput:
        token = self._peek()
        found = f"{token.text!r} at column {token.column}" if token else "the end"
        return _invalid(f"has {found} where it wants {wanted}")


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            rest = text[at:].lstrip()
            raise _invalid(f"cannot be read from column {len(text) - len(rest) + 1} on: {rest[:20]!r}")
        word = found.group().strip()
        quoted = found["quoted"] is not None
        column = found.end() - len(word) + 1
        tokens.append(_Token(re.sub(r"\\(.)", r"\1", word[1:-1]) if quoted else word, column, quoted))
        at = found.end()
    return tokens


def _literal(word: str) -> Scalar:
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if not _NUMBER.fullmatch(word):
        return word
    return int(word) if word.lstrip("+-").isdigit() else float(word)
