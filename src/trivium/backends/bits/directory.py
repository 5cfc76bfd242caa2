"""Which rows belong to which chunk.

The chunk file is a log of records (chunk, first row, number of rows); the last record of a chunk counts, and one
without rows takes the chunk away. A `Directory` is the log played up to some record. Nobody ever changes what an older
directory can see: additions go behind its end, anything else into copies, so searches need no lock.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trivium.model.embedding import Ids

RECORD = np.dtype([("chunk", "<i8"), ("first", "<i8"), ("count", "<i8")])
Records = npt.NDArray[np.void]
Positions = npt.NDArray[np.int64]

_NOBODY = -1  # owner of a dead row; chunk ids are not negative
_GROWTH = 1.25  # a million rows are never held at twice their size


def extended(buffer: npt.NDArray[np.generic], used: int, needed: int) -> npt.NDArray[np.generic]:
    """A buffer with room for `needed` entries in its last axis and the first `used` of them kept."""
    if needed <= buffer.shape[-1]:
        return buffer
    larger = np.empty((*buffer.shape[:-1], max(needed, int(buffer.shape[-1] * _GROWTH))), buffer.dtype)
    larger[..., :used] = buffer[..., :used]
    return larger


def spans(first: npt.NDArray[np.int64], count: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """All rows of all spans, in order."""
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    rows: npt.NDArray[np.int64] = np.arange(total, dtype=np.int64) + np.repeat(first - (ends - count), count)
    return rows


@dataclass(frozen=True, slots=True)
class Directory:
    """`chunks` are sorted; a chunk that was taken away stays with count 0. The buffers are longer than what counts."""

    size: int
    rows: int
    live_rows: int
    chunk_buffer: Ids
    first_buffer: npt.NDArray[np.int64]
    count_buffer: npt.NDArray[np.int64]
    owner_buffer: Ids

    @staticmethod
    def empty() -> "Directory":
        return Directory(0, 0, 0, *(np.empty(0, np.int64) for _ in range(4)))

    @property
    def chunks(self) -> Ids:
        return self.chunk_buffer[: self.size]

    @property
    def first(self) -> npt.NDArray[np.int64]:
        return self.first_buffer[: self.size]

    @property
    def count(self) -> npt.NDArray[np.int64]:
        return self.count_buffer[: self.size]

    @property
    def owners(self) -> Ids:
        """The chunk of every row, negative for a dead row."""
        return self.owner_buffer[: self.rows]

    def live(self) -> Positions:
        return np.flatnonzero(self.count > 0)

    def find(self, chunk_ids: Ids) -> Positions:
        """Where each chunk stands, -1 where there is none."""
        if not self.size:
            return np.full(len(chunk_ids), -1, np.int64)
        last = self.size - 1
        at = np.clip(chunk_ids - self.chunks[0], 0, last)  # right where ids have no gaps, which is most of the time
        missed = np.flatnonzero(self.chunks[at] != chunk_ids)
        at[missed] = np.minimum(np.searchsorted(self.chunks, chunk_ids[missed]), last)
        return np.where((self.chunks[at] == chunk_ids) & (self.count[at] > 0), at, -1)

    def played(self, records: Records, rows: int) -> "Directory":
        """This directory after these further records, with `rows` rows in all."""
        latest = _latest(records)
        at = np.searchsorted(self.chunks, latest["chunk"])
        known = at < self.size
        known[known] = self.chunks[at[known]] == latest["chunk"][known]
        base = self._without(at[known]) if known.any() else self
        owner = _as_ids(extended(base.owner_buffer, self.rows, rows))
        owner[self.rows : rows] = _NOBODY
        owner[spans(latest["first"], latest["count"])] = np.repeat(latest["chunk"], latest["count"])
        base.first[at[known]], base.count[at[known]] = latest["first"][known], latest["count"][known]
        fresh = latest[~known & (latest["count"] > 0)]
        live = base.live_rows + int(latest["count"].sum())
        return base._inserted(fresh, rows, live, owner)

    def _without(self, at: Positions) -> "Directory":
        """A copy in which these chunks have no rows."""
        owner, first, count = self.owners.copy(), self.first.copy(), self.count.copy()
        owner[spans(first[at], count[at])] = _NOBODY
        live = self.live_rows - int(count[at].sum())
        count[at] = 0
        return Directory(self.size, self.rows, live, self.chunks, first, count, owner)

    def _inserted(self, fresh: Records, rows: int, live: int, owner: Ids) -> "Directory":
        size, needed = self.size, self.size + len(fresh)
        parts = (self.chunk_buffer, self.first_buffer, self.count_buffer)
        columns = (fresh["chunk"], fresh["first"], fresh["count"])
        if not len(fresh) or not size or fresh["chunk"][0] > self.chunks[-1]:
            chunk, first, count = (_as_ids(extended(part, size, needed)) for part in parts)
            for buffer, column in zip((chunk, first, count), columns, strict=True):
                buffer[size:needed] = column
        else:
            at = np.searchsorted(self.chunks, fresh["chunk"])
            chunk, first, count = (
                np.insert(part[:size], at, column) for part, column in zip(parts, columns, strict=True)
            )
        return Directory(needed, rows, live, chunk, first, count, owner)


def _latest(records: Records) -> Records:
    """The last record of every chunk, by chunk."""
    chunk = records["chunk"]
    if (chunk[1:] > chunk[:-1]).all():
        return records
    order = np.argsort(chunk, kind="stable")
    chunk = chunk[order]
    last = np.append(chunk[1:] != chunk[:-1], True)
    latest: Records = records[order[last]]
    return latest


def _as_ids(buffer: npt.NDArray[np.generic]) -> Ids:
    return buffer.view(np.int64)
