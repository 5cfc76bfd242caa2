"""The passage vectors on disk, and scoring rows of them exactly.

Components of unit vectors lie in -1…1, so they are kept as 16-bit fixed point: as precise as float16 where most
components lie, more so above, and converted to float32 several times faster. A small file is mapped. Of a large one the
rows asked for are read: a map would count as the process's memory page by page (the kernel maps many around each one
touched), and letting go of it after each search costs more than the reads.
"""

import mmap
import os
import threading
import weakref
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trivium.backends.bits.manifest import REBUILD
from trivium.errors import IndexDamaged
from trivium.model.embedding import Vector, Vectors

Rows = npt.NDArray[np.int64]
Stored = npt.NDArray[np.int16]
Scores = npt.NDArray[np.float32]

_ONE = 32767
_BLOCK_ROWS = 8192
_RECENT_ROWS = 32_768


def row_bytes(dimension: int) -> int:
    return 2 * dimension


def to_stored(vectors: Vectors) -> Stored:
    stored: Stored = np.rint(vectors * np.float32(_ONE)).astype("<i2")
    return stored


class VectorFile:
    """The first `rows` vectors of a file, to read only. Stays readable when the file is removed."""

    def __init__(self, path: Path, rows: int, dimension: int, mapped_bytes: int) -> None:
        self._path = path
        self._dimension = dimension
        self._handle = -1
        self._mapped: Stored | None = np.empty((0, dimension), np.int16)
        size = rows * row_bytes(dimension)
        if size:
            self._open(size, rows if size <= mapped_bytes else 0)

    def stored(self, rows: Rows) -> Stored:
        return self._recalled(rows) if self._mapped is None else self._mapped.take(rows, axis=0)

    def take(self, rows: Rows) -> Vectors:
        return self.stored(rows).astype(np.float32) * np.float32(1 / _ONE)

    def scores(self, query: Vector, rows: Rows) -> Scores:
        """vecdot and not `@`: a row's score must not depend on the rows beside it, or equal vectors do not tie."""
        scaled = query * np.float32(1 / _ONE)
        scores = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK_ROWS):
            block = self.stored(rows[start : start + _BLOCK_ROWS]).astype(np.float32)
            scores[start : start + _BLOCK_ROWS] = np.vecdot(block, scaled)
        return scores

    def _open(self, size: int, mapped_rows: int) -> None:
        self._handle = os.open(self._path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._handle)
        if os.fstat(self._handle).st_size < size:
            raise self._too_short()
        if mapped_rows:
            content = mmap.mmap(self._handle, size, access=mmap.ACCESS_READ)
            self._mapped = np.frombuffer(content, "<i2").reshape(mapped_rows, self._dimension)
        else:
            self._mapped = None
            self._recent = np.empty((_RECENT_ROWS, self._dimension), np.int16)
            self._recent_rows = np.full(_RECENT_ROWS, -1, np.int64)
            self._remembering = threading.Lock()

    def _recalled(self, rows: Rows) -> Stored:
        """Reads what was not read lately: a search scores the same rows as neighbours, then as candidates of fusion."""
        slots = rows % _RECENT_ROWS
        with self._remembering:
            recalled = self._recent.take(slots, axis=0)
            missed = np.flatnonzero(self._recent_rows[slots] != rows)
        recalled[missed] = read = self._read(rows[missed])
        with self._remembering:
            self._recent[slots[missed]] = read
            self._recent_rows[slots[missed]] = rows[missed]
        return recalled

    def _read(self, rows: Rows) -> Stored:
        """One read for each run of neighbouring rows."""
        width = row_bytes(self._dimension)
        read = np.empty((len(rows), self._dimension), "<i2")
        if not len(rows):
            return read
        room = read.view(np.uint8).reshape(-1).data
        starts = np.flatnonzero(np.append(True, np.diff(rows) != 1))
        places = np.append(starts, len(rows)) * width
        got = 0
        for offset, start, stop in zip(
            (rows[starts] * width).tolist(), places[:-1].tolist(), places[1:].tolist(), strict=True
        ):
            got += os.preadv(self._handle, (room[start:stop],), offset)
        if got < len(room):
            raise self._too_short()
        return read

    def _too_short(self) -> IndexDamaged:
        return IndexDamaged(f"{self._path} is shorter than its manifest says", hint=REBUILD)
