"""Harvesting and probing: callers who collect very many different results, or fail very often, are flagged in the audit
log and slowed down. They are not locked out: a busy but honest client only gets slower."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from trivium.doors.guard.caller import Caller
from trivium.ports.limits import Conduct, ConductStore


@dataclass(frozen=True, slots=True)
class ConductNumbers:
    """Zero switches a check off."""

    results_hour: int
    failures_hour: int
    delay_s: float


class Watch:
    def __init__(self, store: ConductStore, numbers: ConductNumbers, clock: Callable[[], float] = time.time) -> None:
        self._store, self._numbers, self._clock = store, numbers, clock

    def delay_s(self, caller: Caller) -> float:
        """How long this caller's next call has to wait."""
        flag = self._flag(self._store.look(caller.subjects, self._clock()))
        return self._numbers.delay_s if flag else 0.0

    def note(self, caller: Caller, seen: Iterable[int | str], failed: bool) -> str:
        """Records a call; answers "harvesting", "probing" or ""."""
        return self._flag(self._store.note(caller.subjects, seen, failed, self._clock()))

    def _flag(self, conducts: Sequence[Conduct]) -> str:
        numbers = self._numbers
        if numbers.results_hour and any(one.distinct_results > numbers.results_hour for one in conducts):
            return "harvesting"
        if numbers.failures_hour and any(one.failures > numbers.failures_hour for one in conducts):
            return "probing"
        return ""
