"""Keeps projections elsewhere (a remote graph, a remote vector store) in step with the log.

A write never waits for them. One that fails is tried again, later and later; an event it could not take three times is
parked with the error and passed over, so that one bad event does not hold up the rest, and `retry` tries it again.
Projections take states, so that whatever is applied twice, late, or after a parked event still leads to the truth.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from trivium.errors import BackendUnavailable, GraphUnavailable, NotFound
from trivium.model.concept import Item, Recorded
from trivium.ports.concept_catalogue import ConceptCatalogue
from trivium.ports.concept_graph import ConceptGraph
from trivium.ports.concept_ledger import Parked, Progress, ProjectionLedger
from trivium.ports.concept_projection import ConceptProjection
from trivium.ports.events import EventLog

ATTEMPTS = 3
BATCH = 500
MAX_WAIT_S = 300.0

Alone = Callable[[], AbstractContextManager[bool]]


@contextmanager
def nobody_else() -> Iterator[bool]:
    """For one process."""
    yield True


class ProjectionRunner:
    """`alone` lets one process at a time apply, so that an older state never overwrites a newer one; it yields False
    where another one is at it."""

    def __init__(
        self,
        log: EventLog,
        catalogue: ConceptCatalogue,
        graph: ConceptGraph,
        ledger: ProjectionLedger,
        projections: Sequence[ConceptProjection],
        *,
        timeout_s: float = 30.0,
        alone: Alone = nobody_else,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._log, self._catalogue, self._graph, self._ledger = log, catalogue, graph, ledger
        self._followed = {projection.name: _Followed(projection, timeout_s) for projection in projections}
        self._alone, self._clock = alone, clock

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._followed)

    def behind(self) -> dict[str, int]:
        """How many events each projection has not taken yet, parked ones apart."""
        head = self._log.head()
        return {name: head - self._ledger.progress(name).position for name in self._followed}

    def run_once(self) -> int:
        """Applies what is due; answers how many events were taken or parked. Never raises for a projection's fault."""
        with self._alone() as mine:
            return sum(self._advance(name) for name in self._followed) if mine else 0

    def next_due(self) -> float | None:
        """When there is something to do next, in seconds since the epoch; None while all is applied."""
        due = [self._ledger.progress(name).retry_at for name, events in self.behind().items() if events]
        return min(due, default=None)

    def retry(self, projection: str | None = None) -> list[Parked]:
        """Tries parked events again, oldest first, and whatever waits for its next attempt at once. Answers what could
        still not be taken."""
        if projection is not None and projection not in self._followed:
            raise NotFound(f"no projection is called {projection!r}", nearest=self.names)
        with self._alone() as mine:
            if not mine:
                raise BackendUnavailable("another process is bringing the projections up to date", retry_after_s=5)
            for name in [projection] if projection else self.names:
                self._retry(name)
                self._ledger.save(name, replace(self._ledger.progress(name), attempts=0, retry_at=0.0))
                self._advance(name)
        return self._ledger.parked(projection)

    def exclusive(self) -> AbstractContextManager[bool]:
        return self._alone()

    def projection(self, name: str) -> ConceptProjection:
        return self._followed[name].projection

    def _advance(self, name: str) -> int:
        taken = 0
        careful = 0  # events to take one by one, after a batch of that size failed
        while self._ledger.progress(name).retry_at <= self._clock():
            progress = self._ledger.progress(name)
            size = 1 if careful or progress.attempts else BATCH
            events = self._log.read(progress.position, size)
            if not events:
                break
            error = self._attempt(name, events)
            if error is None:
                self._ledger.save(name, Progress(position=events[-1].position))
                taken, careful = taken + len(events), max(0, careful - 1)
            elif len(events) > 1:
                careful = len(events)
            else:
                taken += self._failed(name, progress, events[0], *error)
        return taken

    def _failed(self, name: str, before: Progress, event: Recorded, error: str, is_away: bool) -> int:
        """Waits, or parks the event; answers how many were passed over. A server that is away is no event's fault."""
        attempts, failures = before.attempts + 1, before.failures + 1
        wait_s = min(MAX_WAIT_S, 2.0 ** min(failures - 1, 20))
        after = Progress(before.position, attempts, failures, self._clock() + wait_s, error)
        if is_away:
            after = replace(after, attempts=before.attempts)
        if attempts < ATTEMPTS or is_away:
            self._ledger.save(name, after)
            return 0
        parked_at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
        parked = Parked(name, event.position, event.stream, error, parked_at.replace("+00:00", "Z"))
        self._ledger.save(name, replace(after, position=event.position, attempts=0), parked)
        return 1

    def _retry(self, name: str) -> None:
        for parked in self._ledger.parked(name):
            if self._attempt(name, [parked]) is None:
                self._ledger.release([parked])

    def _attempt(self, name: str, events: Sequence[Recorded | Parked]) -> tuple[str, bool] | None:
        """None where it worked, else the error and whether it is that the server does not answer."""
        put, drop = self._states([event.stream for event in events])
        try:
            self._followed[name].apply(put, drop)
        except Exception as error:  # whatever a projection raises is kept and shown, and must not stop the others
            return f"{type(error).__name__}: {error}"[:500], isinstance(error, GraphUnavailable)
        return None

    def _states(self, streams: Sequence[str]) -> tuple[list[Item], list[str]]:
        """What the log has led to by now for what these events touched."""
        touched = list(dict.fromkeys(streams))
        related = [stream for stream in touched if stream.startswith("rel-")]
        with self._catalogue.snapshot():
            relationships = self._graph.get(related)
            ends = [end for r in relationships for end in (r.source_concept_id, r.target_concept_id)]
            wanted = dict.fromkeys([stream for stream in touched if not stream.startswith("rel-")] + ends)
            concepts = self._catalogue.get(list(wanted))
        there = {relationship.relationship_id for relationship in relationships}
        return [*concepts, *relationships], [stream for stream in related if stream not in there]


class _Followed:
    """Applies with a time limit. A call that hangs is left to end by itself, in a daemon thread that does not keep the
    process from ending, and nothing else is sent meanwhile."""

    def __init__(self, projection: ConceptProjection, timeout_s: float) -> None:
        self.projection, self._timeout_s = projection, timeout_s
        self._running: Future[None] | None = None

    def apply(self, put: Sequence[Item], drop: Sequence[str]) -> None:
        name = self.projection.name
        if self._running is not None and not self._running.done():
            raise BackendUnavailable(f"{name} has not answered an earlier call yet")
        answer = self._running = Future[None]()
        threading.Thread(target=self._carry_out, args=(answer, put, drop), name=f"apply-{name}", daemon=True).start()
        done, _ = wait([answer], self._timeout_s)
        if not done:
            raise BackendUnavailable(f"{name} did not answer within {self._timeout_s:g} s")
        answer.result()

    def _carry_out(self, answer: Future[None], put: Sequence[Item], drop: Sequence[str]) -> None:
        try:
            self.projection.apply(put, drop)
        except BaseException as error:  # handed to whoever waits
            answer.set_exception(error)
        else:
            answer.set_result(None)
