"""The YAML (`---`) or TOML (`+++`) block on top of a Markdown file, as metadata."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from trivium.documents.read.dates import iso_date
from trivium.model.chunk import Metadata, Scalar

_FENCED = re.compile(
    r"\A(---|\+\+\+)[ \t]*\r?\n(.*?)(?:\r?\n)?^(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
# Both bound the time a maliciously nested block can take. The C loader would be faster but crashes on deep nesting.
_MAX_CHARACTERS = 16 * 1024
_MAX_BRACKETS = 500
_MAX_ITEMS = 200
_DATE_KEYS = ("updated", "last_updated", "lastmod", "last_modified", "modified", "date", "published", "created")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    end: int = 0  # where the body starts
    title: str = ""
    date: str | None = None
    metadata: Metadata = field(default_factory=dict)


def front_matter(text: str) -> FrontMatter:
    """Something that only looks like front matter, or is broken, stays part of the body."""
    match = _FENCED.match(text[:_MAX_CHARACTERS])
    values = _parse(match[1], match[2]) if match else None
    if match is None or values is None:
        return FrontMatter()
    title = values.get("title")
    return FrontMatter(match.end(), title.strip() if isinstance(title, str) else "", date_of(values), flat(values))


def date_of(values: Mapping[str, Any]) -> str | None:
    """The latest word on a document's age wins: an update before a first publication."""
    by_key = {str(key).lower().replace("-", "_"): value for key, value in values.items()}
    dates = (iso_date(by_key[key]) for key in _DATE_KEYS if key in by_key)
    return next((date for date in dates if date), None)


def flat(values: Mapping[str, Any]) -> dict[str, Scalar | list[Scalar]]:
    """Scalars and lists of scalars; what is nested deeper has no place in a filter and is left out."""
    kept: dict[str, Scalar | list[Scalar]] = {}
    for key, value in list(values.items())[:_MAX_ITEMS]:
        if isinstance(value, list):
            items = [item for item in map(_scalar, value[:_MAX_ITEMS]) if item is not None]
            if items:
                kept[str(key)] = items
        elif (scalar := _scalar(value)) is not None:
            kept[str(key)] = scalar
    return kept


def _parse(fence: str, source: str) -> Mapping[str, Any] | None:
    if source.count("[") + source.count("{") > _MAX_BRACKETS:
        return None
    try:
        values = tomllib.loads(source) if fence == "+++" else yaml.safe_load(source)
    except (tomllib.TOMLDecodeError, yaml.YAMLError, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _scalar(value: object) -> Scalar | None:
    return value if isinstance(value, str | int | float | bool) else iso_date(value)
