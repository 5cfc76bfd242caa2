"""Which connection a thread uses for concepts: the writer's inside a write, a snapshot's inside a snapshot."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from trivium.backends.sqlite.concept_schema import SCHEMA
from trivium.ports.sql import SqlConnection, SqlDatabase

_ROOM_KIB = 128 * 1024


class ConceptTables:
    """Shared by everything that reads or writes concepts, so that a check made inside a write sees that write."""

    def __init__(self, database: SqlDatabase) -> None:
        self.database = database
        self._mine = threading.local()
        self._roomy = False  # touched by whoever holds the writer alone
        database.migrate("concepts", SCHEMA)

    @property
    def is_writing(self) -> bool:
        return getattr(self._mine, "writing", False)

    @contextmanager
    def writing(self) -> Iterator[SqlConnection]:
        if self.is_writing:
            yield self._mine.connection
            return
        before = getattr(self._mine, "connection", None)
        with self.database.transaction() as connection:
            self._mine.connection, self._mine.writing = connection, True
            try:
                yield connection
            finally:
                self._mine.connection, self._mine.writing = before, False
                self._shrink(connection)

    def make_room(self, connection: SqlConnection) -> None:
        """For a write of many rows, until it ends: pages that do not fit into SQLite's usual 2 MB are written out and
        read in again and again (a replay of a million events: 36 s, so 25 s)."""
        if not self._roomy:
            connection.execute(f"PRAGMA cache_size = -{_ROOM_KIB}")
            self._roomy = True

    def _shrink(self, connection: SqlConnection) -> None:
        if self._roomy:
            self._roomy = False
            connection.execute("PRAGMA cache_size = -2000")

    @contextmanager
    def reading(self) -> Iterator[SqlConnection]:
        connection = getattr(self._mine, "connection", None)
        if connection is not None:
            yield connection
            return
        with self.database.read() as borrowed:
            yield borrowed

    @contextmanager
    def snapshot(self) -> Iterator[SqlConnection]:
        """Inside a write or another snapshot, what that one sees."""
        if getattr(self._mine, "connection", None) is not None:
            yield self._mine.connection
            return
        with self.database.snapshot() as connection:
            self._mine.connection = connection
            try:
                yield connection
            finally:
                self._mine.connection = None
