"""Calls that are labelled in the fixture projects: how many our analysis finds, how many a compiler-made SCIP index
alone, how many both together. Run: python benchmarks/scip_recall.py"""

import time
from dataclasses import replace
from pathlib import Path

from trivium.code.analyse import analyse
from trivium.code.scip.overlay import overlaid
from trivium.code.scip.wire import Index
from trivium.code.scip.write import ScipWriter
from trivium.model.code import CodeGraph

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"


def calls(graph: CodeGraph) -> set[tuple[str, str]]:
    names = {symbol.symbol_id: symbol.entity_path for symbol in graph.symbols}
    return {(names[e.source], names[e.target]) for e in graph.edges if e.relationship == "calls"}


def main() -> None:
    for language in ("typescript", "python"):
        root = FIXTURES / "code" / language
        paths = [path for path in sorted(root.rglob("*")) if path.is_file() and path.name != "labels.txt"]
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
        rows = [line.split() for line in (root / "labels.txt").read_text().splitlines() if line.strip()]
        labelled = {(source, target) for word, source, target in rows if word == "calls"}
        index = Index.FromString((FIXTURES / "scip" / f"{language}.scip").read_bytes())
        documents = {document.relative_path: document for document in index.documents}
        ours = analyse("x", files)
        alone = overlaid(replace(ours, edges=(), blind_spots=()), documents, files)
        both = overlaid(ours, documents, files)
        found = {"ours": ours, "index alone": alone, "both": both}
        print(language, f"{len(labelled)} labelled calls:", end=" ")
        print(", ".join(f"{name} {len(calls(graph) & labelled)}" for name, graph in found.items()))
    _codec()


def _codec() -> None:
    """What the format itself costs, on our own sources."""
    root = Path(__file__).parents[1] / "src"
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.py"))}
    graph = analyse("trivium", files)
    started = time.process_time()
    data = ScipWriter("trivium", "file:///trivium", "0", graph.symbols, graph.edges, files).serialized({})
    written = time.process_time()
    index = Index.FromString(data)
    read = time.process_time()
    back = overlaid(replace(graph, edges=(), blind_spots=()), {d.relative_path: d for d in index.documents}, files)
    done = time.process_time()
    print(
        f"our own sources: {len(files)} files, {len(graph.edges)} edges, {len(data) / 1e3:.0f} kB;"
        f" CPU s to write {written - started:.2f}, to decode {read - written:.3f}, to apply {done - read:.2f};"
        f" edges that came back {len(back.edges)}"
    )


if __name__ == "__main__":
    main()
