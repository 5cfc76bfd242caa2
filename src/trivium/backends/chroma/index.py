"""ChromaVectorIndex: the passages in a collection of their own, its position in the collection's metadata.

Chroma knows no transactions: an interrupted `apply` may leave a part of itself behind, but not its position, so that it
is applied again, which heals everything. Its HNSW index is approximate; where few passages are asked for, or the index
is small, every one of them is compared instead.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trivium.backends.chroma import directory
from trivium.backends.chroma.connection import ChromaCollection
from trivium.backends.chroma.directory import Keys
from trivium.errors import InvalidInput
from trivium.model.embedding import Ids, Vector, Vectors

BATCH = 2_000  # passages of one question
WRITTEN = 500  # passages of one write, so that it ends well before the timeout
ANSWER_S, WRITE_S = 5.0, 30.0  # a server that hangs keeps a search waiting no longer than this
COMPARED = 1_000  # passages up to which each is compared
SELECTIVE = 5  # a filter that lets through less than one passage in this many is given to the server

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Known:
    position: int
    passages: Keys


class ChromaVectorIndex:
    """Any number of processes may use one collection; one applies changes at a time."""

    def __init__(self, url: str, name: str, dimension: int) -> None:
        self._collection = ChromaCollection(url, name, ANSWER_S)
        self._patient = ChromaCollection(url, name, WRITE_S)  # for what takes long on a large collection
        self._dimension = dimension
        self._lock = threading.Lock()
        self._known = _Known(0, np.empty(0, np.int64))

    @property
    def position(self) -> int:
        return int(self._collection.metadata().get("position", 0))

    def apply(self, added: Iterable[tuple[int, Vectors]], removed: Iterable[int], position: int) -> None:
        fresh = dict(added)  # all of it before the first write: what breaks midway leaves nothing behind
        changed = np.array(sorted({*removed, *fresh}), np.int64)
        before = self._current().passages
        after = {
            number * directory.PASSAGES + place: vector
            for number, vectors in fresh.items()
            for place, vector in enumerate(vectors)
        }
        gone = np.setdiff1d(directory.of_chunks(before, changed), np.array(sorted(after), np.int64))
        for part in _parts(gone.tolist()):
            self._delete(part)
        for part in _parts(sorted(after), WRITTEN):
            self._upsert(part, [after[key] for key in part], position)
        self._patient.run(lambda collection: collection.modify(metadata={"position": position}))

    def nearest(self, query: Vector, limit: int, within: Ids | None = None) -> tuple[Ids, Scores]:
        if limit < 0:
            raise InvalidInput(f"limit {limit} is negative", field="limit", allowed=["0 and above"])
        passages = self._current().passages
        allowed = passages if within is None else directory.of_chunks(passages, within)
        if limit == 0 or not allowed.size:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if len(allowed) <= COMPARED:
            found = directory.best(allowed, self._compared(self._fitting(query), allowed))
        else:
            found = self._searched(self._fitting(query), limit, allowed, len(passages))
        ids, scores = found
        order = np.lexsort((ids, -scores))[:limit]
        return ids[order], scores[order]

    def cosines(self, query: Vector, chunk_ids: Ids) -> Scores:
        wanted = directory.of_chunks(self._current().passages, np.asarray(chunk_ids, np.int64))
        ids, best = directory.best(wanted, self._compared(self._fitting(query), wanted))
        at = np.minimum(np.searchsorted(ids, chunk_ids), max(len(ids) - 1, 0))
        scores = np.full(len(chunk_ids), np.nan, np.float32)
        if len(ids):
            there = ids[at] == chunk_ids
            scores[there] = best[at[there]]
        return scores

    def ids(self) -> Ids:
        return np.unique(directory.chunks(self._current().passages))

    def drop(self) -> None:
        """Forgets the whole collection."""
        self._collection.drop()

    def _current(self) -> _Known:
        """What the collection holds now. Asked for are the passages written since the last time; only where the numbers
        do not add up, because others were removed, all of them."""
        with self._lock:
            position = self.position
            count = self._collection.run(lambda collection: collection.count())
            known = self._known
            if position != known.position or count != len(known.passages):
                newer = {"at": {"$gt": known.position}} if known.position and known.position < position else None
                listed = self._listed(newer)
                passages = np.union1d(known.passages, listed) if newer else listed
                if len(passages) != count:
                    passages = self._listed(None)
                self._known = _Known(position, passages)
            return self._known

    def _listed(self, where: dict[str, Any] | None) -> Keys:
        return directory.keys(self._patient.run(lambda collection: collection.get(where=where, include=[]))["ids"])

    def _delete(self, part: Sequence[int]) -> None:
        names = [directory.name(key) for key in part]
        self._patient.run(lambda collection: collection.delete(ids=names))

    def _upsert(self, part: Sequence[int], vectors: Sequence[Vector], position: int) -> None:
        names = [directory.name(key) for key in part]
        marks = [{"chunk": key // directory.PASSAGES, "at": position} for key in part]
        rows = np.stack(vectors).astype(np.float32)
        self._patient.run(lambda collection: collection.upsert(ids=names, embeddings=rows, metadatas=marks))

    def _searched(self, query: Vector, limit: int, allowed: Keys, total: int) -> tuple[Ids, Scores]:
        """Asks for more until there are enough chunks among what was found and the last of them is no tie."""
        names = [*map(directory.name, allowed.tolist())] if len(allowed) * SELECTIVE < total else None
        reachable, wanted = (total if names is None else len(allowed)), 2 * limit
        while True:
            passages, scores = self._asked(query, min(wanted, reachable), names)
            inside = np.isin(passages, allowed, assume_unique=True)
            ids, best = directory.best(passages[inside], scores[inside])
            is_cut = len(ids) > limit and np.sort(best)[::-1][limit - 1] > scores.min()
            if is_cut or wanted >= reachable:
                return ids, best
            wanted *= 4

    def _asked(self, query: Vector, wanted: int, names: list[str] | None) -> tuple[Keys, Scores]:
        found = self._collection.run(
            lambda collection: collection.query(
                query_embeddings=[query], n_results=wanted, ids=names, include=["distances"]
            )
        )
        passages = [_key(one) for one in found["ids"][0]]
        return np.array(passages, np.int64), 1 - np.array(found["distances"][0], np.float32)

    def _compared(self, query: Vector, passages: Keys) -> Scores:
        """The cosine of every one of these passages. The server's search may overlook some: those are read."""
        scores = np.full(len(passages), np.nan, np.float32)
        for start in range(0, len(passages), BATCH):
            part = passages[start : start + BATCH]
            found, cosines = self._asked(query, len(part), [*map(directory.name, part.tolist())])
            scores[start + np.searchsorted(part, found)] = cosines
        missed = np.flatnonzero(np.isnan(scores))
        for places in _parts(missed.tolist()):
            scores[places] = self._read(query, passages[places])
        return scores

    def _read(self, query: Vector, passages: Keys) -> Scores:
        names = [*map(directory.name, passages.tolist())]
        got = self._collection.run(lambda collection: collection.get(ids=names, include=["embeddings"]))
        rows = dict(zip(got["ids"], np.asarray(got["embeddings"], np.float32), strict=True))
        nothing = np.full(self._dimension, np.nan, np.float32)
        return np.array([rows.get(name, nothing) @ query for name in names], np.float32)

    def _fitting(self, query: Vector) -> Vector:
        if query.shape != (self._dimension,):
            message = f"the query vector has the shape {query.shape}"
            raise InvalidInput(message, field="query", allowed=[f"({self._dimension},)"])
        return np.ascontiguousarray(query, np.float32)


def _key(name: str) -> int:
    chunk, number = name.split(":")
    return int(chunk) * directory.PASSAGES + int(number)


def _parts(items: Sequence[int], size: int = BATCH) -> Iterator[Sequence[int]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
