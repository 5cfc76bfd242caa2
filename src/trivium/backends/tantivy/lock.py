"""One writer among all processes: a lock that the operating system lifts when its holder dies."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from trivium.errors import BackendUnavailable

_POLL_S = 0.01


@contextmanager
def exclusive(path: Path, timeout_s: float) -> Iterator[None]:
    """Waits for whoever holds the lock; BackendUnavailable once `timeout_s` have passed."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=timeout_s, poll_interval=_POLL_S)
    except Timeout as error:
        raise BackendUnavailable(
            f"another process has been writing to {path.parent.name} for more than {timeout_s:g} s",
            hint="wait for the running ingest to end, then try again",
        ) from error
    try:
        yield
    finally:
        lock.release()
