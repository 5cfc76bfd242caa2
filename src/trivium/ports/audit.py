"""The log of who called what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """`arguments` is JSON with secrets removed; `outcome` is "ok" or the error's code; `flag` says what looked odd."""

    at: float
    request_id: str
    caller: str
    key: str  # last four characters, or ""
    address: str
    transport: str
    tool: str
    arguments: str
    outcome: str
    result_bytes: int
    results: int
    duration_ms: float
    flag: str = ""


class AuditLog(Protocol):
    def append(self, entries: Sequence[AuditEntry]) -> None: ...

    def read(
        self,
        limit: int,
        *,
        since: float = 0.0,
        caller: str | None = None,
        tool: str | None = None,
        outcome: str | None = None,
        flagged: bool = False,
    ) -> list[AuditEntry]:
        """The newest first. `outcome` "failed" means everything but "ok"."""

    def prune(self, before: float) -> int:
        """Drops older entries; answers how many."""
