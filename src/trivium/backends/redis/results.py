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

# KEYS: the value, the claim. ARGV: one's token, the lease in ms. The value; or 1 for "yours to compute", 0 for "wait".
FIND = """
local value = redis.call('GET', KEYS[1])
if value then return value end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0
"""

# Likewise, and the value (empty: none that may be kept) with its life in ms. A claim is let go while it is one's own.
SHARE = """
if ARGV[2] ~= '' then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 0
"""


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
        kept = b""
        try:
            value = compute()
            kept = self._codec.encode(value) if self._codec.keeps(value) else b""
        finally:
            self._share(name, token, kept)
        return value, False

    def _find_or_claim(self, key: Hashable, name: str, wait_s: float | None) -> tuple[V | None, str]:
        """The value, or a claim to compute it: there is one at a time, and it ends by itself."""
        token, pause = secrets.token_hex(8), FIRST_WAIT_S
        ends = None if wait_s is None else time.monotonic() + wait_s
        while True:
            answer = self._connection.script(FIND, [name, f"{name}:claim"], [token, int(LEASE_S * 1000)])
            if isinstance(answer, bytes):
                value = self._codec.decode(key, answer)
                if value is not None:
                    return value, ""
                return None, token  # not ours to read: computed again, and written over
            if answer == 1:
                return None, token
            if ends is not None and time.monotonic() >= ends:
                raise TimeoutError
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_WAIT_S)

    def _share(self, name: str, token: str, kept: bytes) -> None:
        try:
            life_ms = max(1, int(self._ttl_s * 1000))
            self._connection.script(SHARE, [name, f"{name}:claim"], [token, kept, life_ms])
        except BackendUnavailable:
            pass  # the value is right all the same, and the claim ends by itself; others compute for themselves


def _unlink(client: object, pattern: str) -> int:
    names = list(client.scan_iter(pattern, count=1000))  # type: ignore[attr-defined]
    values = [name for name in names if not name.endswith(b":claim")]
    if names:
        client.unlink(*names)  # type: ignore[attr-defined]
    return len(values)
