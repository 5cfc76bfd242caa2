"""The way to a Chroma server, and the one place where its errors become ours.

chroma://host:8000            plain HTTP
chromas://:token@host/        TLS, with a bearer token
…?tenant=t&database=d         another tenant or database than the default
"""

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from trivium.errors import InvalidInput, VectorsUnavailable

SCHEMES = ("chroma", "chromas")
CONNECT_S = 2.0
RETRY_S = 5.0  # a search that finds the server away must not wait for it again and again

R = TypeVar("R")


class ChromaCollection:
    """One collection, made where it is not there. Thread-safe."""

    def __init__(self, url: str, name: str, timeout_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        parts = urlsplit(url)
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise InvalidInput(
                f"TRIVIUM_VECTORS: {url.partition('@')[2] or url} is not the address of a vector server",
                field="vectors",
                allowed=[f"{scheme}://host:port" for scheme in SCHEMES],
            )
        self._parts, self._name, self._timeout_s, self._clock = parts, name, timeout_s, clock
        self._lock = threading.Lock()
        self._client: Any = None
        self._handle: Any = None
        self._retry_at = 0.0

    def run(self, operation: Callable[[Any], R]) -> R:
        """VectorsUnavailable where the server does not answer, at once while it is known not to."""
        if self._clock() < self._retry_at:
            raise VectorsUnavailable(f"the vector server at {self._parts.hostname} does not answer")
        driver = _driver()
        import httpx

        try:
            return operation(self._opened())
        except driver.errors.NotFoundError as error:
            self._handle = None  # someone dropped the collection: the next call makes it anew and it is filled again
            raise VectorsUnavailable(f"the vector collection {self._name} is gone", retry_after_s=1) from error
        except (driver.errors.ChromaError, httpx.HTTPError, OSError, ValueError) as error:
            self._handle, self._retry_at = None, self._clock() + RETRY_S
            raise VectorsUnavailable(
                f"the vector server at {self._parts.hostname}: {error}", retry_after_s=RETRY_S
            ) from error

    def metadata(self) -> dict[str, Any]:
        """As the server has it now."""
        fresh = self.run(lambda _: self._client.get_collection(self._name, embedding_function=None))
        return dict(fresh.metadata or {})

    def drop(self) -> None:
        self.run(lambda _: self._client.delete_collection(self._name))
        self._handle = None

    def _opened(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = _connected(self._parts, self._timeout_s)
            if self._handle is None:
                self._handle = self._client.get_or_create_collection(
                    self._name,
                    embedding_function=None,
                    configuration={"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 400}},
                )
            return self._handle


def _connected(parts: Any, timeout_s: float) -> Any:
    import httpx

    driver, query = _driver(), parse_qs(parts.query)
    token = unquote(parts.password or "")
    client = driver.HttpClient(
        host=parts.hostname,
        port=parts.port or (443 if parts.scheme == "chromas" else 8000),
        ssl=parts.scheme == "chromas",
        headers={"Authorization": f"Bearer {token}", "X-Chroma-Token": token} if token else None,
        settings=driver.Settings(anonymized_telemetry=False),
        tenant=query.get("tenant", [driver.DEFAULT_TENANT])[0],
        database=query.get("database", [driver.DEFAULT_DATABASE])[0],
    )
    # The client waits for ever by default, and offers no setting.
    client._server._session.timeout = httpx.Timeout(timeout_s, connect=CONNECT_S)
    return client


def _driver() -> Any:
    try:
        import chromadb
        import chromadb.errors
    except ImportError:
        raise InvalidInput(
            "TRIVIUM_VECTORS needs the Chroma client", field="vectors", hint="install it: pip install 'trivium[chroma]'"
        ) from None
    return chromadb
