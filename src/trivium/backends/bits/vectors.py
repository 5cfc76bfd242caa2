"""The passage vectors on disk, and scoring rows of them exactly.

Components of unit vectors lie in -1…1, so they are kept as 16-bit fixed point: as precise as float16 where most
components lie, more so above, and converted to float32 several times faster. The file is mapped; what a mapping holds
resident counts as the process's memory, so a large one is let go of whenever it has grown to `_MAPPED_BYTES`.
"""

import mmap
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trivium.backends.bits.manifest import REBUILD
from trivium.errors import IndexDamaged
from trivium.model.embedding import Vector, Vectors

Stored = npt.NDArray[np.int16]
Scores = npt.NDArray[np.float32]

_ONE = 32767
_BLOCK_ROWS = 8192
_WINDOW_BYTES = 65_536  # the kernel maps up to this much around a touched page
_MAPPED_BYTES = 384 * 2**20


def row_bytes(dimension: int) -> int:
    return 2 * dimension


def to_stored(vectors: Vectors) -> Stored:
    stored: Stored = np.rint(vectors * np.float32(_ONE)).astype("<i2")
    return stored


def from_stored(stored: Stored) -> Vectors:
    return stored.astype(np.float32) * np.float32(1 / _ONE)


class VectorFile:
    """A read-only map of the first `rows` vectors of a file."""

    def __init__(self, path: Path, rows: int, dimension: int) -> None:
        self.rows = rows
        self._matrix: Stored = np.empty((0, dimension), np.int16)
        self._map: mmap.mmap | None = None
        self._mapping = threading.Lock()
        size = rows * row_bytes(dimension)
        if size:
            with path.open("rb") as file:
                if file.seek(0, 2) < size:
                    raise IndexDamaged(f"{path} is shorter than its manifest says", hint=REBUILD)
                self._map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
            self._matrix = np.frombuffer(self._map, "<i2").reshape(rows, dimension)
        self._touched = np.zeros(size // _WINDOW_BYTES + 1, np.bool_)

    def stored(self, rows: npt.NDArray[np.int64]) -> Stored:
        taken = self._matrix.take(rows, axis=0)
        self._let_go(rows)
        return taken

    def take(self, rows: npt.NDArray[np.int64]) -> Vectors:
        return from_stored(self.stored(rows))

    def scores(self, query: Vector, rows: npt.NDArray[np.int64]) -> Scores:
        """vecdot and not `@`: a row's score must not depend on the rows beside it, or equal vectors do not tie."""
        scaled = query * np.float32(1 / _ONE)
        scores = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK_ROWS):
            block = rows[start : start + _BLOCK_ROWS]
            scores[start : start + _BLOCK_ROWS] = np.vecdot(self.stored(block).astype(np.float32), scaled)
        return scores

    def _let_go(self, rows: npt.NDArray[np.int64]) -> None:
        if self._map is None or len(self._touched) * _WINDOW_BYTES <= _MAPPED_BYTES:
            return
        with self._mapping:
            self._touched[rows * (2 * self._matrix.shape[1]) // _WINDOW_BYTES] = True
            if np.count_nonzero(self._touched) * _WINDOW_BYTES > _MAPPED_BYTES:
                self._map.madvise(mmap.MADV_DONTNEED)
                self._touched[:] = False
