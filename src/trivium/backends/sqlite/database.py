"""The SQLite file that is the only truth: one writer, pooled readers, migrations, and the border for driver errors.

Every part of the store (documents, concepts, keys …) brings its own tables with `migrate`; nothing here knows them.
"""

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from trivium.errors import BackendUnavailable, Conflict

BUSY_TIMEOUT_S = 30.0


class Database:
    """Thread-safe. Writes go through one connection and one lock; reads borrow a connection and see the last commit."""

    def __init__(self, path: Path, *, readonly: bool = False, durable: bool = True) -> None:
        """`durable=False` gives up the last moments before a power cut (never before a crash) for cheap commits."""
        self._path = path
        self._readonly = readonly
        self._synchronous = "FULL" if durable else "NORMAL"
        self._write_lock = threading.RLock()
        self._readers: deque[sqlite3.Connection] = deque()
        with _border(path):
            if not readonly:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = self._connect(query_only=readonly)

    @property
    def path(self) -> Path:
        return self._path

    def migrate(self, part: str, scripts: Sequence[str]) -> None:
        """Brings `part`'s tables to `len(scripts)`; each script runs once, in order, in one transaction."""
        with self.transaction() as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS migrations (part TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID"
            )
            row = db.execute("SELECT version FROM migrations WHERE part = ?", (part,)).fetchone()
            done = row[0] if row else 0
            if done > len(scripts):
                raise Conflict(
                    f"the data folder was written by a newer Trivium: {part} {done}, known here: {len(scripts)}",
                    hint="update Trivium, or choose another folder with --data",
                )
            for script in scripts[done:]:
                for statement in _statements(script):
                    db.execute(statement)
            if done < len(scripts):
                db.execute("INSERT OR REPLACE INTO migrations VALUES (?, ?)", (part, len(scripts)))

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, durable when it returns. Joins the transaction this thread is already in."""
        with self._write_lock, _border(self._path):
            if self._writer.in_transaction:
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:  # a full disk may have rolled back already
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot write. One statement sees one state; use `snapshot` for several."""
        with _border(self._path):
            try:
                connection = self._readers.pop()
            except IndexError:
                connection = self._connect(query_only=True)
            try:
                yield connection
            finally:
                self._readers.append(connection)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Several statements that see one state."""
        with self.read() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")

    def check(self) -> list[str]:
        """What SQLite finds wrong with the file; empty when it is sound."""
        with self.read() as db:
            rows = [row[0] for row in db.execute("PRAGMA quick_check(20)")]
        return [] if rows == ["ok"] else rows

    def close(self) -> None:
        with self._write_lock:
            while self._readers:
                self._readers.pop().close()
            self._writer.close()

    def _connect(self, *, query_only: bool) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        if not self._readonly:
            connection.execute("PRAGMA journal_mode = WAL")
        # FULL: what was acknowledged survives a power cut, not only a crash of the process.
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA query_only = {int(query_only)}")
        return connection


def _statements(script: str) -> Iterator[str]:
    """Splits a script without `executescript`, which would commit behind our back."""
    pending = ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


@contextmanager
def _border(path: Path) -> Iterator[None]:
    """The one place where SQLite's errors become ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text:
            raise BackendUnavailable(
                f"the disk that holds {path.parent} is full; nothing of this step was written",
                hint="free some space, or move the folder and point --data at it",
            ) from error
        if "locked" in text or "busy" in text:
            raise BackendUnavailable(
                f"{path.name} has been busy for {BUSY_TIMEOUT_S:.0f} s", hint="another process is writing; try again"
            ) from error
        raise BackendUnavailable(f"the store {path} cannot be used: {text}", hint="run: trivium doctor") from error
    except sqlite3.IntegrityError as error:
        raise Conflict(f"the store refused the change: {error}") from error
    except sqlite3.DatabaseError as error:
        raise BackendUnavailable(
            f"{path} is damaged or not a Trivium store: {error}",
            hint="run: trivium doctor; restore with trivium import",
        ) from error
