"""VectorIndex in plain files: exact below some ten thousand passages, sign bits with exact rescoring above."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock

from trivium.backends.bits import scan, writer
from trivium.backends.bits.folder import Folder
from trivium.backends.bits.manifest import REBUILD, Manifest
from trivium.backends.bits.vectors import Scores
from trivium.backends.bits.view import View, opened
from trivium.errors import BackendUnavailable, IndexDamaged, InvalidInput
from trivium.model.embedding import Ids, Vector, Vectors

_POLL_S = 0.01


class BitsVectorIndex:
    """Lives in `path`. Safe to share between threads; any number of processes may open the same folder, of which one
    writes at a time and all others notice what it wrote with their next call.

    Up to `exact_rows` passages reading every vector costs no more than a scan, so no bits are kept. Compaction waits
    for a quarter of the rows to be dead, and for `least_dead_rows` of them. A vector file of up to `mapped_bytes` (by
    default a quarter of a million vectors of 384 numbers) may become resident; of a larger one single rows are read.
    """

    def __init__(
        self,
        path: Path,
        dimension: int,
        *,
        exact_rows: int = 10_000,
        least_dead_rows: int = 1_000,
        mapped_bytes: int = 192 * 2**20,
    ) -> None:
        if dimension < 1:
            raise InvalidInput(f"{dimension} is no dimension", field="dimension", allowed=["1 and above"])
        self._dimension = dimension
        self._exact_rows = exact_rows
        self._least_dead_rows = least_dead_rows
        self._refreshing = threading.Lock()
        self._writing = threading.Lock()
        with _border(path):
            self._folder = Folder(path, dimension, mapped_bytes)
            self._view = opened(self._folder, None)

    @property
    def position(self) -> int:
        return self._current().manifest.position

    def apply(self, added: Iterable[tuple[int, Vectors]], removed: Iterable[int], position: int) -> None:
        with _border(self._folder.path), self._writing:
            self._folder.create()  # it may have been removed for an index to be built anew
            self._apply(added, removed, position)

    def _apply(self, added: Iterable[tuple[int, Vectors]], removed: Iterable[int], position: int) -> None:
        # Another process may be writing; the system lifts its lock should it die.
        with FileLock(self._folder.lock_file).acquire(poll_interval=_POLL_S):
            writer.append(self._folder, self._current(), added, removed, position)
            self._tidied(writer.compacted(self._folder, self._current(), self._least_dead_rows))
            self._tidied(writer.refitted(self._folder, self._current(), self._exact_rows))

    def nearest(self, query: Vector, limit: int, within: Ids | None = None) -> tuple[Ids, Scores]:
        if limit < 0:
            raise InvalidInput(f"limit {limit} is negative", field="limit", allowed=["0 and above"])
        return scan.nearest(self._current(), self._fitting(query), limit, within)

    def cosines(self, query: Vector, chunk_ids: Ids) -> Scores:
        view, query = self._current(), self._fitting(query)
        at = view.directory.find(chunk_ids)
        scores = np.full(len(at), np.nan, np.float32)
        scores[at >= 0] = scan.best_passages(view, query, at[at >= 0])
        return scores

    def ids(self) -> Ids:
        directory = self._current().directory
        return directory.chunks[directory.live()]

    def _current(self) -> View:
        """What is committed now; one `stat` where nothing has changed."""
        with _border(self._folder.path):
            if self._folder.inode() == self._view.commit.inode:
                return self._view
            with self._refreshing:
                if self._folder.inode() != self._view.commit.inode:
                    self._view = opened(self._folder, self._view)
                return self._view

    def _tidied(self, manifest: Manifest | None) -> None:
        if manifest is not None:
            self._folder.clean(manifest)

    def _fitting(self, query: Vector) -> Vector:
        if query.shape != (self._dimension,):
            message = f"the query vector has the shape {query.shape}"
            raise InvalidInput(message, field="query", allowed=[f"({self._dimension},)"])
        return np.ascontiguousarray(query, np.float32)


@contextmanager
def _border(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise IndexDamaged(f"{error.filename} is missing from the vector index", hint=REBUILD) from error
    except OSError as error:
        raise BackendUnavailable(f"the vector index in {path} cannot be used: {error}") from error
