"""How a repository is laid out, and which part depends on which."""

import posixpath
from collections import Counter
from typing import Any

from trivium.code.entities import check_repository
from trivium.errors import InvalidInput, NotFound
from trivium.model.code import RELATIONSHIPS, Symbol
from trivium.ports.code_graph import CodeGraphStore

DETAIL_LEVELS = ("packages", "modules", "files", "entities")
Tree = dict[str, Any]


def get_architecture(
    graph: CodeGraphStore,
    repository: str,
    detail_level: str,
    scope: str | None = None,
    include_external: bool = False,
    *,
    offset: int = 0,
    limit: int | None = None,
) -> dict[str, Any]:
    """The answer of `get_architecture` without its timing, which the door adds.

    A part holds `limit` files (packages, where only those are shown) with the folders around them and the dependencies
    that start there; all parts together hold everything once.
    """
    if detail_level not in DETAIL_LEVELS:
        named = ", ".join(DETAIL_LEVELS)
        raise InvalidInput(f"detail_level must be one of: {named}", field="detail_level", allowed=DETAIL_LEVELS)
    check_repository(graph, repository)
    symbols = graph.symbols(repository)
    root = (scope or "").strip("/").removeprefix("./")
    files = [s for s in symbols if s.kind == "file" and _is_under(s.path, root)]
    if root and not files:
        folders = sorted({posixpath.dirname(s.path) for s in symbols if s.kind == "file"} - {""})
        raise NotFound(f"No files under scope {root!r}", nearest=folders[:10], code="ENTITY_NOT_FOUND")
    if any(f.path == root for f in files):
        root = posixpath.dirname(root)
    entities = [s for s in symbols if s.kind != "file"] if detail_level == "entities" else []
    packages = sorted({posixpath.dirname(f.path) for f in files})
    total = len(packages) if detail_level == "packages" else len(files)
    end = total if limit is None else min(offset + limit, total)
    shown = _shown(files, packages, detail_level, offset, end)
    part = {"returned_count": end - offset, "next_offset": end} if offset < end < total else {}
    return {
        "repository": repository,
        "root": _tree(root, files, shown, entities, detail_level),
        "module_dependencies": _dependencies(graph, files, shown, detail_level, include_external),
        "metadata": {"total_packages": len(packages), "total_files": len(files)} | part,
    }


def _shown(files: list[Symbol], packages: list[str], detail_level: str, offset: int, end: int) -> list[Symbol]:
    if detail_level != "packages":
        return files[offset:end]
    wanted = set(packages[offset:end])
    return [file for file in files if posixpath.dirname(file.path) in wanted]


def _is_under(path: str, root: str) -> bool:
    return not root or path == root or path.startswith(root + "/")


def _tree(root: str, files: list[Symbol], shown: list[Symbol], entities: list[Symbol], detail_level: str) -> Tree:
    """Folders nest; a folder that itself holds source files is a package. Counts are of all files in it."""
    inner: dict[str, list[Symbol]] = {}
    for entity in entities:
        inner.setdefault(entity.parent_id or "", []).append(entity)
    nodes: dict[str, Tree] = {root: _folder(root or ".", "directory")}
    for file in shown:
        folder = posixpath.dirname(file.path)
        _ensure(nodes, folder, root)
        if detail_level != "packages":
            nodes[folder]["children"].append(_file(file, inner, detail_level))
    for folder, count in Counter(posixpath.dirname(file.path) for file in files).items():
        if folder in nodes and folder != root:
            nodes[folder]["type"] = "package"
        for path in _chain(folder, root):
            if path in nodes:
                nodes[path]["file_count"] += count
    return nodes[root]


def _folder(path: str, kind: str) -> Tree:
    return {"name": posixpath.basename(path) or path, "type": kind, "file_count": 0, "children": []}


def _chain(folder: str, root: str) -> list[str]:
    """The folder and those above it, up to the root."""
    chain = [folder]
    while chain[-1] != root and chain[-1]:
        chain.append(posixpath.dirname(chain[-1]))
    return chain


def _ensure(nodes: dict[str, Tree], folder: str, root: str) -> None:
    """Makes the folder and those above it where they are missing."""
    for path in reversed(_chain(folder, root)):
        if path not in nodes:
            nodes[path] = _folder(path, "directory")
            nodes[posixpath.dirname(path)]["children"].append(nodes[path])


def _file(file: Symbol, inner: dict[str, list[Symbol]], detail_level: str) -> Tree:
    if detail_level == "modules":
        return {"name": posixpath.splitext(file.name)[0], "type": "module", "path": file.path}
    node: Tree = {"name": file.name, "type": "file", "path": file.path, "line_count": file.end_line}
    if detail_level == "entities":
        node["children"] = [_entity(s, inner) for s in inner.get(file.symbol_id, ())]
    return node


def _entity(symbol: Symbol, inner: dict[str, list[Symbol]]) -> Tree:
    node: Tree = {"name": symbol.name, "type": symbol.kind, "line_number": symbol.line}
    children = [_entity(s, inner) for s in inner.get(symbol.symbol_id, ())]
    return {**node, "children": children} if children else node


def _dependencies(
    graph: CodeGraphStore, files: list[Symbol], shown: list[Symbol], detail_level: str, include_external: bool
) -> list[dict[str, Any]]:
    """Edges counted between folders, or between files where files are shown. Those of a folder stand in the part in
    which it begins."""
    by_file = detail_level in ("files", "entities")
    mine = {f.symbol_id: f.path for f in files}
    sources = shown if by_file else _begun(files, shown)
    counts: Counter[tuple[str, str]] = Counter()
    for edge in graph.outgoing([file.symbol_id for file in sources], RELATIONSHIPS, True):
        source, target = mine.get(edge.source.partition("::")[0]), _place(edge.target, mine, include_external)
        if source is None or target is None:
            continue
        here = source if by_file else posixpath.dirname(source) or "."
        there = target if by_file or edge.target.startswith("symbol:package:") else posixpath.dirname(target) or "."
        if here != there:
            counts[here, there] += 1
    return [{"from": a, "to": b, "relationship_count": n} for (a, b), n in sorted(counts.items())]


def _begun(files: list[Symbol], shown: list[Symbol]) -> list[Symbol]:
    """All files of those folders whose first file is shown."""
    if len(shown) == len(files):
        return files
    first: dict[str, str] = {}
    for file in files:
        first.setdefault(posixpath.dirname(file.path), file.symbol_id)
    here = {file.symbol_id for file in shown}
    return [file for file in files if first[posixpath.dirname(file.path)] in here]


def _place(symbol: str, mine: dict[str, str], include_external: bool) -> str | None:
    if symbol.startswith("symbol:package:"):
        return symbol.removeprefix("symbol:package:") if include_external else None
    return mine.get(symbol.partition("::")[0])
