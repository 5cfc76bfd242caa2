"""Composition of what the doors guard themselves with: the second file that names backends.

It stands beside app.py, not in it, because a server must know keys and limits before the indexes are loaded: importing
app.py alone takes as long as the rest of the start.
"""

from collections.abc import Callable
from dataclasses import dataclass

from trivium.backends.quicktok import QuicktokCounter
from trivium.backends.sqlite.audit import SqliteAuditLog
from trivium.backends.sqlite.counters import SqliteCounters
from trivium.backends.sqlite.database import Database
from trivium.backends.sqlite.keys import SqliteKeyStore
from trivium.backends.sqlite.limits import SqliteConductStore, SqliteLimitStore
from trivium.ports.audit import AuditLog
from trivium.ports.counters import Counters
from trivium.ports.keys import KeyStore
from trivium.ports.limits import ConductStore, LimitStore
from trivium.ports.tokens import TokenCounter
from trivium.settings import Settings


@dataclass(frozen=True, slots=True)
class GuardStores:
    keys: KeyStore
    audit: AuditLog
    limits: LimitStore
    conduct: ConductStore
    counters: Counters
    close: Callable[[], None]


def open_guard(settings: Settings) -> GuardStores:
    # Keys must survive a power cut; the log and the counters are written with every call and must not cost an fsync.
    store, log = Database(settings.data / "trivium.db"), Database(settings.data / "guard.db", durable=False)

    def close() -> None:
        store.close()
        log.close()

    return GuardStores(
        SqliteKeyStore(store),
        SqliteAuditLog(log),
        SqliteLimitStore(log),
        SqliteConductStore(log),
        SqliteCounters(log),
        close,
    )


def open_counter(settings: Settings) -> TokenCounter:
    return QuicktokCounter(settings.token_encoding)
