"""ScipStore on SQL."""

from collections.abc import Mapping

from trivium.backends.sqlite.code_schema import SCHEMA
from trivium.ports.sql import SqlDatabase

SCIP_SCHEMA = (
    """
CREATE TABLE code_scip (
  repository TEXT NOT NULL REFERENCES code_repositories ON DELETE CASCADE,
  path TEXT NOT NULL,
  blob_hash TEXT NOT NULL,
  document BLOB NOT NULL,
  PRIMARY KEY (repository, path)
) WITHOUT ROWID;
""",
)


class SqliteScip:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("code", SCHEMA)
        database.migrate("scip", SCIP_SCHEMA)

    def get(self, repository: str) -> dict[str, tuple[str, bytes]]:
        query = "SELECT path, blob_hash, document FROM code_scip WHERE repository = ? ORDER BY path"
        with self._database.read() as db:
            return {path: (blob, bytes(document)) for path, blob, document in db.execute(query, (repository,))}

    def put(self, repository: str, documents: Mapping[str, tuple[str, bytes]]) -> None:
        rows = [(repository, path, blob, document) for path, (blob, document) in documents.items()]
        with self._database.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO code_scip VALUES (?, ?, ?, ?)", rows)
