"""The databases that contracts of SQL stores run on: `open_database("sqlite" or "postgresql", folder)`.

Whoever opens the same folder again sees the same data, on PostgreSQL through a schema that bears its name.
"""

import hashlib
from pathlib import Path

from servers import server_url
from servers.postgresql import own_schema, with_bm25

from trivium.backends.sqlite.database import Database
from trivium.ports.sql import SqlDatabase

KINDS = ("sqlite", "postgresql")


def open_database(kind: str, folder: Path, *, takes_turns: bool = True) -> SqlDatabase:
    if kind == "sqlite":
        return Database(folder / "trivium.db", durable=False)
    from trivium.backends.postgres.database import PostgresDatabase

    writer = "write" if takes_turns else ""
    return PostgresDatabase(postgresql_url(folder), writer=writer, durable=False)


def postgresql_url(folder: Path, *, bm25: bool = False) -> str:
    """Skips the test where no server runs, or with `bm25` none that has pg_textsearch."""
    url = server_url("postgresql")
    name = "t" + hashlib.blake2b(str(folder).encode(), digest_size=8).hexdigest()
    return own_schema(with_bm25(url) if bm25 else url, name)
