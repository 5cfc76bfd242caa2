"""Opens the app in the background, so that a client gets its list of tools while indexes and model still load."""

import atexit
import concurrent.futures.thread  # noqa: F401 -- cannot be imported any more once the process is ending
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from trivium.errors import BackendUnavailable, TriviumError

if TYPE_CHECKING:
    from trivium.app import App

EXIT_WAIT_S = 5.0

logger = logging.getLogger(__name__)


class Opening:
    """`get` waits for the app. Where opening failed, the next call tries again: the reason may have gone."""

    def __init__(self, open_app: Callable[[], "App"]) -> None:
        self._open = open_app
        self.beside: Callable[[], object] | None = None  # what else may be made ready, once the app is
        self._lock = threading.Lock()
        self._future: Future[App] | None = None

    @classmethod
    def opened(cls, app: "App") -> "Opening":
        opening = cls(lambda: app)
        opening.start().result()
        return opening

    def start(self) -> "Future[App]":
        with self._lock:
            if self._future is None or (self._future.done() and self._future.exception() is not None):
                self._future = Future()
                thread = threading.Thread(target=self._run, args=(self._future,), name="opening", daemon=True)
                # A process that ends at once should not be torn down under code that still loads a model.
                atexit.register(thread.join, EXIT_WAIT_S)
                thread.start()
            return self._future

    def get(self, wait_s: float) -> "App":
        try:
            return self.start().result(wait_s)
        except TimeoutError:
            raise BackendUnavailable("the store is still being opened", retry_after_s=5) from None

    @property
    def state(self) -> str:
        """ "opening", "ready" or "failed: …"."""
        future = self._future
        if future is None or not future.done():
            return "opening"
        error = future.exception()
        return "ready" if error is None else f"failed: {error if isinstance(error, TriviumError) else 'internal error'}"

    @property
    def app(self) -> "App | None":
        future = self._future
        return future.result() if future is not None and future.done() and future.exception() is None else None

    def close(self) -> None:
        app = self.app
        if app is not None:
            app.close()

    def _run(self, future: "Future[App]") -> None:
        try:
            app = self._open()
        except BaseException as error:
            logger.error("the data folder could not be opened", exc_info=not isinstance(error, TriviumError))
            future.set_exception(error)
            return
        future.set_result(app)
        _warm(app)
        if self.beside is not None:
            _warm_beside(self.beside)


def _warm(app: "App") -> None:
    """Loads the vocabulary, the model and the indexes, which the first search would wait for otherwise."""
    from trivium.model.hits import SearchQuery

    try:
        app.tokens.count(["warm"])
        app.search.search(SearchQuery("warm", limit=1))
    except Exception:
        # Whatever it is, the first real call meets it and reports it properly.
        logger.debug("warming up failed", exc_info=True)


def _warm_beside(start: Callable[[], object]) -> None:
    try:
        start()
    except Exception:
        logger.debug("warming up failed", exc_info=True)
