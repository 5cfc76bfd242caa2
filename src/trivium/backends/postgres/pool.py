"""Connections to PostgreSQL: as many as allowed, kept open, lent to one thread at a time.

Whoever comes when all are lent waits in line. A connection that a restart of the server has cut is replaced, and with
it those that lay idle meanwhile, so that a restart costs no caller more than one new connection.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import psycopg

from trivium.errors import BackendUnavailable


class Connection(psycopg.Connection[Any]):
    def __del__(self, _warn: object = None, /) -> None:
        """Forgotten with its pool, it is closed with its socket; that is no reason for a warning."""


class Pool:
    """Thread-safe."""

    def __init__(self, connect: Callable[[], Connection], size: int, wait_s: float) -> None:
        self._connect, self._size, self._wait_s = connect, size, wait_s
        self._free = threading.Semaphore(size)
        self._idle: deque[tuple[float, Connection]] = deque()
        self._lost_at = 0.0
        self._is_closed = False

    def take(self) -> Connection:
        if self._is_closed:
            raise BackendUnavailable("the store was closed", hint="open it again")
        if not self._free.acquire(timeout=self._wait_s):
            raise BackendUnavailable(
                f"all {self._size} connections to PostgreSQL have been busy for {self._wait_s:g} s",
                hint="try again, or raise TRIVIUM_STORE_POOL",
                retry_after_s=1.0,
            )
        try:
            return self._trusted() or self._connect()
        except BaseException:
            self._free.release()
            raise

    def replaced(self, connection: Connection) -> Connection:
        """Another one for one that broke while it was lent."""
        connection.close()
        self._lost_at = time.monotonic()
        return self._connect()

    def give_back(self, connection: Connection) -> None:
        if not connection.closed and connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            self._idle.append((time.monotonic(), connection))
        else:  # broken, or left inside a transaction by something unforeseen
            connection.close()
        self._free.release()

    def close(self) -> None:
        self._is_closed = True
        while self._idle:
            self._idle.pop()[1].close()

    def _trusted(self) -> Connection | None:
        while self._idle:
            try:
                since, connection = self._idle.pop()
            except IndexError:
                return None
            if since > self._lost_at:
                return connection
            connection.close()
        return None
