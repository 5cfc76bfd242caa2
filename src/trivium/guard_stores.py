"""Composition of what the doors guard themselves with: the second file that names backends.

It stands beside app.py, not in it, because a server must know keys and limits before the indexes are loaded: importing
app.py alone takes as long as the rest of the start.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

from trivium.backends.memory.results import MemoryResults
from trivium.backends.quicktok import QuicktokCounter
from trivium.backends.sqlite.audit import SqliteAuditLog
from trivium.backends.sqlite.counters import SqliteCounters
from trivium.backends.sqlite.keys import SqliteKeyStore
from trivium.backends.sqlite.limits import SqliteConductStore, SqliteLimitStore
from trivium.ports.audit import AuditLog
from trivium.ports.counters import Counters
from trivium.ports.keys import KeyStore
from trivium.ports.limits import ConductStore, LimitStore
from trivium.ports.results import Codec, ResultCache
from trivium.ports.tokens import TokenCounter
from trivium.settings import Settings
from trivium.stores import Store, open_log, open_store

if TYPE_CHECKING:
    from trivium.backends.redis.connection import RedisConnection

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class GuardStores:
    keys: KeyStore
    audit: AuditLog
    limits: LimitStore
    conduct: ConductStore
    counters: Counters
    close: Callable[[], None]
    shared: "RedisConnection | None" = None

    def cache_trouble(self) -> str | None:
        """What went wrong with the cache server when it was last asked; None where it works or none is used."""
        return self.shared.trouble if self.shared is not None else None


def open_guard(settings: Settings) -> GuardStores:
    # Keys must survive a power cut; the log and the counters are written with every call and must not cost an fsync.
    store, log = open_store(settings).database, open_log(settings)

    def close() -> None:
        store.close()
        log.database.close()

    limits, conduct = _counting(log)
    stores = GuardStores(
        SqliteKeyStore(store), SqliteAuditLog(log.database), limits, conduct, SqliteCounters(log.database), close
    )
    return _with_cache(settings, stores) if settings.cache else stores


def _counting(log: Store) -> tuple[LimitStore, ConductStore]:
    if log.postgres is None:
        return SqliteLimitStore(log.database), SqliteConductStore(log.database)
    from trivium.backends.postgres.limits import PostgresLimitStore, lock_subjects

    conduct = SqliteConductStore(log.database, lock_subjects)  # first: it makes the tables of both
    return PostgresLimitStore(log.postgres), conduct


def open_results(settings: Settings, stores: GuardStores, codec: Codec[V], ttl_s: float) -> ResultCache[V]:
    """In the process, and beyond it where a cache server is named."""
    entries = settings.cache_entries
    if stores.shared is None:
        return MemoryResults(entries, ttl_s, keeps=codec.keeps)
    from trivium.backends.redis.results import RedisResults

    local: MemoryResults[tuple[V, bool]] = MemoryResults(entries, ttl_s, keeps=lambda kept: codec.keeps(kept[0]))
    return RedisResults(stores.shared, _search_scope(settings), ttl_s, codec, local)


def _with_cache(settings: Settings, stores: GuardStores) -> GuardStores:
    """Counts of callers in the cache server; where that is away, in the stores as if there were none."""
    from trivium.backends.redis.connection import RedisConnection
    from trivium.backends.redis.limits import RedisConductStore, RedisLimitStore

    shared = RedisConnection(settings.cache, stores.keys.secret("cache"))

    def close() -> None:
        shared.close()
        stores.close()

    limits, conduct = RedisLimitStore(shared, stores.limits), RedisConductStore(shared, stores.conduct)
    return replace(stores, limits=limits, conduct=conduct, close=close, shared=shared)


def _search_scope(settings: Settings) -> str:
    """What rankings depend on besides the data and the query: servers that differ in it share no rankings."""
    names = ("model", "model_path", "embedder_url", "fusion", "reranker", "boosts", "recency_half_life_days")
    return repr([version("trivium"), *(getattr(settings, name) for name in names)])


def open_counter(settings: Settings) -> TokenCounter:
    return QuicktokCounter(settings.token_encoding)
