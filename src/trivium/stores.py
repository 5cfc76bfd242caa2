"""Which database everything is kept in: SQLite in the data folder, or PostgreSQL. Nobody else asks.

It stands below app.py and guard_stores.py, which both need it, and imports a driver only where it is chosen.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from trivium.errors import InvalidInput
from trivium.ports.embedding_queue import EmbeddingQueue
from trivium.ports.keywords import KeywordIndex
from trivium.ports.sql import SqlDatabase, SqlTables
from trivium.ports.vectors import VectorIndex
from trivium.ports.vendor_graph import ExtractionQueue
from trivium.settings import Settings

if TYPE_CHECKING:
    from trivium.backends.postgres.database import PostgresDatabase


class Lock(Protocol):
    def hold(self) -> AbstractContextManager[None]: ...
    def try_hold(self) -> AbstractContextManager[bool]: ...


def _no_roles(role: str) -> None:
    raise InvalidInput(f"a store in the data folder knows no role {role!r}", field="grant_read")


@dataclass(frozen=True, slots=True)
class Store:
    """`postgres` is there where that is the choice. `lock` makes locks between all processes that share the store."""

    database: SqlDatabase
    tables: SqlTables
    lock: Callable[[str], Lock]
    check: Callable[[], list[str]]
    postgres: "PostgresDatabase | None" = None
    grant_read: Callable[[str], None] = _no_roles
    filters: dict[str, Any] = field(default_factory=dict)  # how filters are compiled, where that differs


def open_store(settings: Settings, *, durable: bool = True) -> Store:
    if is_postgres(settings.store):
        return _postgres(settings, durable)
    if settings.store and not _is_foreign(settings):
        raise InvalidInput(
            f"store: {settings.store.partition(':')[0]} is not a kind of database known here",
            field="store",
            allowed=["postgresql://user:password@host:5432/name", "nothing, for SQLite in the data folder"],
        )
    return _sqlite(settings, "trivium.db", durable)


def open_log(settings: Settings) -> Store:
    """For what is written with every call and must not cost a wait for the disk."""
    if is_postgres(settings.store):
        return _postgres(settings, durable=False, takes_turns=False)
    return _sqlite(settings, "guard.db", durable=False)


@dataclass(frozen=True, slots=True)
class Jobs:
    """What waits for a worker. Embedded, one process at a time works on each queue; on a database server all share."""

    embedding: EmbeddingQueue
    extraction: ExtractionQueue
    alone: Callable[[str], Callable[[], AbstractContextManager[bool]]]
    close: Callable[[], None] = lambda: None


def open_jobs(store: Store) -> Jobs:
    from trivium.backends.sqlite.embeddings import SqliteEmbeddingQueue
    from trivium.backends.sqlite.vendor_queue import SqliteExtractionQueue

    embedding, extraction = SqliteEmbeddingQueue(store.database), SqliteExtractionQueue(store.database)
    if store.postgres is None:
        return Jobs(embedding, extraction, lambda name: store.lock(name).try_hold)
    from trivium.backends.postgres.jobs import Leases, SharedEmbeddingQueue, SharedExtractionQueue

    leases = Leases(store.postgres)
    return Jobs(
        SharedEmbeddingQueue(embedding, embedding.waiting, store.postgres, leases),
        SharedExtractionQueue(extraction, extraction.requeue, extraction.waiting, store.postgres, leases),
        lambda _: leases.working,
        leases.close,
    )


def open_pgvector(store: Store, name: str, dimension: int) -> VectorIndex | None:
    """None where the database is no server, or one without pgvector: then every node keeps an index of its own."""
    if store.postgres is None:
        return None
    from trivium.backends.postgres.vectors import PgVectorIndex, has_pgvector

    return PgVectorIndex(store.postgres, name, dimension) if has_pgvector(store.postgres) else None


def open_pg_keywords(store: Store) -> KeywordIndex | None:
    """None where the database is no server, or one without pg_textsearch: then every node keeps an index of its own."""
    if store.postgres is None:
        return None
    from trivium.backends.postgres.keywords import PgKeywordIndex, has_pg_textsearch

    if not has_pg_textsearch(store.postgres):
        return None
    from trivium.backends.tantivy.keywords import analyzer

    words = analyzer()
    return PgKeywordIndex(store.postgres, words.terms, words.query_terms)


def _is_foreign(settings: Settings) -> bool:
    """DATABASE_URL is everybody's name: one that is not meant for us is left alone (`serve` says so)."""
    return {row.name: row.origin for row in settings.origins()}["store"] == "DATABASE_URL"


def is_postgres(url: str) -> bool:
    return url.startswith(("postgresql://", "postgres://"))


def _sqlite(settings: Settings, name: str, durable: bool) -> Store:
    from trivium.backends.files import ProcessLock
    from trivium.backends.sqlite.database import Database
    from trivium.backends.sqlite.tables import SqliteTables

    database = Database(settings.data / name, durable=durable)
    return Store(database, SqliteTables(), lambda name: ProcessLock(settings.data / "locks" / name), database.check)


def _postgres(settings: Settings, durable: bool, takes_turns: bool = True) -> Store:
    try:
        import psycopg  # noqa: F401 -- only to say what is missing
    except ImportError as error:
        raise InvalidInput(
            "the driver for PostgreSQL is not installed", field="store", hint="pip install 'trivium[postgres]'"
        ) from error
    from trivium.backends.postgres.catalogue import PostgresTables
    from trivium.backends.postgres.database import PostgresDatabase
    from trivium.backends.postgres.filters import where
    from trivium.backends.postgres.locks import PostgresLock

    database = PostgresDatabase(
        settings.store,
        writer="write" if takes_turns else "",
        durable=durable,
        size=settings.store_pool,
        wait_s=settings.store_wait_s,
        timeout_s=settings.store_timeout_s,
        read_url=settings.store_read,
    )
    return Store(
        database,
        PostgresTables(),
        lambda name: PostgresLock(database, name),
        database.check,
        database,
        database.grant_read,
        {"where": where},
    )
