"""Who runs next: a bounded number at a time, and among those who wait the callers in turn, so that one who sends a
hundred programs does not keep another from running one."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager

from trivium.sandbox.failures import SandboxBusy


class Turns:
    def __init__(self, places: int, most_waiting: int = 256) -> None:
        self._lock = threading.Lock()
        self._free = places
        self._most_waiting = most_waiting
        self._waiting: OrderedDict[str, deque[threading.Event]] = OrderedDict()

    @contextmanager
    def take(self, who: str, wait_s: float) -> Iterator[float]:
        """A place, for as long as the block runs; the value is how many seconds it was waited for, 0 where one was
        free. SandboxBusy where none becomes free in time, or too many wait already."""
        started = time.monotonic()
        turn = self._ask(who)
        if turn is not None and not turn.wait(wait_s) and self._withdraw(who, turn):
            raise SandboxBusy(f"no worker became free within {wait_s:g} s", hint="try again in a moment")
        try:
            yield 0.0 if turn is None else time.monotonic() - started
        finally:
            self._release()

    @property
    def waiting(self) -> int:
        with self._lock:
            return sum(map(len, self._waiting.values()))

    def _ask(self, who: str) -> threading.Event | None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return None
            if sum(map(len, self._waiting.values())) >= self._most_waiting:
                raise SandboxBusy(f"{self._most_waiting} programs are waiting already", hint="try again in a moment")
            turn = threading.Event()
            self._waiting.setdefault(who, deque()).append(turn)
            return turn

    def _withdraw(self, who: str, turn: threading.Event) -> bool:
        """False where the place came at the last moment after all."""
        with self._lock:
            if turn.is_set():
                return False
            self._waiting[who].remove(turn)
            if not self._waiting[who]:
                del self._waiting[who]
            return True

    def _release(self) -> None:
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            who, turns = self._waiting.popitem(last=False)
            turns.popleft().set()
            if turns:
                self._waiting[who] = turns  # behind everyone else who waits
