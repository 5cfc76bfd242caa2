"""Kills workers whose time is up. It holds the process itself, not its number, so that it never hits a stranger."""

import heapq
import os
import select
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Fuse:
    """One worker that is running a program: its process, and those inside it where a layer waits around the
    interpreter. `has_blown` says that it was killed by its time."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._lock = threading.Lock()
        self._pids = pids
        self._handles = [_handle(pid) for pid in pids]
        self.has_blown = False
        self.is_out = False

    def blow(self) -> None:
        with self._lock:
            if not self.is_out:
                self.has_blown = True
        self.kill()

    def kill(self) -> None:
        """The innermost first: it is the one that computes."""
        with self._lock:
            if self.is_out:
                return
            for pid, handle in reversed(list(zip(self._pids, self._handles, strict=True))):
                try:
                    if handle is None:
                        os.kill(pid, signal.SIGKILL)
                    else:
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass  # it ended by itself, or dies with the process around it

    def wait(self, seconds: float) -> None:
        """Until all of them have ended; where that cannot be seen, not at all."""
        ends = time.monotonic() + seconds
        for handle in self._handles:
            if handle is not None:
                watched = select.poll()
                watched.register(handle, select.POLLIN)
                watched.poll(max(0.0, ends - time.monotonic()) * 1000)

    def remove(self) -> None:
        with self._lock:
            self.is_out = True
            for handle in self._handles:
                if handle is not None:
                    os.close(handle)
            self._handles = []


def _handle(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # not Linux, or an old one
        return None


class Watchdog:
    """One thread for all workers of a process."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._due: list[tuple[float, int, Fuse]] = []
        self._number = 0
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(self, pids: Sequence[int], seconds: float) -> Iterator[Fuse]:
        fuse = Fuse(pids)
        self._add(fuse, time.monotonic() + seconds)
        try:
            yield fuse
        finally:
            fuse.remove()

    def _add(self, fuse: Fuse, at: float) -> None:
        with self._wake:
            self._number += 1
            heapq.heappush(self._due, (at, self._number, fuse))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sandbox-watchdog", daemon=True)
                self._thread.start()
            elif self._due[0][2] is fuse:
                self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                while self._due and self._due[0][2].is_out:
                    heapq.heappop(self._due)
                now = time.monotonic()
                if not self._due or self._due[0][0] > now:
                    # A finished run stays in the heap until its time; a look every second keeps them from piling up.
                    self._wake.wait(min(1.0, self._due[0][0] - now) if self._due else None)
                    continue
                fuse = heapq.heappop(self._due)[2]
            fuse.blow()
