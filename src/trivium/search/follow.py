"""Keeps the indexes in step with the change log.

An index is a projection: it knows the position it has reached and replays what it lacks. Nothing is acknowledged by an
index, so a crash anywhere costs at most the same work again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

import numpy as np

from trivium.model.embedding import EmbeddingModel, Ids
from trivium.ports.changes import Change, ChangeLog
from trivium.ports.keywords import KeywordIndex
from trivium.ports.vectors import VectorIndex

BATCH = 5_000  # rows in memory at a time; a commit each, so a crash repeats at most this much

Exclusive = Callable[[], AbstractContextManager[object]]


class IndexFollower:
    """`exclusive` lets one process at a time apply changes; the others wait and find nothing left to do."""

    def __init__(self, log: ChangeLog, keywords: KeywordIndex, exclusive: Exclusive) -> None:
        self._log, self._keywords, self._exclusive = log, keywords, exclusive

    def behind(self) -> int:
        return self._log.head() - self._keywords.position

    def catch_up(self) -> int:
        """Brings the keyword index to the head of the log; answers how many changes it applied."""
        if self.behind() == 0:
            return 0
        with self._exclusive():
            return sum(self._apply(changes) for changes in _batches(self._log, self._keywords.position))

    def rebuild(self) -> None:
        """Writes the keyword index anew from the store."""
        with self._exclusive():
            head = self._log.head()
            wanted = self._log.chunk_ids()
            stale = np.setdiff1d(self._keywords.ids(), wanted)
            for part in _parts(wanted):
                self._keywords.apply(self._log.rows(part), (), self._keywords.position)
            self._keywords.apply((), stale.tolist(), head)
        self.catch_up()

    def _apply(self, changes: Sequence[Change]) -> int:
        texts = sorted({c.chunk_id for c in changes if c.kind == "text"})
        gone = sorted({c.chunk_id for c in changes if c.kind == "removed"})
        self._keywords.apply(self._log.rows(texts), gone, changes[-1].position)
        return len(changes)


class VectorFollower:
    """The same for the vectors of one model."""

    def __init__(self, log: ChangeLog, vectors: VectorIndex, model: EmbeddingModel, exclusive: Exclusive) -> None:
        self._log, self._vectors, self._model, self._exclusive = log, vectors, model, exclusive

    def behind(self) -> int:
        return self._log.head() - self._vectors.position

    def catch_up(self) -> int:
        if self.behind() == 0:
            return 0
        with self._exclusive():
            if self._vectors.position == 0 and self._log.head() > 0:
                return self._rebuild()
            return sum(self._apply(changes) for changes in _batches(self._log, self._vectors.position))

    def rebuild(self) -> None:
        with self._exclusive():
            self._rebuild()
        self.catch_up()

    def _rebuild(self) -> int:
        head = self._log.head()
        wanted = self._log.chunk_ids(self._model)
        stale = np.setdiff1d(self._vectors.ids(), wanted)
        for part in _parts(wanted):
            self._vectors.apply(self._log.vectors(part, self._model), (), self._vectors.position)
        self._vectors.apply((), stale.tolist(), head)
        return len(wanted)

    def _apply(self, changes: Sequence[Change]) -> int:
        fresh = sorted({c.chunk_id for c in changes if c.kind == "vectors" and c.chunk_id})
        gone = sorted({c.chunk_id for c in changes if c.kind == "removed" and c.chunk_id})
        self._vectors.apply(self._log.vectors(fresh, self._model), gone, changes[-1].position)
        return len(changes)


def _batches(log: ChangeLog, after: int) -> Iterator[list[Change]]:
    while changes := log.read(after, BATCH):
        yield changes
        after = changes[-1].position


def _parts(ids: Ids) -> Iterator[list[int]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH].tolist()
