"""A time limit that stops the work, not only the waiting for it.

A Python thread cannot be killed, but it can be made to raise: when time is up, an exception is injected into the
worker, which ends at its next bytecode (a call into C first returns). Code that can stop more politely asks
`Deadline.check`.
"""

import ctypes
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


def _inject(thread: int, error: object) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
