"""A circuit breaker: while the store keeps failing, calls are answered at once instead of queueing up behind it."""

import threading
import time
from collections.abc import Callable

from trivium.errors import BackendUnavailable


class Breaker:
    """Opens after `failures` in a row; after `reset_s` one call may try, and its outcome decides."""

    def __init__(self, failures: int, reset_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._failures, self._reset_s, self._clock = failures, reset_s, clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._retry_at = 0.0

    @property
    def is_open(self) -> bool:
        return self._in_a_row >= self._failures

    def enter(self) -> None:
        """BackendUnavailable with the time to wait, while open."""
        if not self.is_open:
            return
        with self._lock:
            now = self._clock()
            if self.is_open and now < self._retry_at:
                wait = self._retry_at - now
                raise BackendUnavailable(
                    "the store does not answer", retry_after_s=wait, hint=f"try again in {wait:.0f} s"
                )
            self._retry_at = now + self._reset_s  # this call tries; the others go on waiting

    def succeeded(self) -> None:
        self._in_a_row = 0

    def failed(self) -> None:
        with self._lock:
            self._in_a_row += 1
            if self.is_open:
                self._retry_at = self._clock() + self._reset_s
