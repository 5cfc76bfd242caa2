"""The index as one commit left it. A view never changes, so any number of threads may search it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trivium.backends.bits.directory import Directory, extended
from trivium.backends.bits.folder import Commit, Folder
from trivium.backends.bits.manifest import Manifest
from trivium.backends.bits.signs import Axes, Hidden, Rows, Words, words_of
from trivium.backends.bits.vectors import Scores, VectorFile
from trivium.model.embedding import Vector, Vectors

_FIRST_CAPACITY_ROWS = 1024
_LOAD_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class Signs:
    axes: Axes
    buffer: Words  # (word, row), longer than the rows that count


@dataclass(frozen=True)
class View:
    commit: Commit
    directory: Directory
    vectors: VectorFile
    signs: Signs | None

    @property
    def manifest(self) -> Manifest:
        return self.commit.manifest

    @cached_property
    def all_vectors(self) -> Vectors:
        """Every row as float32; only small indexes ask for it."""
        return self.vectors.take(np.arange(self.manifest.rows))

    def scores(self, query: Vector, rows: Rows) -> Scores:
        """Exact cosines of rows. The same row gets the same score whichever rows are asked for beside it."""
        if self.signs is not None:
            return self.vectors.scores(query, rows)
        if len(rows) > self.manifest.rows // 2:
            everywhere: Scores = np.vecdot(self.all_vectors, query)
            return everywhere[rows]
        there: Scores = np.vecdot(self.all_vectors.take(rows, axis=0), query)
        return there

    @cached_property
    def hidden(self) -> Hidden | None:
        """Marks the dead rows; None where there are none."""
        if self.directory.live_rows == self.directory.rows:
            return None
        return np.where(self.directory.owners < 0, np.uint8(255), np.uint8(0))


def opened(folder: Folder, before: View | None) -> View:
    """The commit in force, read from where `before` ends where that is possible."""
    for _ in range(8):
        commit = folder.commit_in_force()
        try:
            return _read(folder, commit, before)
        except FileNotFoundError:
            # Compaction took the files away between the manifest and them; the manifest that replaced it names others.
            if folder.inode() == commit.inode:
                raise
    return _read(folder, folder.commit_in_force(), before)


def _read(folder: Folder, commit: Commit, before: View | None) -> View:
    manifest = commit.manifest
    if before is not None and _line(before.manifest) != _line(manifest):
        before = None
    return View(
        commit, _directory(folder, manifest, before), folder.vectors(manifest), _signs(folder, manifest, before)
    )


def _line(manifest: Manifest) -> tuple[str, int]:
    """Manifests of one line only ever add to what the earlier ones count."""
    return manifest.origin, manifest.segment


def _directory(folder: Folder, manifest: Manifest, before: View | None) -> Directory:
    if before is None:
        return Directory.empty().played(folder.records(manifest), manifest.rows)
    if before.manifest.records == manifest.records:
        return before.directory
    records = folder.records(manifest, before.manifest.records, before.manifest.records_crc)
    return before.directory.played(records, manifest.rows)


def _signs(folder: Folder, manifest: Manifest, before: View | None) -> Signs | None:
    if not manifest.signs:
        return None
    start, crc = 0, 0
    if before is not None and before.signs is not None and before.manifest.signs == manifest.signs:
        start, crc = before.manifest.rows, before.manifest.signs_crc
        axes, buffer = before.signs.axes, before.signs.buffer
    else:
        axes = folder.axes(manifest)
        buffer = np.empty((words_of(folder.dimension), _FIRST_CAPACITY_ROWS), np.uint64)
    if start < manifest.rows:
        buffer = extended(buffer, start, manifest.rows).view(np.uint64)
        _fill(buffer, folder.signs(manifest, start, crc), start)
    return Signs(axes, buffer)


def _fill(buffer: Words, rows: Words, start: int) -> None:
    for at in range(0, len(rows), _LOAD_ROWS):
        block = rows[at : at + _LOAD_ROWS]
        buffer[:, start + at : start + at + len(block)] = block.T
