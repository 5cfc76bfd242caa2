"""JSON and JSON lines: one readable block a record, each value on a line under its dotted name."""

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from trivium.documents.read.blocks import TextBuilder
from trivium.documents.read.decode import decode
from trivium.documents.read.front_matter import date_of
from trivium.documents.read.reader import RawFile, Reader, Unreadable
from trivium.model.chunk import ParsedDocument

_LINE_FORMATS = (".jsonl", ".ndjson")


def read_records(file: RawFile) -> ParsedDocument:
    text = decode(file.data)
    if not text.strip():
        return ParsedDocument("", ())
    if PurePath(file.name).suffix.lower() in _LINE_FORMATS:
        return _document(list(_lines(text)))
    value = _parsed(text)
    if isinstance(value, list):
        return _document(value)
    records = _sections(value) if isinstance(value, dict) else [value]
    top = value if isinstance(value, dict) else {}
    title = top.get("title") or top.get("name")
    return _document(records, title if isinstance(title, str) else "", date_of(top))


def _document(records: list[Any], title: str = "", date: str | None = None) -> ParsedDocument:
    builder = TextBuilder()
    for record in records:
        # As code: its lines belong together and are cut, if at all, between lines.
        builder.add("code", "\n".join(_readable(record)))
    return ParsedDocument(builder.text, builder.blocks, title, date, {"records": len(records)})


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})") from error


def _lines(text: str) -> Iterator[Any]:
    """A broken line stays as it stands, so that a log with one torn record is still found; all broken is an error."""
    lines = [line for line in text.split("\n") if line.strip()]
    sound = 0
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
            sound += 1
        except (json.JSONDecodeError, RecursionError):
            if number == len(lines) and not sound:
                raise Unreadable("not JSON lines: no line of it is valid JSON") from None
            yield line


def _sections(value: dict[str, Any]) -> list[Any]:
    """An object's plain values together, then each nested value for itself, a list of records one by one."""
    plain = {key: item for key, item in value.items() if not isinstance(item, dict | list)}
    parts: list[Any] = [plain] if plain else []
    for key, item in value.items():
        if isinstance(item, list) and any(isinstance(entry, dict) for entry in item):
            parts.extend({key: entry} for entry in item)
        elif isinstance(item, dict | list):
            parts.append({key: item})
    return parts


def _readable(record: Any) -> Iterator[str]:
    """Depth first without recursion. Lists of plain values stay on one line."""
    pending: list[tuple[str, Any]] = [("", record)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, dict):
            pending.extend((f"{name}.{key}" if name else str(key), item) for key, item in reversed(value.items()))
        elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
            pending.extend((name, item) for item in reversed(value))
        elif value not in (None, "", []):
            yield f"{name}: {_shown(value)}" if name else _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(item) for item in value)
    return value.strip() if isinstance(value, str) else json.dumps(value)


READER = Reader(suffixes=(".json", *_LINE_FORMATS), read=read_records)
