"""Keeps copies of our graphs on a graph server up to date."""

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from trivium.errors import TriviumError
from trivium.ports.graph_mirror import GraphMirror, GraphSource

POLL_S = 2.0
TROUBLED_S = 15.0

TryExclusive = Callable[[], AbstractContextManager[bool]]
logger = logging.getLogger(__name__)


class MirrorGraphs:
    """`alone` lets one process at a time write copies."""

    def __init__(self, mirror: GraphMirror, sources: Sequence[GraphSource], alone: TryExclusive) -> None:
        self._mirror, self._alone = mirror, alone
        self._sources = {source.name: source for source in sources}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._sources)

    def is_current(self, name: str) -> bool:
        return self._mirror.state(name) == self._sources[name].state()

    def catch_up(self) -> int:
        """Writes what is not up to date; answers how many nodes and links that took."""
        written = 0
        with self._alone() as mine:
            for name, source in self._sources.items() if mine else ():
                if not self.is_current(name):
                    written += self._mirror.write(name, source.copy())
        return written


class MirrorUpkeep:
    """One thread that copies whatever changed, every few seconds, more seldom while the server is away. `also` is done
    each time before."""

    def __init__(self, graphs: MirrorGraphs, also: Callable[[], object]) -> None:
        self._graphs, self._also = graphs, also
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="graph-upkeep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, wait_s: float = 10.0) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(wait_s)

    def _loop(self) -> None:
        wait_s = 0.0
        while not self._stopping.wait(wait_s):
            try:
                self._also()
                self._graphs.catch_up()
                wait_s = POLL_S
            except TriviumError as error:
                logger.warning("the graph server lags behind: %s", error.message)
                wait_s = TROUBLED_S
            except Exception:
                logger.exception("the graph server could not be brought along")
                wait_s = TROUBLED_S
