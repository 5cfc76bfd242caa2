"""What goes on behind the calls: projections are brought along, and every five minutes everything is compared."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trivium.concepts.check import CheckConcepts, Verdict
from trivium.concepts.follow import ProjectionRunner
from trivium.errors import TriviumError
from trivium.ports.concept_ledger import ProjectionLedger
from trivium.ports.events import EventLog

CHECK_EVERY_S = 300.0
_SHARE = 20  # a check that takes long waits at least this many times as long, so that it never takes over a core

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProjectionState:
    position: int
    pending: int
    failed: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ConceptStats:
    event_count: int
    outbox_pending: int
    outbox_failed: int
    projections: Mapping[str, ProjectionState]


class Upkeep:
    """One thread. `wake` is cheap and may be called from anywhere, before `start` too."""

    def __init__(self, runner: ProjectionRunner, check: CheckConcepts, check_every_s: float = CHECK_EVERY_S) -> None:
        self._runner, self._check, self._check_every_s = runner, check, check_every_s
        self._work = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._next_check = 0.0
        self._verdict: Verdict | None = None

    def wake(self) -> None:
        self._work.set()

    def start(self) -> None:
        if self._thread is None:
            self._next_check = time.monotonic() + self._check_every_s
            self._thread = threading.Thread(target=self._loop, name="concept-upkeep", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._work.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._stopping.clear()

    def _loop(self) -> None:
        while not self._stopping.is_set():
            self._work.clear()
            try:
                self._runner.run_once()
                self._check_if_due()
                wait_s = self._wait_s()
            except TriviumError as error:  # the store itself is in trouble: say so, and try again
                logger.warning("concept upkeep: %s", error.message)
                wait_s = 5.0
            self._work.wait(wait_s)

    def _check_if_due(self) -> None:
        if time.monotonic() < self._next_check:
            return
        began = time.monotonic()
        if self._verdict is not None and self._check.nothing_new(self._verdict):
            self._next_check = began + self._check_every_s
            return
        verdict = self._verdict = self._check.verify()
        took = time.monotonic() - began
        self._next_check = time.monotonic() + max(self._check_every_s, _SHARE * took)
        if not verdict.consistent:
            logger.warning("concept projections differ from the log: %s", verdict.summary())

    def _wait_s(self) -> float:
        until_check = self._next_check - time.monotonic()
        due = self._runner.next_due()
        until_retry = until_check if due is None else due - time.time()
        return max(0.01, min(until_check, until_retry))


def read_stats(
    log: EventLog, ledger: ProjectionLedger, runner: ProjectionRunner, indexes: Callable[[], Mapping[str, int]]
) -> ConceptStats:
    """`indexes` tells how many events the search indexes have still to take."""
    head = log.head()
    states = {name: ProjectionState(head - pending, pending, 0) for name, pending in indexes().items()}
    parked = ledger.parked()
    for name, pending in runner.behind().items():
        failed = sum(entry.projection == name for entry in parked)
        states[name] = ProjectionState(head - pending, pending, failed, ledger.progress(name).error)
    return ConceptStats(
        event_count=head,
        outbox_pending=sum(state.pending for state in states.values()),
        outbox_failed=len(parked),
        projections=states,
    )
