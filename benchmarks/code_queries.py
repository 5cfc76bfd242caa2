"""Questions to the graph of a large package, in CPU time: over all symbols, at the median and at the worst.

    python benchmarks/code_queries.py PATH/TO/django [--data FOLDER] [--sample 3000]

Every question goes the way the tools go, with their default page. `--data` keeps the indexed repository for a next run.
"""

import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from code_package import with_package
from trivium.app import App
from trivium.code.architecture import get_architecture
from trivium.code.dependencies import get_dependencies
from trivium.code.dependents import get_dependents
from trivium.code.entities import entity_type
from trivium.code.paths import find_path
from trivium.model.code import Symbol

NAME = "bench"
ROUNDS = 3  # of each question; the least is kept, since a shared machine only ever adds


def least_ms(graph: Any, ask: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        graph._current()._reached.clear()  # as if nobody had asked before
        before = time.process_time()
        ask()
        times.append(time.process_time() - before)
    return min(times) * 1000


def row(what: str, limit_ms: float, asked: Sequence[tuple[float, str]]) -> None:
    times = [ms for ms, _ in asked]
    worst_ms, worst = max(asked)
    above = sum(ms > limit_ms for ms in times)
    print(
        f"{what:32} median {statistics.median(times):7.2f}  worst {worst_ms:7.2f}  limit {limit_ms:5.0f} ms"
        f"  above it {above} of {len(times)}  (worst: {worst})"
    )


def measure(app: App, sample: int) -> None:
    graph = app.code.graph
    symbols = [s for s in graph.symbols(NAME) if s.kind != "package"]
    print(f"{len(symbols)} symbols")
    random.seed(5)
    some = symbols if sample >= len(symbols) else random.sample(symbols, sample)
    for depth, limit in ((1, 2.0), (5, 20.0)):
        for what, ask in (("get_dependents", get_dependents), ("get_dependencies", get_dependencies)):
            row(
                f"{what} depth {depth}",
                limit,
                [(least_ms(graph, question(ask, graph, s, depth)), s.entity_path) for s in some],
            )
    pairs = [random.sample(symbols, 2) for _ in range(min(sample, 2000))]
    row(
        "find_path 20 hops",
        20.0,
        [
            (least_ms(graph, lambda a=a, b=b: find_path(graph, a.entity_path, b.entity_path, NAME, 20)), a.entity_path)
            for a, b in pairs
        ],
    )
    row("get_architecture files", 100.0, [(least_ms(graph, lambda: get_architecture(graph, NAME, "files")), "")])


def question(ask: Callable[..., Any], graph: Any, symbol: Symbol, depth: int) -> Callable[[], Any]:
    return lambda: ask(graph, entity_type(symbol.kind), symbol.entity_path, NAME, depth, limit=500)


if __name__ == "__main__":
    with_package(__doc__, NAME, 100_000, measure)
