"""A cross-encoder on ONNX Runtime: reads query and text together and gives one score in 0–1.

Any exported sequence classifier with tokenizer.json works: one logit goes through a sigmoid, of two the second is the
share of a softmax. Opening costs nothing; the session is created by the first call.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trivium.backends.onnx import fetch
from trivium.backends.onnx.folder import GRAPH_PATHS, find_graph
from trivium.backends.onnx.sessions import open_session, open_tokenizer, padded
from trivium.errors import ModelUnavailable

if TYPE_CHECKING:
    from tokenizers import Encoding

Scores = npt.NDArray[np.float32]

MAX_TOKENS = 512
TOKENS_PER_BATCH = 2048


def open_reranker(name: str, *, cache_dir: Path, offline: bool = False, hub_url: str = fetch.HUB_URL) -> "OnnxReranker":
    """`name` is a folder, or a hub id `owner/name[@revision]` whose files are fetched at the first call."""
    return OnnxReranker(name, cache_dir, offline, hub_url)


class OnnxReranker:
    def __init__(self, name: str, cache_dir: Path, offline: bool, hub_url: str) -> None:
        self._name = name
        self._cache_dir = cache_dir
        self._offline = offline
        self._hub_url = hub_url
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        return self._name

    def rerank(self, query: str, texts: Sequence[str]) -> Scores:
        scores = np.empty(len(texts), np.float32)
        if not texts:
            return scores
        tokenizer, session = self._load()
        pairs = tokenizer.encode_batch([(query, text) for text in texts])
        order = sorted(range(len(pairs)), key=lambda row: -len(pairs[row].ids))
        start = 0
        while start < len(order):
            rows = order[start : start + max(1, TOKENS_PER_BATCH // len(pairs[order[start]].ids))]
            scores[rows] = _scores(session, [pairs[row] for row in rows])
            start += len(rows)
        return scores

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                folder = Path(self._name) if Path(self._name).is_dir() else self._from_hub()
                tokenizer = open_tokenizer(folder / "tokenizer.json")
                tokenizer.enable_truncation(MAX_TOKENS)  # takes from the longer of the two, so the query survives
                self._loaded = tokenizer, open_session(find_graph(folder), optimise=True)
            return self._loaded

    def _from_hub(self) -> Path:
        repository, _, revision = self._name.partition("@")
        folder = self._cache_dir / "rerankers" / self._name.replace("/", "--")
        if self._offline and not folder.is_dir():
            raise ModelUnavailable(
                f"reranker {self._name} is neither a folder nor in the cache, and fetching is off",
                hint="name a folder with tokenizer.json and onnx/model.onnx, or unset TRIVIUM_OFFLINE",
            )
        for path in ("tokenizer.json", GRAPH_PATHS[0]):
            if not (folder / path).is_file():
                fetch.download(fetch.hub_file(self._hub_url, repository, revision or "main", path), folder / path)
        return folder


def _scores(session: Any, pairs: "list[Encoding]") -> Scores:
    block, lengths = padded([pair.ids for pair in pairs], np.int64)
    offered = {
        "input_ids": block,
        "attention_mask": (np.arange(block.shape[1]) < lengths[:, None]).astype(np.int64),
        "token_type_ids": padded([pair.type_ids for pair in pairs], np.int64)[0],
    }
    wanted = {entry.name for entry in session.get_inputs()}
    logits = session.run(None, {name: value for name, value in offered.items() if name in wanted})[0]
    return _probabilities(logits.reshape(len(pairs), -1))


def _probabilities(logits: npt.NDArray[np.float32]) -> Scores:
    margin = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
    sigmoid: Scores = (0.5 + 0.5 * np.tanh(margin / 2)).astype(np.float32)  # exp would overflow on a sure no
    return sigmoid
