"""Gives waiting chunks their vectors, in the background of whatever else happens.

The queue is in the store, so a run that is cut off goes on where it stopped, in whichever process comes next.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from trivium.documents.passages import passages_of
from trivium.model.progress import Progress, silent
from trivium.ports.embedder import Embedder
from trivium.ports.embedding_queue import EmbeddingQueue, Waiting
from trivium.search.follow import Follower

BATCH = 512  # chunks: enough to sort by length, small enough that progress is seen and little is lost
POLL_S = 0.5

TryExclusive = Callable[[], AbstractContextManager[bool]]


class EmbedChunks:
    """`alone` is held while embedding, so that two processes do not compute the same vectors; it yields False where
    another one is at it already."""

    def __init__(self, queue: EmbeddingQueue, embedder: Embedder, follower: Follower, alone: TryExclusive) -> None:
        self._queue, self._embedder, self._follower, self._alone = queue, embedder, follower, alone

    def pending(self) -> int:
        return self._queue.pending(self._embedder.model)

    def run(
        self,
        progress: Progress = silent,
        stop: threading.Event | None = None,
    ) -> int:
        """Embeds until nothing waits (or `stop` is set); answers how many chunks got vectors here."""
        total = self.pending()
        done = 0
        while (waiting := self.pending()) and not (stop and stop.is_set()):
            progress(max(total - waiting, 0), total, "")
            with self._alone() as mine:
                taken = self._batch() if mine else 0
            done += taken
            if not taken:  # others are at what still waits
                time.sleep(POLL_S)
        self._follower.catch_up()
        progress(total, total, "")
        return done

    def _batch(self) -> int:
        model = self._embedder.model
        waiting = self._queue.take(model, BATCH)
        if not waiting:
            return 0
        texts = self._passages(waiting)
        hashes = [[_hash(text) for text in passages] for passages in texts]
        known = self._queue.cached(model, sorted({digest for row in hashes for digest in row}))
        missing = {
            digest: text
            for row, passages in zip(hashes, texts, strict=True)
            for digest, text in zip(row, passages, strict=True)
            if digest not in known
        }
        vectors = self._embedder.embed_passages(list(missing.values())) if missing else ()
        self._queue.store(model, dict(zip(missing, vectors, strict=True)), list(zip(waiting, hashes, strict=True)))
        self._follower.catch_up()
        return len(waiting)

    def _passages(self, waiting: Sequence[Waiting]) -> list[list[str]]:
        chunks = [(item.header, item.text) for item in waiting]
        return passages_of(chunks, self._embedder.count_tokens, self._embedder.model.max_tokens)


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
