"""The way to a Redis server, and the one place where its errors become ours.

Redis is a convenience here, never a need: a call that fails costs at most the timeout, and while the server is away
only one call a second finds that out again.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from trivium.errors import BackendUnavailable, InvalidInput

SCHEMES = ("redis", "rediss", "unix")
TIMEOUT_S = 1.0
RETRY_S = 1.0

R = TypeVar("R")
logger = logging.getLogger(__name__)


class RedisConnection:
    """Thread-safe. `secret` is the installation's own: names made with it keep installations that share a server apart
    and cannot be guessed by others who can write to it."""

    def __init__(self, url: str, secret: bytes, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = _client(url)
        self._secret, self._clock = secret, clock
        self._place = urlsplit(url).hostname or urlsplit(url).path
        self._lock = threading.Lock()
        self._retry_at = 0.0
        self.trouble: str | None = None  # what the last call failed with; None while everything works

    def name(self, kind: str, key: str) -> str:
        """Everything of an installation lies in one hash slot, so that scripts over several names work on a cluster."""
        tag = hashlib.blake2b(b"tag", key=self._secret, digest_size=8).hexdigest()
        return f"{{trivium:{tag}}}:{kind}:{self.digest(key)}"

    def digest(self, text: str) -> str:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._secret, digest_size=16).hexdigest()

    def run(self, operation: Callable[[Any], R]) -> R:
        """BackendUnavailable where the server does not answer, at once while it is known not to."""
        self._enter()
        try:
            result = operation(self._client)
        except _driver_errors() as error:
            self._failed(error)
            raise BackendUnavailable(f"Redis at {self._place}: {error}", retry_after_s=RETRY_S) from error
        self.trouble = None
        return result

    def script(self, text: str, names: Sequence[str], arguments: Sequence[str | int | bytes]) -> Any:
        """Runs a script: by its hash, and whole only where the server has not seen it or was restarted."""
        from redis.exceptions import NoScriptError

        def called(client: Any) -> Any:
            try:
                return client.evalsha(_hashed(text), len(names), *names, *arguments)
            except NoScriptError:
                return client.eval(text, len(names), *names, *arguments)

        return self.run(called)

    def ping(self) -> str | None:
        """Tries the server where it is time to; answers what is wrong, if anything."""
        try:
            self.run(lambda client: client.ping())
        except BackendUnavailable:
            pass
        return self.trouble

    def close(self) -> None:
        self._client.close()

    def _enter(self) -> None:
        if self.trouble is None:
            return
        with self._lock:
            now = self._clock()
            if now < self._retry_at:
                raise BackendUnavailable(f"Redis at {self._place} does not answer", retry_after_s=RETRY_S)
            self._retry_at = now + RETRY_S  # this call tries, the others go on without

    def _failed(self, error: Exception) -> None:
        with self._lock:
            if self.trouble is None:
                logger.warning("Redis at %s: %s; going on without it", self._place, error)
            self._retry_at = self._clock() + RETRY_S
            self.trouble = "the shared cache does not answer: limits and cached results are kept by each process"


@cache
def _driver_errors() -> tuple[type[Exception], ...]:
    """All of them: those of a cluster have no base in common with the others."""
    import redis.exceptions

    found = vars(redis.exceptions).values()
    return (OSError, *(one for one in found if isinstance(one, type) and issubclass(one, Exception)))


@cache
def _hashed(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def _client(url: str) -> Any:
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        raise InvalidInput(
            "TRIVIUM_CACHE needs the Redis client", field="cache", hint="install it: pip install 'trivium[redis]'"
        ) from None
    if urlsplit(url).scheme not in SCHEMES:
        raise InvalidInput(
            f"TRIVIUM_CACHE: {url.partition(':')[0]}: is not a cache server's scheme",
            field="cache",
            allowed=[f"{scheme}://" for scheme in SCHEMES],
            hint="for example redis://localhost:6379/0, rediss://:password@host:6380",
        )
    try:
        # Once again at once: a connection from the pool may be one that a restarted server has forgotten.
        return redis.Redis.from_url(
            url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S, retry=Retry(NoBackoff(), 1)
        )
    except ValueError as error:
        raise InvalidInput(f"TRIVIUM_CACHE: {error}", field="cache") from error
