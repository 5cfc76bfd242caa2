"""Indexing a large Python package: CPU beside a bare tree-sitter parse of the same files, memory, determinism, updates.

    python benchmarks/code_index.py PATH/TO/django [--runs 3]

Prints the ratio to the parse measured in the same run, kLOC/s a core, peak memory, whether two runs agree, and what one
changed file costs.
"""

import argparse
import gc
import hashlib
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trivium.code.analyse import build_graph, read_facts
from trivium.code.languages import _language
from trivium.code.update import LiveGraph


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    result = work()
    return time.process_time() - before, result


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("package", type=Path)
    arguments.add_argument("--runs", type=int, default=3)
    options = arguments.parse_args()
    root: Path = options.package.resolve()
    files = {p.relative_to(root.parent).as_posix(): p.read_bytes() for p in sorted(root.rglob("*.py"))}
    lines = sum(source.count(b"\n") + 1 for source in files.values())
    _, parser = _language("python")
    gc.disable()

    def bare() -> None:
        for source in files.values():
            parser.parse(source)

    def full() -> Any:
        facts = [f for path, source in files.items() if (f := read_facts(path, source)) is not None]
        return build_graph("bench", facts, {})

    bare()
    parses, fulls, digests = [], [], set()
    for _ in range(options.runs):
        parses.append(cpu(bare)[0])
        seconds, graph = cpu(full)
        fulls.append(seconds)
        digests.add(hashlib.sha256(repr(graph).encode()).hexdigest())
    ratios = sorted(f / p for f, p in zip(fulls, parses, strict=True))
    print(f"{len(files)} files, {lines / 1000:.0f} kLOC, {len(graph.symbols)} symbols, {len(graph.edges)} edges")
    print(f"bare parse          {min(parses):.2f} s CPU")
    print(f"graph               {min(fulls):.2f} s CPU = {lines / 1000 / min(fulls):.1f} kLOC/s")
    print(
        f"ratio               {statistics.median(ratios):.2f} median of {options.runs}, {ratios[0]:.2f} best (limit 7)"
    )
    print(f"peak memory         {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB (limit 600)")
    print(f"runs agree          {len(digests) == 1}")
    update(files, min(fulls))
    sys.exit(0)


def update(files: dict[str, bytes], full_s: float) -> None:
    """One changed file, as a running server sees it."""
    live = LiveGraph("bench")
    live.replace(files)
    path = next(p for p in files if p.endswith("/core/cache/__init__.py"))
    changed = {**files, path: files[path] + b"\n\ndef added():\n    close_caches()\n"}
    edges_s, _ = cpu(lambda: live.change({path: changed[path]}, ()))
    calls_s, graph = cpu(live.solve)
    name = f"symbol:bench:{path}::added"
    print(f"changed file        edges of files after {edges_s:.3f} s = {edges_s / full_s:.1%} (limit 1 %)")
    print(f"                    calls after {calls_s:.3f} s = {(edges_s + calls_s) / full_s:.1%} (limit 10 %)")
    print(f"                    visible {any(e.source == name for e in graph.edges)}")


if __name__ == "__main__":
    main()
