"""JoinStore on SQLite. Edges between repositories stand among all others, under an owner of their own."""

import json
import time
from collections.abc import Iterable

from trivium.backends.sqlite.code_repositories import put_edges
from trivium.backends.sqlite.code_schema import SCHEMA
from trivium.model.code import Edge, package_id
from trivium.ports.code_joins import JoinState
from trivium.ports.sql import SqlDatabase

_PACKAGE = package_id("")


class SqliteJoins:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("code", SCHEMA)

    def states(self) -> dict[str, JoinState]:
        with self._database.read() as db:
            rows = db.execute("SELECT repository, digest, published, state FROM code_joins ORDER BY repository")
            return {
                name: JoinState(digest, tuple((a, b, bool(c)) for a, b, c in json.loads(published)), state)
                for name, digest, published, state in rows
            }

    def imported(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        query = (
            "SELECT DISTINCT repository, target FROM code_edges"
            " WHERE target >= ? AND target < ? AND relationship = 'imports'"
        )
        with self._database.read() as db:
            for name, target in db.execute(query, (_PACKAGE, _PACKAGE[:-1] + ";")):
                found.setdefault(name, set()).add(target.removeprefix(_PACKAGE))
        return {name: frozenset(packages) for name, packages in found.items()}

    def note(self, repository: str, state: JoinState) -> None:
        with self._database.transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO code_joins VALUES (?, ?, ?, ?)",
                (repository, state.digest, json.dumps(state.published), state.state),
            )

    def put(self, repository: str, state: JoinState, edges: Iterable[Edge]) -> None:
        owner = joins_of(repository)
        with self._database.transaction() as db:
            self.note(repository, state)
            db.execute("DELETE FROM code_edges WHERE repository = ?", (owner,))
            put_edges(db, owner, edges)
            db.execute("UPDATE code_graphs SET revision = ? WHERE repository = ?", (time.time_ns(), repository))


def joins_of(repository: str) -> str:
    """The owner of the edges between a repository and others: no repository's name starts like this."""
    return f"@{repository}"
