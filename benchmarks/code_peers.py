"""Beside CodeGraphContext and codegraph, on the same files: CPU of indexing one repository, recall on labelled calls.

    python benchmarks/code_peers.py PATH/TO/PACKAGE --cases pycg_micro.jsonl.gz
        [--cgc VENV/bin/cgc] [--codegraph node_modules/.bin/codegraph] [--sample 25]

The peers are installed by hand, outside this project: `pip install codegraphcontext 'tree-sitter-language-pack<1'`
(newer ones fetch grammars at run time) and `npm i @colbymchenry/codegraph`. Every tool is a process on a fresh
folder; CPU is that of the process and its children. Labelled calls: internal edges, a sample of cases one by one.
"""

import argparse
import gzip
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from trivium.code.callgraph import call_graph
from trivium.code.languages import read_file

Edge = tuple[str, str]
Place = tuple[str, int, str]  # path, line, name


def ran(command: list[str], folder: Path) -> tuple[float, str]:
    """CPU seconds of a command and its children, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "HOME": str(folder), "CODEGRAPH_TELEMETRY": "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=1800)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr[-500:]}{done.stdout[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def one_file(run: Callable[[Path], tuple[float, Any]]) -> float:
    """CPU of indexing a folder with one small file: what starting costs, imports, models and databases included."""
    with scratch() as folder:
        (folder / "one").mkdir()
        (folder / "one" / "one.py").write_text("def one():\n    return 1\n")
        return run(folder / "one")[0]


def with_trivium(root: Path) -> tuple[float, set[tuple[Place, Place]]]:
    with scratch() as home:
        command = [sys.executable, "-m", "trivium", "--data", str(home / "data"), "index", str(root), "--no-vectors"]
        return ran(command, home)[0], set()


def with_cgc(program: str, root: Path) -> tuple[float, set[tuple[Place, Place]]]:
    with scratch() as home:
        copy = home / "work" / root.name  # it leaves out what lies below hidden folders
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns("__pycache__"))
        root = copy
        base = [program, "--db", "kuzudb", "--path", str(home / "graph")]
        seconds, _ = ran([*base, "index", str(root)], home)
        columns = ", ".join(f"{end}.{what}" for end in "ab" for what in ("path", "line_number", "name"))
        _, printed = ran([*base, "query", f"MATCH (a)-[r:CALLS]->(b) RETURN {columns}"], home)
    rows: list[dict[str, Any]] = json.loads(printed[printed.index("[\n") :]) if "[\n" in printed else []
    return seconds, {(_cgc_place(row, "a", root), _cgc_place(row, "b", root)) for row in rows}


def _cgc_place(row: dict[str, Any], end: str, root: Path) -> Place:
    path = os.path.relpath(str(row[f"{end}.path"]), root)
    return path, int(row[f"{end}.line_number"] or 0), str(row[f"{end}.name"])


def with_codegraph(program: str, root: Path) -> tuple[float, set[tuple[Place, Place]]]:
    with scratch() as home:
        copy = home / root.name
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns("__pycache__"))
        seconds, _ = ran([program, "init", "-i", str(copy)], home)
        db = sqlite3.connect(copy / ".codegraph" / "codegraph.db")
        rows = db.execute(
            "SELECT a.file_path, a.start_line, a.name, b.file_path, b.start_line, b.name FROM edges"
            " JOIN nodes a ON a.id = source JOIN nodes b ON b.id = target WHERE edges.kind IN ('calls', 'instantiates')"
        ).fetchall()
        db.close()
    return seconds, {((a, b, c), (d, e, f)) for a, b, c, d, e, f in rows}


class Names:
    """From a place in a file to the name the labels use."""

    def __init__(self, files: dict[str, str]) -> None:
        self._facts = {path: read_file(path, text.encode()) for path, text in files.items()}

    def of(self, place: Place) -> str:
        path, line, name = place
        facts = self._facts.get(path)
        module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        if facts is None:
            return ""
        around = [d for d in facts.definitions if d.name == name and d.line <= line <= d.end_line]
        if not around:
            return module
        best = max(around, key=lambda d: d.line)
        known = {d.qualified_name for d in facts.definitions}
        if best.kind == "class":  # a call of a class is one of its constructor
            return f"{module}.{best.qualified_name}.__init__" if f"{best.qualified_name}.__init__" in known else ""
        return f"{module}.{best.qualified_name}"


def labelled(file: Path, sample: int) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    return random.Random(3).sample(cases, min(sample, len(cases)))


def score(cases: list[dict[str, Any]], find: Callable[[dict[str, str]], set[Edge]]) -> tuple[float, float]:
    right = found = wanted = 0
    for case in cases:
        internal = _defined(case["files"])
        expected = {(a, b) for a, callees in case["callgraph"].items() for b in callees if b in internal}
        edges = {edge for edge in find(case["files"]) if edge[1] in internal}
        right, found, wanted = right + len(edges & expected), found + len(edges), wanted + len(expected)
    return right / found if found else 0.0, right / wanted if wanted else 0.0


def _defined(files: dict[str, str]) -> set[str]:
    found: set[str] = set()
    for path, text in files.items():
        facts = read_file(path, text.encode())
        module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        found |= {f"{module}.{f.qualified_name}" for f in facts.functions if f.qualified_name} if facts else set()
    return found


def by_peer(run: Callable[[Path], tuple[float, set[tuple[Place, Place]]]]) -> Callable[[dict[str, str]], set[Edge]]:
    def find(files: dict[str, str]) -> set[Edge]:
        with scratch() as folder:
            root = folder / "case"
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            _, edges = run(root)
        names = Names(files)
        return {(names.of(a), names.of(b)) for a, b in edges}

    return find


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("package", type=Path)
    arguments.add_argument("--cases", type=Path, required=True)
    arguments.add_argument("--cgc")
    arguments.add_argument("--codegraph")
    arguments.add_argument("--sample", type=int, default=25)
    options = arguments.parse_args()
    root: Path = options.package.resolve()
    lines = sum(path.read_bytes().count(b"\n") for path in root.rglob("*.py")) / 1000
    cases = labelled(options.cases, options.sample)
    print(f"{root.name}: {lines:.1f} kLOC; {len(cases)} labelled cases", flush=True)
    ours = show("trivium", with_trivium, root, lines, 0.0)
    judged("trivium", cases, lambda files: call_graph({path: text.encode() for path, text in files.items()})[0])
    peers = {"CodeGraphContext": (options.cgc, with_cgc), "codegraph": (options.codegraph, with_codegraph)}
    for name, (program, run) in peers.items():
        if program:
            tool = partial(run, program)
            show(name, tool, root, lines, ours)
            judged(name, cases, by_peer(tool))


def show(name: str, run: Callable[[Path], tuple[float, Any]], root: Path, lines: float, ours: float) -> float:
    """The whole process, and what is left of it without starting; answers the latter."""
    whole, found = run(root)
    net = whole - one_file(run)
    ratio = f" = {net / ours:5.1f} x ours" if ours else ""
    calls = f"; {len(found)} calls found" if found else ""
    cost = f"{whole:6.2f} s CPU, {net:6.2f} s of it for these files = {net / lines:.3f} s/kLOC{ratio}{calls}"
    print(f"{name:18} {cost}", flush=True)
    return net


def judged(name: str, cases: list[dict[str, Any]], find: Callable[[dict[str, str]], set[Edge]]) -> None:
    precision, recall = score(cases, find)
    print(f"{name:18} labelled calls: precision {precision:.3f}, recall {recall:.3f}", flush=True)


if __name__ == "__main__":
    main()
