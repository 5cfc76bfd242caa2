"""SCIP indexes that were handed in: checked against the files, kept, and put over every graph of them.

A document holds for one version of its file. When the file changes, our own analysis takes over until a new index
comes; nothing is ever resolved by positions that have moved. Protobuf is imported where an index is there to read:
most repositories have none.
"""

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from trivium.errors import InvalidInput
from trivium.model.code import CodeGraph
from trivium.ports.scip import ScipStore

ScipIndex = Any  # scip.proto's `Index`; protobuf makes its class at run time


class IndexedText(NamedTuple):
    """A file as it is being indexed."""

    path: str
    blob_hash: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ScipReport:
    """`covered` counts files resolved by an index now; `unfit` names documents without a file they fit to."""

    covered: int = 0
    unfit: tuple[tuple[str, str], ...] = ()


def read_index(data: bytes, name: str) -> ScipIndex:
    """An index, or an error that names the file it came from."""
    from trivium.code.scip.wire import Index, Unreadable

    try:
        index = Index.FromString(data)
    except Unreadable as error:
        raise InvalidInput(f"scip: {name} is no SCIP index", field="scip", hint="give the index.scip itself") from error
    if not index.documents:
        raise InvalidInput(f"scip: {name} holds no documents", field="scip", hint="run the indexer again")
    return index


class ScipIndexes:
    def __init__(self, store: ScipStore) -> None:
        self._store = store
        self._offered: dict[str, Sequence[ScipIndex]] = {}
        self._reports: dict[str, ScipReport] = {}

    def offer(self, repository: str, indexes: Sequence[ScipIndex]) -> None:
        """Indexes for the next graph of this repository; none of those offered before."""
        self._offered[repository] = indexes

    def report(self, repository: str) -> ScipReport:
        """How the last graph of a repository fared."""
        return self._reports.get(repository, ScipReport())

    def over(self, graph: CodeGraph, location: Path, files: Iterable[IndexedText]) -> CodeGraph:
        """The graph with everything that indexes know of these very files."""
        name = graph.repository
        offered, kept = self._offered.pop(name, ()), self._store.get(name)
        if not offered and not kept:
            self._reports.pop(name, None)
            return graph
        from trivium.code.scip.overlay import overlaid
        from trivium.code.scip.wire import Document

        known = {file.path: file for file in files}
        unfit: list[tuple[str, str]] = []
        new: dict[str, tuple[str, bytes]] = {}
        for index in offered:
            prefix = _prefix(index.metadata.project_root, location)
            for document in index.documents:
                path = posixpath.normpath(posixpath.join(prefix, document.relative_path))
                reason = _unfit(document, known.get(path))
                if reason:
                    unfit.append((path, reason))
                else:
                    new[path] = known[path].blob_hash, document.SerializeToString(deterministic=True)
        self._store.put(name, new)
        holding = {p: d for p, (blob, d) in (kept | new).items() if p in known and known[p].blob_hash == blob}
        self._reports[name] = ScipReport(len(holding), tuple(unfit))
        documents = {path: Document.FromString(data) for path, data in holding.items()}
        return overlaid(graph, documents, {path: known[path].data for path in documents})


def _unfit(document: Any, file: IndexedText | None) -> str:
    if file is None:
        return "the SCIP index names a file that is not indexed here"
    from trivium.code.scip.overlay import is_made_from
    from trivium.code.scip.text import SourceText

    if not is_made_from(document, SourceText(file.data, document.position_encoding)):
        return "the SCIP index was made from another version of this file"
    return ""


def _prefix(project_root: str, location: Path) -> str:
    """Where the index's own root lies below ours; an index from another machine is taken to have the same root."""
    parts = urlsplit(project_root)
    root = Path(unquote(parts.path)) if parts.scheme == "file" else location
    return root.relative_to(location).as_posix() if root.is_relative_to(location) else "."
