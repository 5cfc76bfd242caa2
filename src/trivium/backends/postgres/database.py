"""The database under the SQL stores: transactions one at a time in all processes on all machines, pooled readers that
cannot write, migrations.

Writers take an advisory lock first. That keeps the stores' promises as SQLite's single writer does: what a transaction
read is still true when it commits, and positions in the logs become visible in their order, never a lower one later.
"""

import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from trivium.backends.postgres.border import border, is_lost
from trivium.backends.postgres.pool import Connection, Pool
from trivium.backends.postgres.schema import made_here, statements
from trivium.backends.postgres.session import Session, Translations, adapt
from trivium.errors import Conflict, InvalidInput

CONNECT_S = 10  # a busy machine takes seconds to start a process
OWN = "-- PostgreSQL"  # how a script begins that is written for it alone
LOCK_S = 120.0
LOCKS = 16  # held at once by one process
_KEY = "hashtextextended(current_schema() || '/' || %s, 0)"
# Queries of microseconds gain nothing from JIT; a transaction that somebody forgot must not hold up all others.
_COMMON = "SET jit = off; SET client_min_messages = warning; SET idle_in_transaction_session_timeout = 600000"
# pgvector's: how many candidates HNSW follows up, and that it goes on where they do not fill the answer. A server
# without it takes note of the names and no more.
_HNSW = "SET hnsw.ef_search = 500; SET hnsw.iterative_scan = strict_order"
_READ = f"{_COMMON}; {_HNSW}; SET default_transaction_read_only = on"
_SESSION = {True: _COMMON, False: f"{_COMMON}; SET synchronous_commit = off"}
_MIGRATIONS = 'CREATE TABLE IF NOT EXISTS migrations (part TEXT COLLATE "C" PRIMARY KEY, version BIGINT NOT NULL)'


