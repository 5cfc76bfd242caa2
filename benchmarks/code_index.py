"""Indexing a large Python package: CPU beside a bare tree-sitter parse of the same files, memory, determinism, updates.

    python benchmarks/code_index.py PATH/TO/django [--runs 3]

Prints the ratio to the parse measured in the same run, kLOC/s a core, peak memory, whether two runs agree, and what one
changed file costs.
"""

import argparse
import gc
import hashlib
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.code.analyse import build_graph, read_facts
from trivium.code.dependents import get_dependents
from trivium.code.languages import _language
from trivium.settings import Settings

CHANGED = ("core/cache/__init__.py", "utils/functional.py", "http/request.py", "db/models/query.py")


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
    update(root, min(fulls))
    sys.exit(0)


def update(root: Path, graph_s: float) -> None:
    """One changed file, through the product: until `get_dependents` shows its imports, and its calls."""
    with tempfile.TemporaryDirectory() as scratch:
        package = Path(scratch) / root.name
        shutil.copytree(root, package, ignore=shutil.ignore_patterns("__pycache__"))
        app = open_app(Settings(data=Path(scratch) / "data"), lambda _: HashingEmbedder())
        indexed_s, _ = cpu(lambda: app.code.repositories.index(str(package), "bench"))
        print(f"whole index         {indexed_s:.2f} s CPU with chunks and rows; shares below are of the graph's time")
        app.code.graph.find("", None)
        largest = sorted(package.rglob("*.py"), key=lambda p: p.stat().st_size)[-1].relative_to(package).as_posix()
        for path in (*CHANGED, largest):
            change(app, package, path, graph_s)
        settle_s, _ = cpu(lambda: app.code.repositories.update("bench"))
        print(f"all calls again     {settle_s:.2f} s, and the graph is that of a new index")
        app.close()


def change(app: App, package: Path, path: str, graph_s: float) -> None:
    shown: list[float] = []
    started = time.process_time()
    patches = app.code.repositories._patches
    apply = patches.apply

    def applied(*given: Any) -> None:
        apply(*given)
        app.code.graph.find("", None)  # the image that answers has it
        shown.append((time.process_time() - started) / graph_s)

    patches.apply = applied  # type: ignore[method-assign]
    (package / path).write_text(
        (package / path).read_text() + "\n\ndef added_here():\n    helper_here()\n\n\ndef helper_here(): ...\n"
    )
    started = time.process_time()
    app.code.repositories.update("bench", touched=[path], settle=False)
    patches.apply = apply  # type: ignore[method-assign]
    answer = get_dependents(app.code.graph, "function", f"{path}::helper_here", "bench")
    visible = any(row["path"].endswith("::added_here") for row in answer["dependents"])
    print(f"changed {path:28} imports after {shown[0]:.1%} (1 %), calls after {shown[1]:.1%} (10 %), seen: {visible}")


if __name__ == "__main__":
    main()
