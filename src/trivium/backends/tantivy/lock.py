"""One writer among all processes: a lock of the operating system on a file, lifted by it when the holder dies."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from trivium.errors import BackendUnavailable

_POLL_S = 0.01


@contextmanager
def exclusive(path: Path, timeout_s: float) -> Iterator[None]:
    """Waits for whoever holds the lock; BackendUnavailable once `timeout_s` have passed."""
    with path.open("a+b") as file:
        _acquire(file, path, timeout_s)
        try:
            yield
        finally:
            _unlock(file)


def _acquire(file: IO[bytes], path: Path, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not _try_lock(file):
        if time.monotonic() >= deadline:
            raise BackendUnavailable(
                f"another process has been writing to {path.parent.name} for more than {timeout_s:g} s",
                hint="wait for the running ingest to end, then try again",
            )
        time.sleep(_POLL_S)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
