"""Compares every projection with a replay of the log, records what it found, and repairs on request."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from trivium.concepts.follow import ProjectionRunner
from trivium.concepts.replay import Replayed, batches, replay, uncollected
from trivium.errors import BackendUnavailable, NotFound
from trivium.model.concept import Concept, Item
from trivium.ports.concept_catalogue import ConceptCatalogue
from trivium.ports.concept_ledger import ProjectionLedger
from trivium.ports.concept_projection import ConceptProjection
from trivium.ports.events import EventLog

EXAMPLES = 5
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """What one projection has wrong: ids it lacks, ids it should not have, ids it has differently."""

    projection: str
    position: int
    pending: int
    parked: int
    missing: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    error: str | None = None

    @property
    def consistent(self) -> bool:
        return not (self.missing or self.stray or self.different or self.parked or self.error)


@dataclass(frozen=True, slots=True)
class Verdict:
    position: int
    findings: tuple[Finding, ...]

    @property
    def consistent(self) -> bool:
        return all(finding.consistent for finding in self.findings)

    def summary(self) -> dict[str, Any]:
        """Counts with a few examples; what is recorded and shown."""
        return {
            "consistent": self.consistent,
            "position": self.position,
            "projections": [_summary(finding) for finding in self.findings],
        }


class CheckConcepts:
    """`together` are the projections that commit with the log; the runner knows the others."""

    def __init__(
        self,
        log: EventLog,
        catalogue: ConceptCatalogue,
        ledger: ProjectionLedger,
        together: Sequence[ConceptProjection],
        runner: ProjectionRunner,
    ) -> None:
        self._log, self._catalogue, self._ledger, self._runner = log, catalogue, ledger, runner
        self._together = {projection.name: projection for projection in together}

    @property
    def names(self) -> tuple[str, ...]:
        return (*self._together, *self._runner.names)

    def nothing_new(self, before: Verdict) -> bool:
        """Whether a check would see what it saw `before`: no event since, and nothing elsewhere to lose."""
        return before.consistent and before.position == self._log.head() and not self._runner.names

    def verify(self, repair: bool = False) -> Verdict:
        """Compares all of them; with `repair`, puts right what differs and compares again. Records the last result."""
        verdict = self._compare()
        # First what is wrong is put again; what that does not cure is dropped before it is put.
        for anew in (False, True) if repair else ():
            if verdict.consistent:
                break
            for finding in verdict.findings:
                self._repair(finding, anew)
            verdict = self._compare()
        self._ledger.record(verdict.summary())
        return verdict

    def rebuild(self, projection: str | None = None) -> Replayed:
        """Writes a projection, or all, anew from a replay of the log; answers the state it was written from."""
        if projection is not None and projection not in self.names:
            raise NotFound(f"no projection is called {projection!r}", nearest=self.names)
        names = [projection] if projection else list(self.names)
        with uncollected(), self._log.exclusive():
            state = replay(self._log)
            for name in names:
                if name in self._together:
                    _write(self._together[name], state)
        for name in names:
            if name not in self._together:
                with self._alone():
                    _write(self._runner.projection(name), state)
                self._runner.retry(name)
        return state

    def _compare(self) -> Verdict:
        with self._alone(), uncollected(), self._catalogue.snapshot():
            state = replay(self._log)
            findings = [_compared(p, state, state.position, set()) for p in self._together.values()]
            findings += [self._followed(name, state) for name in self._runner.names]
        return Verdict(state.position, tuple(findings))

    def _followed(self, name: str, state: Replayed) -> Finding:
        """What it has not been told yet, or could not take, is no contradiction: those ids are left out."""
        position = self._ledger.progress(name).position
        parked = self._ledger.parked(name)
        waiting = {event.stream for events in batches(self._log, position) for event in events}
        finding = _compared(self._runner.projection(name), state, position, waiting | {p.stream for p in parked})
        return Finding(**{**_fields(finding), "parked": len(parked)})

    def _repair(self, finding: Finding, anew: bool) -> None:
        wrong = (*finding.missing, *finding.different)
        drop = (*finding.stray, *finding.different) if anew else finding.stray
        if finding.projection in self._together:
            with self._log.exclusive():
                items = replay(self._log).items
                _put(self._together[finding.projection], [items[i] for i in wrong if i in items], drop)
            return
        with self._alone():
            items = replay(self._log).items
            _put(self._runner.projection(finding.projection), [items[i] for i in wrong if i in items], drop)
        self._runner.retry(finding.projection)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._runner.exclusive() as mine:
            if not mine and self._runner.names:
                raise BackendUnavailable("another process is bringing the projections up to date", retry_after_s=5)
            yield


def _compared(projection: ConceptProjection, state: Replayed, position: int, waiting: set[str]) -> Finding:
    pending = state.position - position
    try:
        held = dict(projection.contents())
    except Exception as error:  # a projection that cannot be read is a finding, not the end of the check
        return Finding(projection.name, position, pending, 0, error=f"{type(error).__name__}: {error}"[:500])
    missing, different = list[str](), list[str]()
    for item_id, item in state.items.items():
        expected, found = projection.expected(item), held.pop(item_id, None)
        if expected == found or item_id in waiting:
            continue
        (missing if found is None else different).append(item_id)
        if expected is None:
            different.pop()
            held[item_id] = ""
    stray = tuple(item_id for item_id in held if item_id not in waiting)
    return Finding(projection.name, position, pending, 0, tuple(missing), stray, tuple(different))


def _write(projection: ConceptProjection, state: Replayed) -> None:
    """Leaves what is right already: to write it again would change nothing but the time it takes."""
    held = dict(projection.contents())
    wrong = [(one, item) for one, item in state.items.items() if not held or projection.expected(item) != held.get(one)]
    stray = [one for one in held if one not in state.items]
    different = [one for one, _ in wrong if one in held]
    _put(projection, [item for _, item in wrong], [*stray, *different])


def _put(projection: ConceptProjection, items: Sequence[Item], drop: Sequence[str]) -> None:
    """Concepts before the relationships between them."""
    ordered = sorted(items, key=lambda item: not isinstance(item, Concept))
    projection.apply([], drop)
    for start in range(0, len(ordered), BATCH):
        projection.apply(ordered[start : start + BATCH], ())


def _fields(finding: Finding) -> dict[str, Any]:
    return {name: getattr(finding, name) for name in finding.__dataclass_fields__}


def _summary(finding: Finding) -> Mapping[str, Any]:
    row: dict[str, Any] = asdict(finding)
    for name in ("missing", "stray", "different"):
        ids = row[name]
        row[name] = len(ids)
        if ids:
            row[f"{name}_examples"] = list(ids[:EXAMPLES])
    return {name: value for name, value in row.items() if value is not None}
