"""Everything that is known, as open JSON lines, out of a store and into an empty one.

A line is one row: `{"type": "chunks", "chunk_id": 12, "text": …}`; the first line says the format and what each part's
tables look like. Bytes are `{"base64": …}`. Vectors are included, so nothing has to be embedded again. Queues, logs of
changes and keys stay behind: the first two are rebuilt, and a secret has no place in a file that is passed on.
"""

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from trivium.backends.sqlite.database import Database
from trivium.errors import Conflict, InvalidInput

FORMAT = "trivium-export"
VERSION = 1
LEFT_OUT = ("migrations", "changes", "embedding_queue", "keys", "audit", "limits", "sqlite_sequence")


def export_lines(database: Database, *, vectors: bool = True) -> Iterator[str]:
    """The lines of an export, from one snapshot, whatever is written meanwhile."""
    with database.snapshot() as db:
        tables = [name for name in _tables(db) if vectors or name not in ("embeddings", "passages")]
        head = {
            "type": "header",
            "format": FORMAT,
            "version": VERSION,
            "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "parts": dict(db.execute("SELECT part, version FROM migrations ORDER BY part")),
            "rows": {name: db.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in tables},
            # an id that was given away once is never given again, not even in the copy
            "sequences": dict(db.execute("SELECT name, seq FROM sqlite_sequence")),
        }
        yield json.dumps(head, ensure_ascii=False)
        for name in tables:
            cursor = db.execute(f'SELECT * FROM "{name}"')
            columns = [column[0] for column in cursor.description]
            for row in cursor:
                yield json.dumps({"type": name} | dict(zip(columns, map(_plain, row), strict=True)), ensure_ascii=False)


def import_lines(database: Database, lines: Iterable[str]) -> dict[str, int]:
    """Reads an export into an empty store, all or nothing; answers the rows of each table."""
    counts: dict[str, int] = {}
    with database.transaction() as db:
        db.execute("PRAGMA defer_foreign_keys = ON")
        _refuse_if_used(db)
        triggers = _without_triggers(db)  # what they would count is among the rows
        rows = enumerate(lines, start=1)
        header = _header(db, next(rows, (0, ""))[1])
        columns = {name: _columns(db, name) for name in _tables(db)}
        for name in header["rows"].keys() & columns.keys():
            db.execute(f'DELETE FROM "{name}"')  # rows that opening a store puts there (models and the like) give way
        for number, line in rows:
            if line.strip():
                name = _insert(db, columns, line, number)
                counts[name] = counts.get(name, 0) + 1
        missing = {name: n for name, n in header["rows"].items() if counts.get(name, 0) != n}
        if missing:
            raise InvalidInput(
                f"the export is incomplete: {missing} rows were announced, {counts} came; nothing was imported",
                field="file",
                hint="make the export again",
            )
        _announce(db, header["sequences"])
        for statement in triggers:
            db.execute(statement)
    return counts


def _tables(db: sqlite3.Connection) -> list[str]:
    """Parents first, as they were created."""
    rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    return [name for (name,) in rows if name not in LEFT_OUT and not name.startswith("sqlite_")]


def _without_triggers(db: sqlite3.Connection) -> list[str]:
    """Takes the triggers away, inside the transaction; answers the statements that bring them back."""
    rows = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid").fetchall()
    for name, _ in rows:
        db.execute(f'DROP TRIGGER "{name}"')
    return [sql for _, sql in rows]


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _raw(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


def _refuse_if_used(db: sqlite3.Connection) -> None:
    if db.execute("SELECT 1 FROM documents LIMIT 1").fetchone():
        raise Conflict(
            "this data folder is not empty; an import would mix two sets of ids",
            hint="import into a new folder: trivium --data NEW-FOLDER import FILE",
        )


def _header(db: sqlite3.Connection, line: str) -> dict[str, Any]:
    header = _parse(line, 1)
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise InvalidInput("this is not a Trivium export of a version known here", field="file")
    known = dict(db.execute("SELECT part, version FROM migrations"))
    newer = {part: v for part, v in header["parts"].items() if v > known.get(part, 0)}
    if newer:
        raise Conflict(f"the export was made by a newer Trivium ({newer})", hint="update Trivium, then import again")
    return header


def _parse(line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"line {number} is not JSON: {error}; nothing was imported", field="file") from error
    if not isinstance(row, dict) or "type" not in row:
        raise InvalidInput(f"line {number} has no type; nothing was imported", field="file")
    return row


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    return {column[1] for column in db.execute(f'PRAGMA table_info("{table}")')}


def _insert(db: sqlite3.Connection, columns: dict[str, set[str]], line: str, number: int) -> str:
    row = _parse(line, number)
    name = str(row.pop("type"))
    if name not in columns:
        raise InvalidInput(f"line {number}: unknown type {name!r}; nothing was imported", field="file")
    unknown = sorted(row.keys() - columns[name])
    if unknown:
        raise InvalidInput(f"line {number}: {name} has no {unknown}; nothing was imported", field="file")
    names = ", ".join(f'"{column}"' for column in row)
    marks = ", ".join("?" for _ in row)
    db.execute(f'INSERT INTO "{name}" ({names}) VALUES ({marks})', [_raw(value) for value in row.values()])
    return name


def _announce(db: sqlite3.Connection, sequences: dict[str, int]) -> None:
    """Lets the indexes of this store find everything that came, and queues what has no vectors."""
    for name, seq in sequences.items():
        if name not in LEFT_OUT:
            db.execute("UPDATE sqlite_sequence SET seq = MAX(seq, ?) WHERE name = ?", (seq, name))
            db.execute(
                "INSERT INTO sqlite_sequence SELECT ?, ?"
                " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)",
                (name, seq, name),
            )
    db.execute("INSERT INTO changes (kind, chunk_id) SELECT 'text', chunk_id FROM chunks ORDER BY chunk_id")
    db.execute("INSERT INTO changes (kind, chunk_id) SELECT 'vectors', chunk_id FROM passages WHERE number = 0")
    db.execute(
        "INSERT OR IGNORE INTO embedding_queue SELECT model_id, chunk_id, 0 FROM models, chunks WHERE tracked"
        " AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.chunk_id = chunks.chunk_id AND p.model_id = models.model_id)"
    )
