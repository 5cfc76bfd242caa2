"""When a model is loaded: not before it is needed, once, and not again and again where it cannot be had."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from trivium.backends.onnx import open_model
from trivium.backends.onnx.embedder import TOKENS_PER_BATCH, Encoder, OnnxEmbedder, _batches
from trivium.errors import ModelUnavailable
from trivium.model.embedding import EmbeddingModel

MODEL = EmbeddingModel("counting", dimension=2, max_tokens=8)


def encoder() -> Encoder:
    tokenizer = Tokenizer(models.WordLevel({"word": 1, "[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return Encoder(tokenizer, lambda rows: np.array([[len(row), row.sum()] for row in rows], np.float32))


def test_opening_a_model_touches_nothing(tmp_path: Path) -> None:
    open_model("all-MiniLM-L6-v2", cache_dir=tmp_path / "models")
    assert not (tmp_path / "models").exists()


def test_many_first_callers_load_once() -> None:
    loads: list[int] = []
    everyone_is_here = threading.Barrier(8)

    def load() -> Encoder:
        loads.append(1)
        return encoder()

    embedder = OnnxEmbedder(MODEL, load)

    def use() -> None:
        everyone_is_here.wait()
        embedder.embed_queries(["word"])

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]


def test_warming_loads_before_the_first_text() -> None:
    loads: list[int] = []

    def load() -> Encoder:
        loads.append(1)
        return encoder()

    OnnxEmbedder(MODEL, load).warm().join()
    assert loads == [1]


def test_a_model_that_cannot_be_had_is_not_looked_for_with_every_query() -> None:
    attempts: list[int] = []

    def load() -> Encoder:
        attempts.append(1)
        raise ModelUnavailable("nowhere")

    embedder = OnnxEmbedder(MODEL, load)
    embedder.warm().join()
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="nowhere"):
            embedder.embed_queries(["word"])
    assert attempts == [1]


@given(st.lists(st.integers(0, 12), max_size=60), st.integers(1, 3))
def test_order_is_kept_whatever_the_lengths(lengths: list[int], threads: int) -> None:
    texts = ["word " * length for length in lengths] * 10  # several batches
    vectors = OnnxEmbedder(MODEL, encoder, threads=threads).embed_passages(texts)
    assert vectors[:, 0].tolist() == [min(max(length, 1), MODEL.max_tokens) for length in lengths] * 10


@given(st.lists(st.integers(1, 512), max_size=200))
def test_batches_hold_every_row_once_and_stay_within_the_budget(lengths: list[int]) -> None:
    batches = list(_batches(lengths))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[row] for row in batch) <= TOKENS_PER_BATCH for batch in batches)