class PostgresDatabase:
    """Thread-safe. `writer` names the lock writers take one after the other; empty: none, for tables whose statements
    stand alone. `durable=False` gives up the last moments before a crash of the server for cheap commits."""

    def __init__(
        self,
        url: str,
        *,
        writer: str = "write",
        durable: bool = True,
        size: int = 16,
        wait_s: float = 10.0,
        timeout_s: float = 30.0,
        read_url: str = "",
    ) -> None:
        self.url, self._writer = url, writer
        self.place = shown(url)
        self._translations = Translations()
        self._mine = threading.local()
        write = partial(_connected, url, f"{_SESSION[durable]}; SET statement_timeout = {int(timeout_s * 1000)}")
        read = partial(_connected, read_url or url, f"{_READ}; SET statement_timeout = {int(timeout_s * 1000)}")
        self._writers = Pool(write, max(2, size // 4), wait_s)
        self._readers = Pool(read, size, wait_s)
        self._lockers = Pool(write, LOCKS, wait_s)
        self._versions: dict[str, int] = {}

    def migrate(self, part: str, scripts: Sequence[str]) -> None:
        if self._version(part) == len(scripts):
            return
        with self.locked("migrate"), self.transaction() as db:
            db.execute(_MIGRATIONS)
            row = db.execute("SELECT version FROM migrations WHERE part = ?", (part,)).fetchone()
            done = row[0] if row else 0
            if done > len(scripts):
                raise Conflict(
                    f"the database was written by a newer Trivium: {part} {done}, known here: {len(scripts)}",
                    hint="update Trivium, or choose another database with TRIVIUM_STORE",
                )
            for script in scripts[done:]:
                self._run(db, script)
            db.execute("INSERT OR REPLACE INTO migrations VALUES (?, ?)", (part, len(scripts)))
        self._versions[part] = len(scripts)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        joined: Session | None = getattr(self._mine, "session", None)
        if joined is not None:
            yield joined
            return
        with border(self.place):
            connection = self._begun(self._writers, self._begin())
            self._mine.session = session = Session(connection, self._translations)
            try:
                yield session
                connection.execute("COMMIT")
            except BaseException:
                if not connection.closed:
                    _rolled_back(connection)
                raise
            finally:
                self._mine.session = None
                self._writers.give_back(connection)

    @contextmanager
    def read(self) -> Iterator[Session]:
        with border(self.place):
            session = Session(self._readers.take(), self._translations, self._readers.replaced)
            try:
                yield session
            finally:
                self._readers.give_back(session.connection)

    @contextmanager
    def statement(self) -> Iterator[Session]:
        """A connection for one statement that stands alone and is committed with it."""
        with border(self.place):
            session = Session(self._writers.take(), self._translations, self._writers.replaced)
            try:
                yield session
            finally:
                self._writers.give_back(session.connection)

    def without_turns(self) -> "PostgresDatabase":
        """The same connections, for tables whose writers need not wait for each other."""
        other = copy.copy(self)
        other._writer = ""
        return other

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        with border(self.place):
            connection = self._begun(self._readers, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield Session(connection, self._translations)
            finally:
                if not connection.closed:
                    _rolled_back(connection)
                self._readers.give_back(connection)

    @contextmanager
    def locked(self, name: str, *, wait_s: float = LOCK_S) -> Iterator[bool]:
        """A lock between all processes on all machines; the server lets go of it when a process dies. Without time to
        wait it yields False where somebody else has it."""
        with border(self.place):
            connection = self._begun(self._lockers, f"SET statement_timeout = {int(wait_s * 1000)}")
            try:
                mine = _locked(connection, name, wait=wait_s > 0)
                yield mine
                if mine:
                    connection.execute(f"SELECT pg_advisory_unlock({_KEY})", (name,))
            except BaseException:
                connection.close()  # and with it the lock
                raise
            finally:
                self._lockers.give_back(connection)

    def grant_read(self, role: str) -> None:
        """Everything that is there and everything that this role will make may be read by `role`."""
        with self.transaction() as db:
            schema = sql.Identifier(db.execute("SELECT current_schema()").fetchone()[0])
            for grant in (
                "GRANT USAGE ON SCHEMA {schema} TO {role}",
                "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
                "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role}",
            ):
                db.connection.execute(sql.SQL(grant).format(schema=schema, role=sql.Identifier(role)))

    def check(self) -> list[str]:
        """What is wrong with the server; empty when it answers."""
        with self.read() as db:
            db.execute("SELECT 1").fetchone()
        return []

    def close(self) -> None:
        for pool in (self._readers, self._writers, self._lockers):
            pool.close()

    def _begin(self) -> str:
        if not self._writer:
            return "BEGIN"
        return f"BEGIN; SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/{self._writer}', 0))"

    def _begun(self, pool: Pool, begin: str) -> Connection:
        """A connection inside a transaction; nothing was done yet, so one that was cut is simply replaced."""
        connection = pool.take()
        try:
            try:
                connection.execute(begin, prepare=False)
            except psycopg.Error as error:
                if not is_lost(error):
                    raise
                connection = pool.replaced(connection)
                connection.execute(begin, prepare=False)
            return connection
        except BaseException:
            if not connection.closed:
                _rolled_back(connection)
            pool.give_back(connection)
            raise

    def _version(self, part: str) -> int:
        """0 where nothing is known: then the transaction looks again."""
        if part not in self._versions:
            with self.read() as db:
                if db.execute("SELECT to_regclass('migrations')::text").fetchone()[0] is not None:
                    self._versions |= dict(db.execute("SELECT part, version FROM migrations").fetchall())
        return self._versions.get(part, 0)

    def _run(self, db: Session, script: str) -> None:
        if script.startswith(OWN):
            db.connection.execute(script.encode())
            return
        for statement in statements(script):
            for here in made_here(statement, self._translations.catalogue.on(db.connection)):
                db.connection.execute(here.encode())
        self._translations.forget()


def _connected(url: str, session: str) -> Connection:
    connection = Connection.connect(url, autocommit=True, connect_timeout=CONNECT_S, application_name="trivium")
    adapt(connection)
    connection.prepared_max = 256
    connection.execute(session, prepare=False)
    return connection


def _locked(connection: Connection, name: str, *, wait: bool) -> bool:
    if wait:
        connection.execute(f"SELECT pg_advisory_lock({_KEY})", (name,))
        return True
    row = connection.execute(f"SELECT pg_try_advisory_lock({_KEY})::integer", (name,)).fetchone()
    return bool(row and row[0])


def _rolled_back(connection: Connection) -> None:
    try:
        connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()


def shown(url: str) -> str:
    """Where a server is, without its password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise InvalidInput(
            "store is not the URL of a PostgreSQL server",
            field="store",
            hint="postgresql://user:password@host:5432/name",
        ) from error
    host, port, name = parts.get("host") or "localhost", parts.get("port") or 5432, parts.get("dbname") or ""
    return f"{host}:{port}/{name}"
