"""Writes the audit log: every call, with secrets removed, kept for a number of days."""

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from trivium.ports.audit import AuditEntry, AuditLog

DAY_S = 86_400.0
_PRUNE_EVERY_S = 3600.0
_LONGEST_VALUE = 500
_REMEMBERED = 1000
_SECRET_NAME = re.compile(r"(?i)pass(word|phrase)?|secret|token|api_?key|credential|authorization")
_SECRET_VALUE = re.compile(
    r"\b(trv_[0-9a-f]{12}_|sk-|ghp_|github_pat_|xox[abp]-)[\w-]{8,}|(?i:bearer)\s+[\w.~+/-]{8,}=*"
)
# `user:token@` in an address, with or without a scheme; a token may also stand where the user's name does
_URL_LOGIN = re.compile(r"(?<=://)[^/\s]+(?=@)|(?<!\S)[^\s/@:]+:[^\s/]+(?=@)")


class Audit:
    def __init__(self, log: AuditLog, days: int, clock: Callable[[], float] = time.time) -> None:
        self._log, self._days, self._clock = log, days, clock
        self._next_prune = 0.0
        self._pruning = threading.Lock()
        self._seldom: dict[str, float] = {}

    def record(self, entry: AuditEntry) -> None:
        self._log.append([entry])
        now = self._clock()
        if now >= self._next_prune and self._pruning.acquire(blocking=False):
            try:
                self._next_prune = now + _PRUNE_EVERY_S
                self._log.prune(now - self._days * DAY_S)
            finally:
                self._pruning.release()

    def record_seldom(self, what: str, entry: AuditEntry) -> None:
        """Refusals cost an attacker nothing, so of equal ones at most one a second is kept."""
        with self._pruning:
            if len(self._seldom) > _REMEMBERED:
                self._seldom.clear()
            if entry.at < self._seldom.get(what, 0.0) + 1.0:
                return
            self._seldom[what] = entry.at
        self.record(entry)

    def now(self) -> float:
        return self._clock()


def redacted(arguments: Mapping[str, Any], secrets: frozenset[str] = frozenset()) -> str:
    """Arguments as JSON, without what looks like a secret by its name or by itself, long values cut."""
    return json.dumps(
        {name: "…" if name in secrets else _clean(name, value) for name, value in arguments.items()},
        ensure_ascii=False,
        separators=(",", ":"),
        default=str,
    )


def _clean(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _clean(str(key), one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(name, one) for one in value[:50]]
    if isinstance(value, str):
        if _SECRET_NAME.search(name):
            return f"…{value[-4:]}" if len(value) > 8 else "…"
        text = _URL_LOGIN.sub("…", _SECRET_VALUE.sub("…", value[: 4 * _LONGEST_VALUE]))
        return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
    return value
