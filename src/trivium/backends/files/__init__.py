"""Locks between processes, as files in the data folder. The system lets go of them when a process dies."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from trivium.errors import BackendUnavailable

WAIT_S = 120.0


class ProcessLock:
    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._lock = FileLock(str(path))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Waits its turn."""
        try:
            with self._lock.acquire(timeout=WAIT_S):
                yield
        except Timeout as error:
            raise BackendUnavailable(
                f"another process has held {self._path.name} for {WAIT_S:.0f} s", hint="try again when it is done"
            ) from error

    @contextmanager
    def try_hold(self) -> Iterator[bool]:
        """Yields False at once where somebody else has it."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            self._lock.release()
