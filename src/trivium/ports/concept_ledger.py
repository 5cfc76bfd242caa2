"""How far every followed projection has come, what it could not take, and what the checker found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Progress:
    """`attempts` counts failures at the next event, `failures` all of them since something last worked."""

    position: int = 0
    attempts: int = 0
    failures: int = 0
    retry_at: float = 0.0  # seconds since the epoch
    error: str | None = None


class Parked(NamedTuple):
    """An event that a projection failed to take three times."""

    projection: str
    position: int
    stream: str
    error: str
    parked_at: str


class ProjectionLedger(Protocol):
    """Every call is durable when it returns."""

    def progress(self, projection: str) -> Progress:
        """Where it stands; a fresh one at position 0."""

    def save(self, projection: str, progress: Progress, parked: Parked | None = None) -> None:
        """Both in one step, so that no event is passed over without being parked."""

    def parked(self, projection: str | None = None) -> list[Parked]:
        """In order of position."""

    def release(self, parked: Sequence[Parked]) -> None: ...

    def record(self, snapshot: dict[str, Any]) -> None:
        """Keeps what a check found, with the moment it was made."""


class RequestBook(Protocol):
    """Answers that were given under an idempotency key. Used inside `EventLog.exclusive`."""

    def answer(self, key: str) -> tuple[str, list[str]] | None:
        """The fingerprint of the request and the ids it made."""

    def remember(self, key: str, request: str, ids: Sequence[str]) -> None: ...
