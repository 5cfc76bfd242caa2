"""What a concept and a relationship may contain. Every way in (tools, command line, import) goes through here."""

import math
import secrets
from collections.abc import Mapping
from typing import cast, get_args

from trivium.errors import InvalidInput
from trivium.model.concept import CONTENT_FIELDS, RelationshipType, Value
from trivium.ports.concept_catalogue import Selection

MAX_CHARACTERS: Mapping[str, int] = {"name": 200, "area": 100, "topic": 100, "subtopic": 100}
REQUIRED = ("name", "explanation")
RELATIONSHIP_TYPES: tuple[str, ...] = get_args(RelationshipType)
MAX_BULK = 1_000


def new_content(given: Mapping[str, object]) -> dict[str, Value]:
    """The content of a new concept, trimmed and checked; what is blank or absent is left out."""
    for name in REQUIRED:
        if given.get(name) is None:
            raise InvalidInput(f"{name} is required", field=name)
    content = changed_content(given)
    return {name: content[name] for name in CONTENT_FIELDS if content.get(name) is not None}


def changed_content(given: Mapping[str, object]) -> dict[str, Value]:
    """The fields of an update, trimmed and checked. None: not given. Blank text empties an optional field."""
    if unknown := sorted(set(given) - set(CONTENT_FIELDS)):
        raise InvalidInput(f"unknown field {unknown[0]!r}", field=unknown[0], allowed=CONTENT_FIELDS)
    return {name: _value(name, value) for name, value in given.items() if value is not None}


def _value(name: str, value: object) -> Value:
    if name == "certainty_score":
        return bounded(name, value, 0, 100)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text", field=name)
    text = plain_text(name, value)
    if not text:
        if name in REQUIRED:
            raise InvalidInput(f"{name} must not be empty", field=name)
        return None
    limit = MAX_CHARACTERS.get(name)
    if limit is not None and len(text) > limit:
        raise InvalidInput(f"{name} must be 1-{limit} characters, got {len(text)}", field=name)
    return text


def plain_text(name: str, value: str) -> str:
    """Trimmed; refuses what cannot be stored and read back unchanged."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} contains half a surrogate pair, which is no character", field=name) from None
    if "\0" in value:
        raise InvalidInput(f"{name} contains a NUL character", field=name)
    return value.strip()


def bounded(name: str, value: object, low: float, high: float) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        raise InvalidInput(f"{name} must be between {low:g} and {high:g}", field=name)
    return number


def limited(name: str, value: int, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(f"{name} must be between {low} and {high}", field=name)
    return value


def checked_selection(wanted: Selection) -> Selection:
    for name in ("min_certainty", "max_certainty"):
        if (value := getattr(wanted, name)) is not None:
            bounded(name, value, 0, 100)
    for name in ("name", "area", "topic", "subtopic"):
        if (text := getattr(wanted, name)) is not None:
            plain_text(name, text)
    return wanted


def relationship_type(value: str) -> RelationshipType:
    if value not in RELATIONSHIP_TYPES:
        allowed = ", ".join(RELATIONSHIP_TYPES)
        raise InvalidInput(
            f"relationship_type must be one of: {allowed}", field="relationship_type", allowed=RELATIONSHIP_TYPES
        )
    return cast(RelationshipType, value)


def new_concept_id() -> str:
    """A UUID4 of decimal digits alone: 100 random bits, and a third fewer tokens in every answer that shows one
    (docs/decisions/concepts.md)."""
    digits = f"{secrets.randbelow(10**30):030d}"
    variant = secrets.choice("89")
    return f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-{variant}{digits[15:18]}-{digits[18:]}"


def new_relationship_id() -> str:
    return f"rel-{secrets.token_hex(6)}"
