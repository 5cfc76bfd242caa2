"""The way to a Neo4j server, and the one place where its errors become ours.

neo4j://user:password@host:7687/database   with routing; neo4j+s:// with TLS, neo4j+ssc:// with a private certificate
bolt://user:password@host:7687/database    one server; bolt+s://, bolt+ssc:// likewise
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from trivium.errors import GraphUnavailable, InvalidInput

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
CONNECT_S = 3.0
READ_S = 10.0
WRITE_S = 120.0  # a batch of a large copy on a busy server
RETRY_S = 5.0

R = TypeVar("R")
Row = tuple[Any, ...]
Statement = tuple[str, dict[str, Any]]


class Neo4jConnection:
    """Thread-safe. Nothing is connected before the first query."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise InvalidInput(
                "TRIVIUM_GRAPH is not the address of a graph server",
                field="graph",
                allowed=[f"{scheme}://user:password@host:7687" for scheme in SCHEMES],
            )
        self.place = f"{parts.hostname}:{parts.port or 7687}"
        self._uri = f"{parts.scheme}://{parts.hostname}:{parts.port or 7687}"
        self._auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        self._database = parts.path.strip("/") or None
        self._clock = clock
        self._lock = threading.Lock()
        self._driver: Any = None
        self._retry_at = 0.0
        self.trouble: str | None = None

    def read(self, query: str, **parameters: Any) -> list[Row]:
        return self._run(lambda session: session.execute_read(lambda tx: _rows(tx, query, parameters)), READ_S)

    def read_all(self, query: str, **parameters: Any) -> list[Row]:
        """For what grows with everything that is stored."""
        return self._run(lambda session: session.execute_read(lambda tx: _rows(tx, query, parameters)), WRITE_S)

    def write(self, statements: Sequence[Statement]) -> None:
        """All or nothing."""

        def all_of_them(tx: Any) -> None:
            for query, parameters in statements:
                _rows(tx, query, parameters)

        self._run(lambda session: session.execute_write(all_of_them), WRITE_S)

    def change_schema(self, statement: str) -> None:
        """Such statements cannot be part of a transaction with others."""
        self._run(lambda session: session.run(statement).consume(), WRITE_S)

    def close(self) -> None:
        with self._lock:
            driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()

    def _run(self, operation: Callable[[Any], R], timeout_s: float) -> R:
        if self.trouble and self._clock() < self._retry_at:
            raise GraphUnavailable(f"the graph server at {self.place} does not answer", retry_after_s=RETRY_S)
        from neo4j.exceptions import ClientError, DriverError, GqlError

        try:
            result = self._within(timeout_s, operation)
        except (DriverError, GqlError, OSError) as error:
            if not isinstance(error, ClientError) or "Security" in (error.code or ""):
                self.trouble = f"the graph server does not answer: {type(error).__name__}"
                self._retry_at = self._clock() + RETRY_S
            raise GraphUnavailable(f"the graph server at {self.place}: {error}", retry_after_s=RETRY_S) from error
        self.trouble = None
        return result

    def _within(self, timeout_s: float, operation: Callable[[Any], R]) -> R:
        """The driver waits for ever for a server that took a query and hangs: such a call is left alone, in a thread
        that keeps no process from ending, and the connections it may have spoiled are given up."""
        answer: Future[R] = Future()

        def carry_out() -> None:
            try:
                with self._opened().session(database=self._database) as session:
                    found = operation(session)
            except BaseException as error:  # handed to whoever waits
                answer.set_exception(error)
            else:
                answer.set_result(found)

        threading.Thread(target=carry_out, name="neo4j", daemon=True).start()
        try:
            return answer.result(timeout_s)
        except TimeoutError:
            if not answer.done():
                threading.Thread(target=self.close, name="neo4j-closing", daemon=True).start()
            raise

    def _opened(self) -> Any:
        with self._lock:
            if self._driver is None:
                self._driver = _driver().GraphDatabase.driver(
                    self._uri,
                    auth=self._auth,
                    connection_timeout=CONNECT_S,
                    connection_acquisition_timeout=2 * CONNECT_S,
                    max_transaction_retry_time=1.0,
                    notifications_min_severity="OFF",
                    user_agent="trivium",
                )
            return self._driver


def _rows(tx: Any, query: str, parameters: dict[str, Any]) -> list[Row]:
    return [tuple(record) for record in tx.run(query, parameters)]


def _driver() -> Any:
    try:
        import neo4j
    except ImportError:
        raise InvalidInput(
            "TRIVIUM_GRAPH needs the Neo4j driver", field="graph", hint="install it: pip install 'trivium[neo4j]'"
        ) from None
    return neo4j
