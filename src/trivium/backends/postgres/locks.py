"""Locks between processes on any number of machines, kept by the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from trivium.backends.postgres.database import PostgresDatabase


class PostgresLock:
    """The same promises as a lock in a file; whoever dies lets go of it."""

    def __init__(self, database: PostgresDatabase, name: str) -> None:
        self._database, self._name = database, name

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Waits its turn."""
        with self._database.locked(self._name):
            yield

    @contextmanager
    def try_hold(self) -> Iterator[bool]:
        """Yields False at once where somebody else has it."""
        with self._database.locked(self._name, wait_s=0) as mine:
            yield mine
