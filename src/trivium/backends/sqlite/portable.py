"""Everything that is known, as open JSON lines, out of a store and into an empty one.

A line is one row: `{"type": "chunks", "chunk_id": 12, "text": …}`; the first line says the format and what each part's
tables look like. Bytes are `{"base64": …}`. Vectors are included, so nothing has to be embedded again. Queues, logs of
changes and keys stay behind: the first two are rebuilt, and a secret has no place in a file that is passed on.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from trivium.errors import Conflict, InvalidInput
from trivium.ports.sql import SqlConnection, SqlDatabase, SqlTables

FORMAT = "trivium-export"
VERSION = 1
PAGE = 500
SECRETS = ("api_keys", "secrets")
LOGS = ("audit", "buckets", "conduct", "counters")
REBUILT = ("changes", "embedding_queue", "job_leases")
PARTS_LEFT_OUT = ("keys", "audit", "limits", "counters", "limits on PostgreSQL", "jobs", "moves", "vectors", "keywords")
LEFT_OUT = ("migrations", "moves", *SECRETS, *LOGS, *REBUILT)


def export_lines(database: SqlDatabase, known: SqlTables, *, vectors: bool = True) -> Iterator[str]:
    """The lines of an export, from one snapshot, whatever is written meanwhile."""
    with database.snapshot() as db:
        tables = [name for name in exported(db, known) if vectors or name not in ("embeddings", "passages")]
        head = {
            "type": "header",
            "format": FORMAT,
            "version": VERSION,
            "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "parts": parts_of(db),
            "rows": {name: db.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in tables},
            # an id that was given away once is never given again, not even in the copy
            "sequences": known.sequences(db),
        }
        yield json.dumps(head, ensure_ascii=False)
        for name in tables:
            for rows in pages(db, known, name):
                yield from (json.dumps({"type": name} | row, ensure_ascii=False) for row in rows)


def import_lines(database: SqlDatabase, known: SqlTables, lines: Iterable[str]) -> dict[str, int]:
    """Reads an export into an empty store, all or nothing; answers the rows of each table."""
    counts: dict[str, int] = {}
    with database.transaction() as db:
        refuse_if_used(db)
        rows = enumerate(lines, start=1)
        header = _header(db, next(rows, (0, ""))[1])
        with known.filling(db, header["sequences"]):  # what triggers would count is among the rows
            columns = {name: set(known.columns(db, name)) for name in exported(db, known)}
            for name in header["rows"].keys() & columns.keys():
                db.execute(f'DELETE FROM "{name}"')  # what opening a store puts there (models and the like) gives way
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
        announce(db)
    return counts


def parts_of(db: SqlConnection) -> dict[str, int]:
    """The versions of the parts whose tables are in an export."""
    rows = db.execute("SELECT part, version FROM migrations ORDER BY part").fetchall()
    return {part: version for part, version in rows if part not in PARTS_LEFT_OUT}


def exported(db: SqlConnection, known: SqlTables) -> list[str]:
    """The tables of an export, parents first."""
    return [name for name in known.names(db) if name not in LEFT_OUT]


def pages(
    db: SqlConnection, known: SqlTables, table: str, after: Sequence[Any] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Everything in a table by its key, a page at a time, so that no table has to fit into memory; values as in an
    export. `after` is the key of a row to go on behind."""
    names, key = known.columns(db, table), known.key(db, table)
    columns, order = ", ".join(f'"{name}"' for name in names), ", ".join(f'"{name}"' for name in key)
    marks = ", ".join("?" for _ in key)
    while True:
        behind = f" WHERE ({order}) > ({marks})" if after is not None else ""
        rows = db.execute(
            f'SELECT {columns} FROM "{table}"{behind} ORDER BY {order} LIMIT {PAGE}', tuple(after or ())
        ).fetchall()
        if rows:
            yield [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
        if len(rows) < PAGE:
            return
        after = [rows[-1][names.index(name)] for name in key]


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def raw(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


def refuse_if_used(db: SqlConnection) -> None:
    if db.execute("SELECT 1 FROM documents LIMIT 1").fetchone():
        raise Conflict(
            "this data folder is not empty; an import would mix two sets of ids",
            hint="import into a new folder: trivium --data NEW-FOLDER import FILE",
        )


def _header(db: SqlConnection, line: str) -> dict[str, Any]:
    header = _parse(line, 1)
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise InvalidInput("this is not a Trivium export of a version known here", field="file")
    known = parts_of(db)
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


def _insert(db: SqlConnection, columns: dict[str, set[str]], line: str, number: int) -> str:
    row = _parse(line, number)
    name = str(row.pop("type"))
    if name not in columns:
        raise InvalidInput(f"line {number}: unknown type {name!r}; nothing was imported", field="file")
    unknown = sorted(row.keys() - columns[name])
    if unknown:
        raise InvalidInput(f"line {number}: {name} has no {unknown}; nothing was imported", field="file")
    names = ", ".join(f'"{column}"' for column in row)
    marks = ", ".join("?" for _ in row)
    db.execute(f'INSERT INTO "{name}" ({names}) VALUES ({marks})', [raw(value) for value in row.values()])
    return name


def announce(db: SqlConnection) -> None:
    """Lets the indexes of this store find everything that came, and queues what has no vectors."""
    db.execute("INSERT INTO changes (kind, chunk_id) SELECT 'text', chunk_id FROM chunks ORDER BY chunk_id")
    db.execute("INSERT INTO changes (kind, chunk_id) SELECT 'vectors', chunk_id FROM passages WHERE number = 0")
    db.execute(
        "INSERT OR IGNORE INTO embedding_queue SELECT model_id, chunk_id, 0 FROM models, chunks WHERE tracked = 1"
        " AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.chunk_id = chunks.chunk_id AND p.model_id = models.model_id)"
    )
