"""ConceptCatalogue on SQLite.

A selection is answered by walking from the newest concept down where it is met often, and from the index that knows it
best where it is met seldom; the counters of the taxonomy tell which.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

from trivium.backends.sqlite.concept_names import NameFinder
from trivium.backends.sqlite.concept_rows import CONCEPT, concept_of
from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.model.concept import Concept
from trivium.ports.concept_catalogue import Order, Place, Selection
from trivium.ports.sql import SqlConnection

SELDOM = 5_000  # rows: below, collecting and sorting them is cheaper than walking past the others
_BATCH = 200

_IN_PLACE = (
    " FROM concept_counts p CROSS JOIN concepts c INDEXED BY concepts_by_place"
    " ON c.area = p.area AND c.topic = p.topic AND c.subtopic = p.subtopic WHERE c.deleted_at IS NULL"
)


class SqliteConceptCatalogue:
    def __init__(self, tables: ConceptTables) -> None:
        self._tables = tables
        self._names = NameFinder()

    def snapshot(self) -> AbstractContextManager[object]:
        return self._tables.snapshot()

    def get(self, concept_ids: Sequence[str]) -> list[Concept]:
        with self._tables.reading() as db:
            rows = db.execute(
                f"SELECT {CONCEPT} FROM concepts WHERE concept_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(concept_ids)),),
            )
            found = {row[0]: concept_of(row) for row in rows}
        return [found[i] for i in concept_ids if i in found]

    def by_key(self, keys: Sequence[int]) -> dict[int, Concept]:
        with self._tables.reading() as db:
            return {concept.key: concept for concept in _rows(db, keys)}

    def select(self, wanted: Selection, order: Order, limit: int) -> list[Concept]:
        with self._tables.snapshot() as db:
            if order == "created":
                keys = list(islice(self._newest(db, wanted, limit), limit))
                found = {concept.key: concept for concept in _rows(db, keys)}
                return [found[key] for key in keys]
            conditions, arguments = conditions_of(db, wanted)
            ordering = {
                "modified": "changed DESC",
                "certainty_asc": "certainty_score, key",
                "certainty_desc": "certainty_score DESC, key DESC",
            }[order]
            rows = db.execute(
                f"SELECT {CONCEPT} FROM concepts c WHERE {conditions} ORDER BY {ordering} LIMIT ?", (*arguments, limit)
            )
            return [concept_of(row) for row in rows]

    def places(self) -> list[Place]:
        with self._tables.reading() as db:
            rows = db.execute("SELECT area, topic, subtopic, concept_count FROM concept_counts").fetchall()
        return [Place(area or None, topic or None, subtopic or None, count) for area, topic, subtopic, count in rows]

    def _newest(self, db: SqlConnection, wanted: Selection, limit: int) -> Iterable[int]:
        if wanted.name is None:
            return _newest(db, wanted, limit)
        if self._tables.is_writing:  # the finder follows what is committed
            return _scanned(db, wanted)
        return _filtered(db, self._names.containing(db, wanted.name), wanted)


def _rows(db: SqlConnection, keys: Sequence[int]) -> Iterator[Concept]:
    rows = db.execute(
        f"SELECT {CONCEPT} FROM concepts WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),)
    )
    return (concept_of(row) for row in rows)


def _newest(db: SqlConnection, wanted: Selection, limit: int) -> list[int]:
    conditions, arguments = conditions_of(db, wanted)
    source = " FROM concepts c NOT INDEXED WHERE " + conditions
    if wanted.places and _placed(db, wanted) < SELDOM:
        source, arguments = _in_place(db, wanted)
    elif _has_certainty(wanted) and _certain(db, wanted) < SELDOM:
        source = " FROM concepts c INDEXED BY concepts_by_certainty WHERE c.certainty_score IS NOT NULL AND "
        source += conditions
    rows = db.execute(f"SELECT c.key{source} ORDER BY c.key DESC LIMIT ?", (*arguments, limit))
    return [row[0] for row in rows]


def _filtered(db: SqlConnection, keys: Iterator[int], wanted: Selection) -> Iterator[int]:
    """The keys that meet the rest of the selection."""
    if wanted.places and _placed(db, wanted) < SELDOM:
        source, arguments = _in_place(db, wanted)
        allowed = {row[0] for row in db.execute(f"SELECT c.key{source}", arguments)}
        yield from (key for key in keys if key in allowed)
        return
    conditions, arguments = conditions_of(db, wanted)
    while batch := list(islice(keys, _BATCH)):
        rows = db.execute(
            f"SELECT c.key FROM json_each(?) CROSS JOIN concepts c ON c.key = value WHERE {conditions}"
            " ORDER BY c.key DESC",
            (json.dumps(batch), *arguments),
        )
        yield from (row[0] for row in rows.fetchall())


def _scanned(db: SqlConnection, wanted: Selection) -> Iterator[int]:
    conditions, arguments = conditions_of(db, wanted)
    needle = (wanted.name or "").casefold()
    rows = db.execute(f"SELECT c.key, c.name FROM concepts c WHERE {conditions} ORDER BY c.key DESC", arguments)
    return (key for key, name in rows.fetchall() if needle in name.casefold())


def conditions_of(db: SqlConnection, wanted: Selection) -> tuple[str, list[Any]]:
    """Everything but the name."""
    parts, arguments = ["c.deleted_at IS NULL"], list[Any]()
    for column, value in wanted.places.items():
        parts.append(f"c.{column} = ?")
        arguments.append(value)
    _bound(wanted, parts, arguments)
    if wanted.modified_since is not None:
        parts.append("c.changed >= ?")
        arguments.append(_first_since(db, wanted.modified_since))
    return " AND ".join(parts), arguments


def _bound(wanted: Selection, parts: list[str], arguments: list[Any]) -> None:
    if _has_certainty(wanted):
        low = 0.0 if wanted.min_certainty is None else wanted.min_certainty
        high = 100.0 if wanted.max_certainty is None else wanted.max_certainty
        parts.append("c.certainty_score BETWEEN ? AND ?")
        arguments += [low, high]


def _in_place(db: SqlConnection, wanted: Selection) -> tuple[str, list[Any]]:
    parts, arguments = [""], list[Any]()
    for column, value in wanted.places.items():
        parts.append(f"p.{column} = ?")
        arguments.append(value)
    _bound(wanted, parts, arguments)
    if wanted.modified_since is not None:
        parts.append("c.changed >= ?")
        arguments.append(_first_since(db, wanted.modified_since))
    return _IN_PLACE + " AND ".join(parts), arguments


def _placed(db: SqlConnection, wanted: Selection) -> int:
    conditions = " AND ".join(f"{column} = ?" for column in wanted.places)
    row = db.execute(
        f"SELECT COALESCE(SUM(concept_count), 0) FROM concept_counts WHERE {conditions}", list(wanted.places.values())
    ).fetchone()
    return int(row[0])


def _certain(db: SqlConnection, wanted: Selection) -> int:
    """How many concepts are within the bounds, counted no further than matters."""
    parts, arguments = ["c.deleted_at IS NULL", "c.certainty_score IS NOT NULL"], list[Any]()
    _bound(wanted, parts, arguments)
    row = db.execute(
        "SELECT COUNT(*) FROM (SELECT 1 FROM concepts c INDEXED BY concepts_by_certainty WHERE"
        f" {' AND '.join(parts)} LIMIT {SELDOM})",
        arguments,
    ).fetchone()
    return int(row[0])


def _has_certainty(wanted: Selection) -> bool:
    return wanted.min_certainty is not None or wanted.max_certainty is not None


def _first_since(db: SqlConnection, moment: str) -> int:
    """The first position at or after a moment: time never falls in the log, so it can be halved."""
    low, high = 1, db.execute("SELECT COALESCE(MAX(position), 0) FROM concept_events").fetchone()[0] + 1
    while low < high:
        middle = (low + high) // 2
        at = db.execute("SELECT at FROM concept_events WHERE position = ?", (middle,)).fetchone()[0]
        low, high = (middle + 1, high) if at < moment else (low, middle)
    return low
