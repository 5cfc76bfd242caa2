"""Text to unit vectors on ONNX Runtime. Opening costs nothing; the session is created by the first text.

Tokenises, sorts by length, packs batches of bounded size, runs them on every core and restores the order. What a
batch holds changes a vector by rounding alone.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trivium.errors import ModelUnavailable
from trivium.model.embedding import EmbeddingModel, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENS_PER_BATCH = 512  # what stays in the caches; 2048 costs a fifth more a token (benchmarks/embedding.py)
TEXTS_PER_BLOCK = 4096  # tokenised at a time, so that memory does not grow with the corpus
RETRY_AFTER_S = 60.0  # a model that could not be had is not looked for again with every query

Encode = Callable[[list[npt.NDArray[np.int32]]], Vectors]


@dataclass(frozen=True, slots=True)
class Encoder:
    """A loaded model: `encode` takes a batch of token rows and gives unit vectors."""

    tokenizer: "Tokenizer"
    encode: Encode


class OnnxEmbedder:
    def __init__(
        self,
        model: EmbeddingModel,
        load: Callable[[], Encoder],
        *,
        threads: int = 0,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        """`load` is called once, on first use, and may fetch and build. `threads` 0: one for every core."""
        self._model = model
        self._load = load
        self._threads = threads or _cores()
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None
        self._failure: tuple[float, ModelUnavailable] | None = None

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._query_prefix + text for text in texts], threads=1)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._passage_prefix + text for text in texts], self._threads)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        tokenizer = self._loaded().tokenizer
        counted = [self._passage_prefix + _encodable(text) for text in texts]
        return [len(encoding.ids) for encoding in tokenizer.encode_batch_fast(counted)]

    def warm(self) -> threading.Thread:
        """Loads in the background, so that the first query does not wait. A failure shows when the model is used."""
        thread = threading.Thread(target=self._warm, name=f"load {self._model.name}", daemon=True)
        thread.start()
        return thread

    def _warm(self) -> None:
        try:
            self._loaded()
        except ModelUnavailable:
            pass  # kept; the next use raises it

    def _loaded(self) -> Encoder:
        with self._lock:
            if self._encoder is None:
                if self._failure and time.monotonic() < self._failure[0]:
                    raise self._failure[1]
                try:
                    self._encoder = self._load()
                except ModelUnavailable as error:
                    self._failure = time.monotonic() + RETRY_AFTER_S, error
                    raise
            return self._encoder

    def _embed(self, texts: list[str], threads: int) -> Vectors:
        vectors = np.empty((len(texts), self._model.dimension), np.float32)
        for start in range(0, len(texts), TEXTS_PER_BLOCK):
            self._embed_block(texts[start : start + TEXTS_PER_BLOCK], vectors[start:], threads)
        return vectors

    def _embed_block(self, texts: list[str], vectors: Vectors, threads: int) -> None:
        encoder = self._loaded()
        rows = [self._cut(ids) for ids in _tokenised(encoder.tokenizer, texts)]

        def run(batch: list[int]) -> None:
            vectors[batch] = encoder.encode([rows[index] for index in batch])

        batches = list(_batches([len(row) for row in rows]))
        if threads == 1 or len(batches) == 1:
            for batch in batches:
                run(batch)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(run, batches))

    def _cut(self, ids: list[int]) -> npt.NDArray[np.int32]:
        """Truncates, keeping the closing special token. A tokenizer without special tokens may see nothing at all."""
        limit = self._model.max_tokens
        return np.array((ids or [0]) if len(ids) <= limit else [*ids[: limit - 1], ids[-1]], np.int32)


def _batches(lengths: list[int]) -> Iterator[list[int]]:
    """Rows of similar length, longest first, so that padding is small and the last batches are short ones."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    start = 0
    while start < len(order):
        size = max(1, TOKENS_PER_BATCH // lengths[order[start]])
        yield order[start : start + size]
        start += size


def _tokenised(tokenizer: "Tokenizer", texts: list[str]) -> list[list[int]]:
    if len(texts) == 1:  # a single query is not worth waking the tokenizer's threads
        return [tokenizer.encode(_encodable(texts[0])).ids]
    return [encoding.ids for encoding in tokenizer.encode_batch_fast([_encodable(text) for text in texts])]


def _encodable(text: str) -> str:
    """Lone surrogates, which broken files leave behind, have no UTF-8 form and the tokenizer refuses them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only; honours containers' limits
    return len(affinity(0)) if affinity else os.cpu_count() or 1
