"""OnnxExtractor: one pass of a small encoder gives the mentions; its token states serve the relation head as well."""

import json
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from trivium.backends.onnx_extract.decoding import mentions_of
from trivium.backends.onnx_extract.encoding import Encoded, Floats, UnitTokenizer, batches, inputs
from trivium.backends.onnx_extract.pairs import Pair, candidate_pairs, given_pairs, pair_inputs
from trivium.model.vendor import Extraction, Link, Mention

WEIGHTS = Path(__file__).parent / "weights"
VERSION = "trivium-extract-2"
PAIRS_A_RUN = 256


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: UnitTokenizer
    entities: Any
    relations: Any


class OnnxExtractor:
    """Thread-safe; the sessions are opened with the first sentence. `threads` 0 takes every core."""

    def __init__(self, folder: Path = WEIGHTS, *, threads: int = 1) -> None:
        self._folder, self._threads = folder, threads or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def name(self) -> str:
        return VERSION

    def extract(self, sentences: Sequence[str]) -> list[Extraction]:
        results = [Extraction()] * len(sentences)
        encoded = [self._load().tokenizer.encode(sentence) for sentence in sentences]

        def run(rows: list[int]) -> None:
            part = [encoded[row] for row in rows]
            scores, states = self._scores(part)
            found = mentions_of(part, scores, self._labels, self._transitions)
            pairs = [candidate_pairs(row, mentions, units) for row, (mentions, units) in enumerate(found)]
            links = self._links(part, states, [pair for row in pairs for pair in row])
            for row, (mentions, _) in zip(rows, found, strict=True):
                results[row] = Extraction(tuple(mentions), ())
            for place, row_links in links.items():
                results[rows[place]] = Extraction(results[rows[place]].mentions, tuple(row_links))

        self._each(run, list(batches(encoded)))
        return results

    def link(self, sentences: Sequence[str], mentions: Sequence[Sequence[Mention]]) -> list[tuple[Link, ...]]:
        results: list[tuple[Link, ...]] = [()] * len(sentences)
        encoded = [self._load().tokenizer.encode(sentence) for sentence in sentences]

        def run(rows: list[int]) -> None:
            part = [encoded[row] for row in rows]
            pairs = [p for place, row in enumerate(rows) for p in given_pairs(place, mentions[row], encoded[row])]
            if not pairs:
                return
            _, states = self._scores(part)
            for place, found in self._links(part, states, pairs).items():
                results[rows[place]] = tuple(found)

        self._each(run, list(batches(encoded)))
        return results

    def _each(self, run: Any, parts: list[list[int]]) -> None:
        if self._threads == 1 or len(parts) == 1:
            for part in parts:
                run(part)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(run, parts))

    def _scores(self, encoded: Sequence[Encoded]) -> tuple[Floats, Floats]:
        scores, states = self._load().entities.run(["scores", "states"], inputs(encoded))
        scores[..., 0] += self._card["outside_bias"]
        return scores, states

    def _links(self, encoded: Sequence[Encoded], states: Floats, pairs: list[Pair]) -> dict[int, list[Link]]:
        """Row -> its links. Only relations that may hold between the pair's types are considered."""
        links: dict[int, list[Link]] = {}
        for start in range(0, len(pairs), PAIRS_A_RUN):
            part = pairs[start : start + PAIRS_A_RUN]
            scores = self._load().relations.run(["relation_scores"], pair_inputs(encoded, states, part))[0]
            scores[:, 0] += self._card["none_bias"]
            for pair, row in zip(part, scores, strict=True):
                allowed = row + pair.barred(self._card["relations"])
                best = int(allowed.argmax())
                if best:
                    chances = np.exp(allowed - allowed.max())
                    link = Link(pair.head, pair.tail, self._card["relations"][best], round(float(1 / chances.sum()), 4))
                    links.setdefault(pair.row, []).append(link)
        return {row: without_twins(found) for row, found in links.items()}

    @cached_property
    def _card(self) -> dict[str, Any]:
        return dict(json.loads((self._folder / "model.json").read_text("utf-8")))

    @cached_property
    def _labels(self) -> list[str]:
        return list(self._card["labels"])

    @cached_property
    def _transitions(self) -> Floats:
        return np.array(self._card["transitions"], np.float32)

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                tokenizer = UnitTokenizer(self._folder / "vocabulary.txt.gz")
                self._loaded = _Loaded(
                    tokenizer, _session(self._folder / "entities.onnx"), _session(self._folder / "relations.onnx")
                )
            return self._loaded


def without_twins(links: list[Link]) -> list[Link]:
    """One relationship a pair of mentions and type, whichever way round scored higher."""
    best: dict[tuple[int, int, str], Link] = {}
    for link in links:
        key = (min(link.head, link.tail), max(link.head, link.tail), link.relationship_type)
        if key not in best or link.confidence > best[key].confidence:
            best[key] = link
    return list(best.values())


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
