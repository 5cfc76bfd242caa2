"""EventLog and RequestBook on SQLite."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any

from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.errors import Conflict
from trivium.model.concept import Pending, Recorded, body_of, compact_json, event_of

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


class SqliteEventLog:
    def __init__(self, tables: ConceptTables, clock: Clock = utc_now) -> None:
        self._tables, self._clock = tables, clock

    def exclusive(self) -> AbstractContextManager[object]:
        return self._tables.writing()

    def append(self, events: Sequence[Pending]) -> list[Recorded]:
        with self._tables.writing() as db:
            last = db.execute("SELECT position, at FROM concept_events ORDER BY position DESC LIMIT 1").fetchone()
            position, before = last or (0, "")
            # A clock that was set back must not reorder history.
            at = max(timestamp(self._clock()), before)
            recorded = [
                Recorded(position + number, stream, version, at, event)
                for number, (stream, version, event) in enumerate(events, start=1)
            ]
            try:
                db.executemany("INSERT INTO concept_events VALUES (?, ?, ?, ?, ?, ?)", map(_row, recorded))
            except sqlite3.IntegrityError as error:
                raise Conflict("another writer was faster; read the latest version", code="VERSION_CONFLICT") from error
        return recorded

    def head(self) -> int:
        with self._tables.reading() as db:
            return int(db.execute("SELECT COALESCE(MAX(position), 0) FROM concept_events").fetchone()[0])

    def read(self, after: int, limit: int) -> list[Recorded]:
        with self._tables.reading() as db:
            rows = db.execute(
                "SELECT position, stream, version, at, kind, body FROM concept_events"
                " WHERE position > ? ORDER BY position LIMIT ?",
                (after, limit),
            ).fetchall()
        return [_recorded(row) for row in rows]

    def stream(self, stream: str) -> list[Recorded]:
        with self._tables.reading() as db:
            rows = db.execute(
                "SELECT position, stream, version, at, kind, body FROM concept_events"
                " WHERE stream = ? ORDER BY version",
                (stream,),
            ).fetchall()
        return [_recorded(row) for row in rows]


class SqliteRequestBook:
    def __init__(self, tables: ConceptTables) -> None:
        self._tables = tables

    def answer(self, key: str) -> tuple[str, list[str]] | None:
        with self._tables.reading() as db:
            row = db.execute("SELECT request, ids FROM concept_requests WHERE idempotency_key = ?", (key,)).fetchone()
        return (row[0], json.loads(row[1])) if row else None

    def remember(self, key: str, request: str, ids: Sequence[str]) -> None:
        with self._tables.writing() as db:
            db.execute("INSERT INTO concept_requests VALUES (?, ?, ?)", (key, request, json.dumps(list(ids))))


def timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _row(recorded: Recorded) -> tuple[Any, ...]:
    event = recorded.event
    body = compact_json(body_of(event))
    return recorded.position, recorded.stream, recorded.version, type(event).__name__, recorded.at, body


def _recorded(row: tuple[Any, ...]) -> Recorded:
    return Recorded(row[0], row[1], row[2], row[3], event_of(row[4], json.loads(row[5])))
