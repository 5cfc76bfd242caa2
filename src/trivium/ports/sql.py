"""What the stores that speak SQL need of a database: SQLite in a file and PostgreSQL both give it.

The stores write the SQL of SQLite, with `?` for a value and `json_each(?)` for a list of them; a database that speaks
another dialect translates. Errors of a statement that breaks a rule of the tables are `sqlite3.IntegrityError`s.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class SqlRows(Protocol):
    """What a statement answered."""

    @property
    def rowcount(self) -> int: ...
    @property
    def lastrowid(self) -> int | None: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class SqlConnection(Protocol):
    def execute(self, sql: str, parameters: Any = ..., /) -> SqlRows: ...
    def executemany(self, sql: str, parameters: Any, /) -> object: ...


class SqlDatabase(Protocol):
    """Thread-safe."""

    def migrate(self, part: str, scripts: Sequence[str]) -> None:
        """Brings `part`'s tables to `len(scripts)`; each script runs once, in order, in one transaction. A Conflict
        where the data is newer than that."""

    def transaction(self) -> AbstractContextManager[SqlConnection]:
        """All or nothing, durable when it returns, one at a time in all processes. Joins the transaction this thread is
        already in."""

    def read(self) -> AbstractContextManager[SqlConnection]:
        """A connection that cannot write. One statement sees one state; use `snapshot` for several."""

    def snapshot(self) -> AbstractContextManager[SqlConnection]:
        """Several statements that see one state."""

    def close(self) -> None: ...


class SqlTables(Protocol):
    """What a copy of everything needs to know about the tables; inside the caller's transaction."""

    def names(self, db: SqlConnection) -> list[str]:
        """Every table of ours, parents before their children."""

    def columns(self, db: SqlConnection, table: str) -> list[str]:
        """In the order they were declared."""

    def key(self, db: SqlConnection, table: str) -> list[str]:
        """The columns that tell its rows apart."""

    def sequences(self, db: SqlConnection) -> dict[str, int]:
        """By table: the last id that was given away, for those whose ids are never given again."""

    def filling(self, db: SqlConnection, sequences: dict[str, int] | None) -> AbstractContextManager[None]:
        """While it lasts, triggers rest and rows may come before those they refer to. Afterwards, no id that is there
        or in `sequences` is given again; None where more rows will come."""
