"""ResultCache shared by all processes: a value computed anywhere is found everywhere, and is computed by one of them.

Each process keeps what it has seen in a cache of its own as well (a key names the index generation, so nothing in it
can be stale) and asks Redis only for what that lacks.
"""

import secrets
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from trivium.backends.redis.connection import RedisConnection
from trivium.errors import BackendUnavailable
from trivium.ports.results import Codec, ResultCache

V = TypeVar("V")

LEASE_S = 10.0  # a process that dies while it computes keeps the others waiting no longer than this
FIRST_WAIT_S, LONGEST_WAIT_S = 0.002, 0.05

# Lets go of a claim only where it is still one's own.
RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"


class RedisResults(Generic[V]):
    """`scope` names whatever else a value depends on and the keys do not say: the version, the settings."""

    def __init__(
        self, connection: RedisConnection, scope: str, ttl_s: float, codec: Codec[V], local: ResultCache[tuple[V, bool]]
    ) -> None:
        self._connection, self._scope, self._ttl_s, self._codec, self._local = connection, scope, ttl_s, codec, local

    def get(self, key: Hashable, compute: Callable[[], V], wait_s: float | None = None) -> tuple[V, bool]:
        (value, was_shared), was_here = self._local.get(key, lambda: self._across(key, compute, wait_s), wait_s)
        return value, was_shared or was_here

    def clear(self) -> int:
        """Of this process and of Redis; the other processes' own caches are not reached from here."""
        count = self._local.clear()
        pattern = self._connection.name("result", "").rpartition(":")[0] + ":*"
        try:
            return max(count, self._connection.run(lambda client: _unlink(client, pattern)))
        except BackendUnavailable:
            return count

    def _across(self, key: Hashable, compute: Callable[[], V], wait_s: float | None) -> tuple[V, bool]:
        if self._ttl_s <= 0:
            return compute(), False
        name = self._connection.name("result", f"{self._scope} {key!r}")
        try:
            found, token = self._find_or_claim(key, name, wait_s)
        except BackendUnavailable:
            return compute(), False
        if found is not None:
            return found, True
        try:
            value = compute()
            self._share(name, value)
        finally:
            self._release(name, token)
        return value, False

    def _find_or_claim(self, key: Hashable, name: str, wait_s: float | None) -> tuple[V | None, str]:
        """The value, or a claim to compute it: there is one at a time, and it ends by itself."""
        token, pause = secrets.token_hex(8), FIRST_WAIT_S
        ends = None if wait_s is None else time.monotonic() + wait_s
        while True:
            stored = self._connection.run(lambda client: client.get(name))
            value = self._codec.decode(key, stored) if stored is not None else None
            if value is not None:
                return value, ""
            if self._connection.run(lambda client: client.set(f"{name}:claim", token, nx=True, px=int(LEASE_S * 1000))):
                return None, token
            if ends is not None and time.monotonic() >= ends:
                raise TimeoutError
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_WAIT_S)

    def _share(self, name: str, value: V) -> None:
        if not self._codec.keeps(value):
            return
        stored = self._codec.encode(value)
        try:
            self._connection.run(lambda client: client.set(name, stored, px=max(1, int(self._ttl_s * 1000))))
        except BackendUnavailable:
            pass  # the value is right all the same; only the others have to compute it themselves

    def _release(self, name: str, token: str) -> None:
        try:
            self._connection.run(lambda client: client.eval(RELEASE, 1, f"{name}:claim", token))
        except BackendUnavailable:
            pass  # it ends by itself


def _unlink(client: object, pattern: str) -> int:
    names = list(client.scan_iter(pattern, count=1000))  # type: ignore[attr-defined]
    values = [name for name in names if not name.endswith(b":claim")]
    if names:
        client.unlink(*names)  # type: ignore[attr-defined]
    return len(values)
