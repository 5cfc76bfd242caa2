"""PostgreSQL itself: connections that are limited, cut or refused, migrations, turns at writing, and a restart."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from servers import Server, server_url
from sql_databases import postgresql_url

from trivium.backends.postgres.database import PostgresDatabase
from trivium.backends.sqlite.changes import SqliteChangeLog
from trivium.backends.sqlite.documents import SqliteDocumentStore
from trivium.errors import BackendUnavailable, Conflict, InvalidInput
from trivium.model.chunk import Piece
from trivium.ports.documents import DocumentDraft

Open = Callable[..., PostgresDatabase]
NOTES = ("CREATE TABLE notes (note_id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);",)


@pytest.fixture
def open_one(tmp_path: Path) -> Iterator[Open]:
    opened: list[PostgresDatabase] = []

    def make(url: str = "", **given: object) -> PostgresDatabase:
        opened.append(PostgresDatabase(url or postgresql_url(tmp_path), **given))  # type: ignore[arg-type]
        return opened[-1]

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def database(open_one: Open) -> PostgresDatabase:
    made = open_one()
    made.migrate("notes", NOTES)
    return made


def note(database: PostgresDatabase, text: str) -> int | None:
    with database.transaction() as db:
        return db.execute("INSERT INTO notes (text) VALUES (?)", (text,)).lastrowid


def notes(database: PostgresDatabase) -> list[str]:
    with database.read() as db:
        return [row[0] for row in db.execute("SELECT text FROM notes ORDER BY note_id")]


def document(number: int) -> DocumentDraft:
    pieces = [Piece(f"text {number} {i}", 0, 1, "", 1) for i in range(3)]
    return DocumentDraft("documents", "r", f"{number}.md", None, "", None, str(number), pieces)


def test_a_transaction_is_all_or_nothing_and_one_inside_joins_it(database: PostgresDatabase) -> None:
    def fail() -> None:
        with database.transaction():
            note(database, "one")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert notes(database) == []
    note(database, "two")
    assert notes(database) == ["two"]


def test_a_reader_cannot_write(database: PostgresDatabase) -> None:
    for way in (database.read, database.snapshot):
        with pytest.raises(BackendUnavailable, match="read-only"), way() as db:
            db.execute("INSERT INTO notes (text) VALUES ('x')")
    assert notes(database) == []


def test_a_snapshot_sees_one_state(database: PostgresDatabase) -> None:
    with database.snapshot() as db:
        assert db.execute("SELECT COUNT(*) FROM notes").fetchone()[0] == 0
        note(database, "later")
        assert db.execute("SELECT COUNT(*) FROM notes").fetchone()[0] == 0
    assert notes(database) == ["later"]


def test_a_rule_of_the_tables_that_is_broken_is_a_conflict(database: PostgresDatabase) -> None:
    note(database, "once")
    with pytest.raises(Conflict, match="refused the change"):
        note(database, "once")
    assert notes(database) == ["once"]


def test_text_that_postgresql_cannot_hold_does_not_fail(database: PostgresDatabase) -> None:
    note(database, "nul \0 here")
    assert notes(database) == ["nul \ufffd here"]


def test_migrating_again_changes_nothing_and_goes_on_where_it_stopped(open_one: Open) -> None:
    more = (*NOTES, "CREATE TABLE labels (label TEXT PRIMARY KEY) WITHOUT ROWID;")
    note(_migrated(open_one, NOTES), "kept")
    for _ in range(2):
        assert notes(_migrated(open_one, more)) == ["kept"]


def _migrated(open_one: Open, scripts: tuple[str, ...]) -> PostgresDatabase:
    made = open_one()
    made.migrate("notes", scripts)
    return made


def test_data_that_is_newer_is_refused(open_one: Open) -> None:
    _migrated(open_one, (*NOTES, "CREATE TABLE labels (label TEXT PRIMARY KEY) WITHOUT ROWID;"))
    with pytest.raises(Conflict, match="newer Trivium"):
        _migrated(open_one, NOTES)


def test_many_that_start_at_once_migrate_once(open_one: Open) -> None:
    open_one()  # makes the schema, and skips here, not in a thread
    failed: list[BaseException] = []

    def migrate() -> None:
        try:
            SqliteDocumentStore(open_one())
        except BaseException as error:
            failed.append(error)

    _together([migrate] * 6)
    assert failed == []


def test_positions_become_visible_in_their_order_whoever_writes(open_one: Open) -> None:
    databases = [open_one() for _ in range(4)]
    stores = [SqliteDocumentStore(one) for one in databases]
    log, seen, done = SqliteChangeLog(open_one()), list[int](), threading.Event()

    def write(number: int) -> None:
        for i in range(12):
            stores[number].save([document(100 * number + i)])

    def follow() -> None:
        while True:
            last = done.is_set()
            changes = log.read(seen[-1] if seen else 0, 1000)
            seen.extend(change.position for change in changes)
            if last and not changes:
                return

    follower = threading.Thread(target=follow)
    follower.start()
    _together([lambda number=number: write(number) for number in range(4)])
    done.set()
    follower.join()
    with databases[0].read() as db:
        assert seen == [row[0] for row in db.execute("SELECT position FROM changes ORDER BY position")]
    assert len(seen) == 4 * 12 * 4


def _together(actions: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_when_all_connections_are_lent_the_next_waits_in_line_and_then_is_told(open_one: Open) -> None:
    database = open_one(size=2, wait_s=0.05)
    with database.read(), database.read():
        with pytest.raises(BackendUnavailable, match="all 2 connections") as told, database.read():
            pass
        assert (told.value.code, told.value.hint) == ("DB_CONNECTION", "try again, or raise TRIVIUM_STORE_POOL")
    with database.read() as db:
        assert db.execute("SELECT 1").fetchone()[0] == 1


def test_a_statement_that_takes_too_long_is_stopped(open_one: Open) -> None:
    database = open_one(timeout_s=0.05)
    with pytest.raises(BackendUnavailable, match="did not finish in time"), database.read() as db:
        db.execute("SELECT pg_sleep(30)")
    with database.read() as db:
        assert db.execute("SELECT 1").fetchone()[0] == 1


def test_a_lock_is_one_for_all_and_goes_with_whoever_held_it(open_one: Open) -> None:
    one, other = open_one(), open_one()
    with one.locked("work") as mine, other.locked("work", wait_s=0) as theirs, other.locked("else", wait_s=0) as free:
        assert (mine, theirs, free) == (True, False, True)
    with other.locked("work", wait_s=0) as theirs:
        assert theirs

    def fail() -> None:
        with one.locked("work"):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with other.locked("work", wait_s=0) as theirs:
        assert theirs


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/none", "postgresql://no-such-host.invalid/none"])
def test_a_server_that_is_not_there_is_unavailable_and_the_password_is_not_told(open_one: Open, url: str) -> None:
    database = open_one(url.replace("://", "://u:secret@" if "@" not in url else "://").replace("nobody@", "u:secret@"))
    with pytest.raises(BackendUnavailable, match="does not answer") as told, database.read():
        pass
    assert told.value.code == "DB_CONNECTION"
    assert "secret" not in told.value.message


def test_a_url_that_is_none_is_the_callers_mistake() -> None:
    with pytest.raises(InvalidInput, match="not the URL"):
        PostgresDatabase("postgresql://[")


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    from servers.postgresql import start

    server_url("postgresql")
    server = start(tmp_path)
    yield server
    server.kill()


def test_after_a_restart_everything_goes_on_and_what_was_cut_is_taken_back(own_server: Server, open_one: Open) -> None:
    database = open_one(own_server.url)
    database.migrate("notes", NOTES)
    note(database, "acknowledged")

    def cut() -> None:
        with database.transaction() as db:
            db.execute("INSERT INTO notes (text) VALUES ('cut')")
            own_server.kill()
            own_server.start()

    for _ in range(2):
        with pytest.raises(BackendUnavailable):
            cut()
        assert notes(database) == ["acknowledged"]
    with database.read(), database.read():  # two connections that the restart will cut while they lie idle
        pass
    own_server.stop()
    with pytest.raises(BackendUnavailable):
        notes(database)
    own_server.start()
    note(database, "afterwards")
    assert notes(database) == ["acknowledged", "afterwards"]


def test_a_role_that_may_only_read_serves_the_reads(open_one: Open, tmp_path: Path) -> None:
    url, role = postgresql_url(tmp_path), f"reader_{tmp_path.name}".replace("-", "_")[:50].lower()
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {role} LOGIN")
    database = open_one(url, read_url=url.replace("trivium@", f"{role}@"))
    owner = open_one(url)
    owner.migrate("notes", NOTES)
    owner.grant_read(role)
    note(owner, "to be read")
    assert notes(database) == ["to be read"]
    with database.read() as db:
        assert db.execute("SELECT current_user::text").fetchone()[0] == role
