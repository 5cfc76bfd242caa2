"""KeyStore on SQLite."""

import secrets
from collections.abc import Sequence
from typing import Any

from trivium.ports.keys import StoredKey
from trivium.ports.sql import SqlDatabase

SCHEMA = (
    """
CREATE TABLE api_keys (
  key_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  digest BLOB NOT NULL,
  last_four TEXT NOT NULL,
  created_at REAL NOT NULL,
  expires_at REAL,
  revoked_at REAL
) WITHOUT ROWID;
CREATE TABLE secrets (purpose TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
""",
)
_COLUMNS = "key_id, name, scopes, digest, last_four, created_at, expires_at, revoked_at"


class SqliteKeyStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("keys", SCHEMA)

    def add(self, key: StoredKey) -> None:
        with self._database.transaction() as db:
            db.execute(
                f"INSERT INTO api_keys ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key.key_id,
                    key.name,
                    " ".join(key.scopes),
                    key.digest,
                    key.last_four,
                    key.created_at,
                    key.expires_at,
                    key.revoked_at,
                ),
            )

    def get(self, key_id: str) -> StoredKey | None:
        with self._database.read() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM api_keys WHERE key_id = ?", (key_id,)).fetchone()
        return _key(row) if row else None

    def all(self) -> Sequence[StoredKey]:
        with self._database.read() as db:
            rows = db.execute(f"SELECT {_COLUMNS} FROM api_keys ORDER BY created_at, key_id").fetchall()
        return [_key(row) for row in rows]

    def revoke(self, key_id: str, at: float) -> bool:
        with self._database.transaction() as db:
            return bool(
                db.execute(
                    "UPDATE api_keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL", (at, key_id)
                ).rowcount
            )

    def secret(self, purpose: str) -> bytes:
        with self._database.read() as db:
            row = db.execute("SELECT value FROM secrets WHERE purpose = ?", (purpose,)).fetchone()
        if row:
            return bytes(row[0])
        with self._database.transaction() as db:
            # Another process may have been first: whoever was, both read the same bytes.
            db.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", (purpose, secrets.token_bytes(32)))
            return bytes(db.execute("SELECT value FROM secrets WHERE purpose = ?", (purpose,)).fetchone()[0])


def _key(row: Sequence[Any]) -> StoredKey:
    return StoredKey(row[0], row[1], tuple(row[2].split()), bytes(row[3]), row[4], row[5], row[6], row[7])
