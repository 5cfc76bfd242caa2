"""Concepts as CSV and JSON lines: one row or line a concept, the fields of the tools as names.

Relationships: in JSON lines a list `relationships` of {type, target, strength?, description?}; in CSV a column a type
(prerequisite, relates_to, includes) with ids or names of targets, separated by semicolons. CSV keeps no strengths.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from trivium.concepts.rules import RELATIONSHIP_TYPES
from trivium.concepts.transfer import Draft, Link
from trivium.errors import InvalidInput, UnreadableFile
from trivium.model.concept import CONTENT_FIELDS

_SEPARATOR = ";"
CSV_COLUMNS = ("concept_id", *CONTENT_FIELDS, *RELATIONSHIP_TYPES)


def read_csv(path: Path) -> list[Draft]:
    rows = csv.DictReader(io.StringIO(_text(path), newline=""))
    if "name" not in (rows.fieldnames or ()) or "explanation" not in (rows.fieldnames or ()):
        raise InvalidInput(f"{path.name} needs the columns name and explanation", field="path", allowed=CSV_COLUMNS)
    return [_from_row(row, path, number) for number, row in enumerate(rows, start=2)]


def read_jsonl(path: Path) -> list[Draft]:
    lines = enumerate(_text(path).split("\n"), start=1)
    return [_from_line(line, path, number) for number, line in lines if line.strip()]


def write_csv(path: Path, drafts: Iterable[Draft]) -> int:
    drafts = list(drafts)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, CSV_COLUMNS)
        writer.writeheader()
        for draft in drafts:
            links = {
                kind: _SEPARATOR.join(link.target for link in draft.links if link.relationship_type == kind)
                for kind in RELATIONSHIP_TYPES
            }
            writer.writerow({"concept_id": draft.concept_id, **draft.content, **links})
    return len(drafts)


def write_jsonl(path: Path, drafts: Iterable[Draft]) -> int:
    drafts = list(drafts)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for draft in drafts:
            row = {"concept_id": draft.concept_id, **draft.content, "relationships": list(map(_plain, draft.links))}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return len(drafts)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path} cannot be read as UTF-8 text: {error}") from error


def _from_row(row: Mapping[str, str | None], path: Path, number: int) -> Draft:
    links = [
        Link(kind, target.strip())
        for kind in RELATIONSHIP_TYPES
        for target in (row.get(kind) or "").split(_SEPARATOR)
        if target.strip()
    ]
    return _draft(row, links, f"{path.name}, line {number}")


def _from_line(line: str, path: Path, number: int) -> Draft:
    where = f"{path.name}, line {number}"
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"{where} is not JSON: {error}", field="path") from None
    if not isinstance(row, dict):
        raise InvalidInput(f"{where} is not an object", field="path")
    return _draft(row, list(_links(row, where)), where)


def _links(row: Mapping[str, Any], where: str) -> Iterator[Link]:
    for entry in row.get("relationships") or ():
        if not isinstance(entry, dict) or not entry.get("target"):
            raise InvalidInput(f"{where}: every relationship needs a type and a target", field="relationships")
        yield Link(
            str(entry.get("type", "relates_to")),
            str(entry["target"]),
            entry.get("strength", 1.0),
            entry.get("description"),
            entry.get("relationship_id"),
        )


def _draft(row: Mapping[str, Any], links: list[Link], where: str) -> Draft:
    content = {name: row[name] for name in CONTENT_FIELDS if row.get(name) not in (None, "")}
    for name in ("name", "explanation"):
        if name not in content:
            raise InvalidInput(f"{where}: {name} is missing", field=name)
    concept_id = row.get("concept_id")
    return Draft(content, str(concept_id) if concept_id else None, links=tuple(links))


def _plain(link: Link) -> dict[str, Any]:
    given = {
        "type": link.relationship_type,
        "target": link.target,
        "strength": link.strength,
        "description": link.description,
        "relationship_id": link.relationship_id,
    }
    return {name: value for name, value in given.items() if value is not None}
