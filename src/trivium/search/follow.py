"""Keeps the indexes in step with the change log.

An index is a projection: it knows the position it has reached and replays what it lacks. Nothing is acknowledged by an
index, so a crash anywhere costs at most the same work again.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from trivium.errors import VectorsUnavailable
from trivium.model.embedding import EmbeddingModel, Ids
from trivium.ports.changes import Change, ChangeKind, ChangeLog
from trivium.ports.keywords import KeywordIndex
from trivium.ports.vectors import VectorIndex

BATCH = 5_000  # rows in memory at a time; a commit each, so a crash repeats at most this much

logger = logging.getLogger(__name__)

Exclusive = Callable[[], AbstractContextManager[object]]


class Follower:
    """`exclusive` lets one process at a time apply changes; the others wait and find nothing left to do."""

    def __init__(self, log: ChangeLog, index: "_Index", exclusive: Exclusive) -> None:
        self._log, self._index, self._exclusive = log, index, exclusive
        self._passed = 0  # up to here nothing concerned this index, so it was not worth a commit

    @property
    def reached(self) -> int:
        """The position up to which everything that concerns the index is in it."""
        return max(self._index.position, self._passed)

    def behind(self) -> int:
        return self._log.head() - self.reached

    def catch_up(self) -> int:
        """Brings the index to the head of the log; answers how many changes there were."""
        if self.behind() == 0:
            return 0
        with self._exclusive():
            if self._index.position == 0:
                return self._rebuild()
            return sum(self._apply(changes) for changes in self._batches())

    def require(self) -> None:
        """`catch_up`, for whoever is about to read."""
        self.catch_up()

    def rebuild(self) -> None:
        """Writes the index anew from the store."""
        with self._exclusive():
            self._rebuild()
        self.catch_up()

    def _rebuild(self) -> int:
        head = self._log.head()
        wanted = self._index.wanted()
        stale = np.setdiff1d(self._index.ids(), wanted)
        for part in _parts(wanted):
            self._index.put(part, (), self._index.position)
        self._index.put((), stale.tolist(), head)
        return len(wanted)

    def _apply(self, changes: Sequence[Change]) -> int:
        fresh = sorted({c.chunk_id for c in changes if c.kind == self._index.follows and c.chunk_id})
        gone = sorted({c.chunk_id for c in changes if c.kind == "removed" and c.chunk_id})
        if fresh or gone:
            self._index.put(fresh, gone, changes[-1].position)
        self._passed = changes[-1].position
        return len(changes)

    def _batches(self) -> Iterator[list[Change]]:
        after = self.reached
        while changes := self._log.read(after, BATCH):
            yield changes
            after = changes[-1].position


class PatientFollower(Follower):
    """For an index on a server that may be away: it lags behind, and says so in the log, instead of failing whoever
    wrote something. Whoever reads asks `require`."""

    def __init__(self, log: ChangeLog, index: "_Index", exclusive: Exclusive) -> None:
        super().__init__(log, index, exclusive)
        self._last_known = 0

    @property
    def reached(self) -> int:
        """As far as it was known last, while the server is away. A server that lost everything starts again."""
        try:
            position = self._index.position
            self._last_known = max(position, self._passed) if position else 0
        except VectorsUnavailable as error:
            logger.warning("%s", error.message)
        return self._last_known

    def catch_up(self) -> int:
        try:
            return super().catch_up()
        except VectorsUnavailable as error:
            logger.warning("the vector index lags behind: %s", error.message)
            return 0

    def require(self) -> None:
        """Catches up, or raises VectorsUnavailable."""
        super().catch_up()


class _Index(Protocol):
    """What follows: an index together with the way its rows are read from the log."""

    follows: ChangeKind

    @property
    def position(self) -> int: ...
    def ids(self) -> Ids: ...
    def wanted(self) -> Ids: ...
    def put(self, fresh: Sequence[int], gone: Sequence[int], position: int) -> None: ...


class FollowingKeywords:
    follows: ChangeKind = "text"

    def __init__(self, log: ChangeLog, keywords: KeywordIndex) -> None:
        self._log, self._keywords = log, keywords

    @property
    def position(self) -> int:
        return self._keywords.position

    def ids(self) -> Ids:
        return self._keywords.ids()

    def wanted(self) -> Ids:
        return self._log.chunk_ids()

    def put(self, fresh: Sequence[int], gone: Sequence[int], position: int) -> None:
        self._keywords.apply(self._log.rows(fresh), gone, position)


class FollowingVectors:
    follows: ChangeKind = "vectors"

    def __init__(self, log: ChangeLog, vectors: VectorIndex, model: EmbeddingModel) -> None:
        self._log, self._vectors, self._model = log, vectors, model

    @property
    def position(self) -> int:
        return self._vectors.position

    def ids(self) -> Ids:
        return self._vectors.ids()

    def wanted(self) -> Ids:
        return self._log.chunk_ids(self._model)

    def put(self, fresh: Sequence[int], gone: Sequence[int], position: int) -> None:
        self._vectors.apply(self._log.vectors(fresh, self._model), gone, position)


def _parts(ids: Ids) -> Iterator[list[int]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH].tolist()
