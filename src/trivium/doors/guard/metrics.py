"""Counts calls for Prometheus. Each process adds up in memory and passes on to the shared counters every second, so
that whichever process is asked, it answers for all of them."""

import threading
import time
from collections import defaultdict

from trivium.ports.counters import Counters

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_PREFIX = "trivium_"
_EVERY_S = 1.0
_HELP = {
    "trivium_calls_total": "Tool calls by tool and outcome.",
    "trivium_call_seconds": "Time a tool call took.",
    "trivium_cache_requests_total": "Rankings asked of the cache, by whether it had them.",
    "trivium_http_responses_total": "HTTP responses by status.",
    "trivium_tokens_total": "Tokens of answers sent.",
    "trivium_flagged_total": "Calls that looked like harvesting or probing.",
}


class Metrics:
    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._lock = threading.Lock()
        self._pending: defaultdict[str, float] = defaultdict(float)
        self._flush_at = time.monotonic() + _EVERY_S

    def call(self, tool: str, outcome: str, seconds: float) -> None:
        label = f'tool="{_escaped(tool)}"'
        amounts = {
            f'trivium_calls_total{{{label},outcome="{_escaped(outcome)}"}}': 1.0,
            f"trivium_call_seconds_sum{{{label}}}": seconds,
            f"trivium_call_seconds_count{{{label}}}": 1.0,
            f'trivium_call_seconds_bucket{{{label},le="+Inf"}}': 1.0,
        }
        amounts |= {
            f'trivium_call_seconds_bucket{{{label},le="{bound:g}"}}': 1.0 for bound in BOUNDS_S if seconds <= bound
        }
        self._add(amounts)

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        inside = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
        self._add({f"{_PREFIX}{name}{{{inside}}}" if inside else _PREFIX + name: amount})

    def text(self) -> str:
        """Prometheus text format 0.0.4."""
        self.flush()
        values = {name: value for name, value in self._counters.all().items() if name.startswith(_PREFIX)}
        lines: list[str] = []
        for family in sorted({_family(name) for name in values}):
            kind = "histogram" if family.endswith("_seconds") else "counter"
            lines += [f"# HELP {family} {_HELP.get(family, family)}", f"# TYPE {family} {kind}"]
            lines += [f"{name} {values[name]:.10g}" for name in sorted(values) if _family(name) == family]
        return "\n".join(lines) + "\n"

    def flush(self) -> None:
        with self._lock:
            pending, self._pending = dict(self._pending), defaultdict(float)
            self._flush_at = time.monotonic() + _EVERY_S
        if pending:
            self._counters.add(pending)

    def _add(self, amounts: dict[str, float]) -> None:
        with self._lock:
            for name, amount in amounts.items():
                self._pending[name] += amount
            due = time.monotonic() >= self._flush_at
        if due:
            self.flush()


def _family(name: str) -> str:
    family = name.partition("{")[0]
    for ending in ("_sum", "_count", "_bucket"):
        if family.endswith("_seconds" + ending):
            return family.removesuffix(ending)
    return family


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
