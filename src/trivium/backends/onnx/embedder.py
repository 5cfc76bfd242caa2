"""Text to unit vectors on ONNX Runtime. The session is created on first use."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from trivium.model.embedding import EmbeddingModel, Vectors

TOKENS_PER_BATCH = 2048
WORKERS = 2


class OnnxEmbedder:
    def __init__(self, model: EmbeddingModel, files: Callable[[], tuple[Path, Path]]) -> None:
        """`files` gives graph and tokenizer.json; it is called once, on first use, and may build or fetch them."""
        self._model = model
        self._files = files
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, workers=1)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, workers=WORKERS)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        tokenizer, _ = self._load()
        return [len(e.ids) for e in tokenizer.encode_batch_fast(list(texts))]

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                graph, tokenizer = self._files()
                self._loaded = _open_tokenizer(tokenizer), _open_session(graph)
            return self._loaded

    def _embed(self, texts: Sequence[str], workers: int) -> Vectors:
        vectors = np.empty((len(texts), self._model.dimension), np.float32)
        if not texts:
            return vectors
        tokenizer, session = self._load()
        ids = [np.array(cut(e.ids, self._model.max_tokens), np.int32) for e in tokenizer.encode_batch_fast(list(texts))]

        def run(rows: list[int]) -> None:
            lengths = np.array([len(ids[r]) for r in rows], np.int32)
            padded = np.zeros((len(rows), int(lengths.max())), np.int32)
            for line, row in enumerate(rows):
                padded[line, : lengths[line]] = ids[row]
            vectors[rows] = session.run(["vectors"], {"input_ids": padded, "lengths": lengths})[0]

        batches = list(_batches([len(i) for i in ids]))
        if workers == 1 or len(batches) == 1:
            for batch in batches:
                run(batch)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(run, batches))
        return vectors


def cut(ids: list[int], limit: int) -> list[int]:
    """Truncates, keeping the closing special token."""
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def _batches(lengths: list[int]) -> Iterator[list[int]]:
    """Rows of similar length, longest first, so that a batch's padding is small and its token count bounded."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    start = 0
    while start < len(order):
        size = max(1, TOKENS_PER_BATCH // lengths[order[start]])
        yield order[start : start + size]
        start += size


def _open_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _open_session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
