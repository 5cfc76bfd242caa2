"""How graph queries fare: counts, times, cache hits, by kind and over the last seven days."""

from collections import deque
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, NamedTuple

from trivium.errors import InvalidInput

QUERY_TYPES = ("getDependencies", "getDependents", "getPath", "getArchitecture")
_WEEK_S = 7 * 24 * 3600.0
_KEPT = 10_000


class Sample(NamedTuple):
    query_type: str
    at_s: float
    duration_ms: float
    result_count: int
    cache_hit: bool
    failed: bool


class GraphMetrics:
    """Keeps the last ten thousand queries; `clock` gives seconds since the epoch."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._samples: deque[Sample] = deque(maxlen=_KEPT)
        self._lock = Lock()

    def record(
        self, query_type: str, duration_ms: float, result_count: int = 0, cache_hit: bool = False, failed: bool = False
    ) -> None:
        with self._lock:
            self._samples.append(Sample(query_type, self._clock(), duration_ms, result_count, cache_hit, failed))

    def report(self, query_type: str = "all") -> dict[str, Any]:
        """The answer of `get_graph_metrics`."""
        if query_type != "all" and query_type not in QUERY_TYPES:
            allowed = ("all", *QUERY_TYPES)
            raise InvalidInput(f"query_type must be one of: {', '.join(allowed)}", field="query_type", allowed=allowed)
        with self._lock:
            samples = list(self._samples)
        if query_type != "all":
            mine = [s for s in samples if s.query_type == query_type]
            return {"success": True, "queryType": query_type, "stats": _stats(query_type, mine)}
        recent = [s for s in samples if s.at_s >= self._clock() - _WEEK_S]
        kinds = [k for k in QUERY_TYPES if any(s.query_type == k for s in samples)]
        return {
            "success": True,
            "metrics": {
                "totalQueries": len(samples),
                "averageDurationMs": _mean(s.duration_ms for s in samples),
                "cacheHitRate": _mean((s.cache_hit for s in samples), 2),
                "byQueryType": [_stats(k, [s for s in samples if s.query_type == k]) for k in kinds],
                "last7DaysTrend": {
                    "queryCount": len(recent),
                    "averageDurationMs": _mean(s.duration_ms for s in recent),
                    "cacheHitRate": _mean((s.cache_hit for s in recent), 2),
                },
            },
        }


def _stats(query_type: str, samples: list[Sample]) -> dict[str, Any]:
    times = [s.duration_ms for s in samples]
    return {
        "queryType": query_type,
        "totalQueries": len(samples),
        "averageDurationMs": _mean(times),
        "maxDurationMs": round(max(times, default=0.0), 1),
        "minDurationMs": round(min(times, default=0.0), 1),
        "cacheHitRate": _mean((s.cache_hit for s in samples), 2),
        "averageResultCount": _mean(s.result_count for s in samples),
        "errorCount": sum(s.failed for s in samples),
    }


def _mean(values: Iterable[float], digits: int = 1) -> float:
    known = list(values)
    return round(sum(known) / len(known), digits) if known else 0.0
