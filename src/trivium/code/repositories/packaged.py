"""A folder that is itself a Python package: its files import one another by a name that stands above it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trivium.code.lowering import ops
from trivium.model.code import CodeGraph, symbol_id

Build = Callable[[str, Sequence[ops.FileFacts], Mapping[str, bytes]], CodeGraph]


def package_prefix(root: Path) -> str:
    """`django/` for the folder django with an `__init__.py` in it, `a/b/` where a folder above is a package, too."""
    names: list[str] = []
    while (root / "__init__.py").is_file() and root.name.isidentifier():
        names.insert(0, root.name)
        root = root.parent
    return "".join(f"{name}/" for name in names)


def build_below(
    build: Build, prefix: str, repository: str, facts: Sequence[ops.FileFacts], configs: Mapping[str, bytes]
) -> CodeGraph:
    """The graph as the files see it from above the folder, with the paths as they are in it."""
    if not prefix:
        return build(repository, facts, configs)
    placed = [unit._replace(path=prefix + unit.path) for unit in facts]
    graph = build(repository, placed, {prefix + path: data for path, data in configs.items()})
    return seen_from_inside(graph, prefix)


def seen_from_inside(graph: CodeGraph, prefix: str) -> CodeGraph:
    """The same graph with the paths as they are in the folder."""
    if not prefix:
        return graph
    long, short = symbol_id(graph.repository, prefix), symbol_id(graph.repository, "")

    def key(found: str) -> str:
        return short + found[len(long) :] if found.startswith(long) else found

    symbols = [
        replace(
            s, symbol_id=key(s.symbol_id), path=s.path.removeprefix(prefix), parent_id=s.parent_id and key(s.parent_id)
        )
        for s in graph.symbols
    ]
    return CodeGraph(
        graph.repository,
        tuple(sorted(symbols, key=lambda s: s.symbol_id)),
        tuple(replace(e, source=key(e.source), target=key(e.target)) for e in graph.edges),
        tuple(replace(b, path=b.path.removeprefix(prefix)) for b in graph.blind_spots),
    )
