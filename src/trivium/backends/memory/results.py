"""ResultCache in the process: a lifetime, a size and one computation at a time for each key.

The index generation is part of every key, so an entry made before a write can never be found after it; lifetime and
size only bound memory.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

V = TypeVar("V")


class MemoryResults(Generic[V]):
    """Thread-safe. With `entries` 0 or `ttl_s` 0 it keeps nothing, but equal simultaneous calls still share one run.
    What `keeps` says no to is handed out and forgotten."""

    def __init__(
        self,
        entries: int,
        ttl_s: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        keeps: Callable[[V], bool] = lambda _: True,
    ) -> None:
        self._entries, self._ttl_s, self._clock, self._keeps = entries, ttl_s, clock, keeps
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[float, V]] = OrderedDict()
        self._running: dict[Hashable, Future[V]] = {}
        self.hits = 0
        self.misses = 0

    def get(self, key: Hashable, compute: Callable[[], V], wait_s: float | None = None) -> tuple[V, bool]:
        while True:
            with self._lock:
                kept = self._kept.get(key)
                if kept is not None and self._clock() < kept[0]:
                    self._kept.move_to_end(key)
                    self.hits += 1
                    return kept[1], True
                flight = self._running.get(key)
                if flight is None:
                    self.misses += 1
                    mine = self._running[key] = Future()
                    break
            try:
                return flight.result(wait_s), False
            except CancelledError:
                continue
        return self._compute(key, compute, mine), False

    def clear(self) -> int:
        with self._lock:
            count = len(self._kept)
            self._kept.clear()
        return count

    def __len__(self) -> int:
        return len(self._kept)

    def _compute(self, key: Hashable, compute: Callable[[], V], flight: Future[V]) -> V:
        try:
            value = compute()
        except BaseException as error:
            with self._lock:
                del self._running[key]
            if isinstance(error, Exception):
                flight.set_exception(error)
            else:
                flight.cancel()
            raise
        with self._lock:
            del self._running[key]
            self._keep(key, value)
        flight.set_result(value)
        return value

    def _keep(self, key: Hashable, value: V) -> None:
        if self._ttl_s <= 0 or not self._keeps(value):
            return
        now = self._clock()
        self._kept[key] = (now + self._ttl_s, value)
        self._kept.move_to_end(key)
        while self._kept and (len(self._kept) > self._entries or next(iter(self._kept.values()))[0] <= now):
            self._kept.popitem(last=False)
