"""A time limit that stops the work, not only the waiting for it.

A Python thread cannot be killed, but it can be made to raise: when time is up, an exception is injected into the
worker, which ends at its next bytecode (a call into C first returns). Code that can stop more politely asks
`Deadline.check`.
"""

import ctypes
import heapq
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from trivium.errors import DeadlineExceeded

T = TypeVar("T")


class _Stopped(BaseException):
    """Not an Exception, so that no `except Exception` in the work swallows it."""


class Deadline:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    def check(self) -> None:
        if time.monotonic() >= self._ends:
            raise self.exceeded()

    def exceeded(self) -> DeadlineExceeded:
        return DeadlineExceeded(
            f"the call took longer than {self.seconds:g} s and was stopped", hint="ask for less, or narrow the filters"
        )


class Stoppable:
    """Runs one piece of work that another thread may stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._stopped = False
        self.is_done = False

    def run(self, work: Callable[[], T], deadline: Deadline) -> T:
        """The work's result; DeadlineExceeded where it was stopped."""
        try:
            with self._lock:
                if self._stopped:
                    raise deadline.exceeded()
                self._thread = threading.get_ident()
            try:
                return work()
            finally:
                self._leave()
        except _Stopped:
            self._leave()
            raise deadline.exceeded() from None

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._thread is not None:
                _inject(self._thread, ctypes.py_object(_Stopped))

    def _leave(self) -> None:
        with self._lock:
            # An exception injected a moment ago must not surface in whatever this thread does next.
            if self._stopped and self._thread is not None:
                _inject(self._thread, None)
            self._thread = None
            self.is_done = True


def _inject(thread: int, error: object) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


class Reaper:
    """Stops work whose time is up; one thread for everything that runs in this process."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._due: list[tuple[float, int, Stoppable]] = []
        self._number = 0
        self._thread: threading.Thread | None = None

    def watch(self, work: Stoppable, deadline: Deadline) -> None:
        with self._wake:
            self._number += 1
            entry = (time.monotonic() + deadline.left_s, self._number, work)
            heapq.heappush(self._due, entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="reaper", daemon=True)
                self._thread.start()
            elif self._due[0] is entry:
                self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                while self._due and self._due[0][2].is_done:
                    heapq.heappop(self._due)
                now = time.monotonic()
                if not self._due or self._due[0][0] > now:
                    # Finished work stays in the heap until its time; a wake-up a second keeps it from piling up.
                    self._wake.wait(min(1.0, self._due[0][0] - now) if self._due else None)
                    continue
                work = heapq.heappop(self._due)[2]
            work.stop()
