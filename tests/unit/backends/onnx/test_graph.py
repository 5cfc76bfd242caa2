"""The graph we build computes what the encoder's definition says, in plain numpy, on small random weights."""

import math
from pathlib import Path

import numpy as np
import pytest

from trivium.backends.onnx.catalog import Architecture, Pooling
from trivium.backends.onnx.graph import build_encoder
from trivium.backends.onnx.sessions import open_session, padded
from trivium.backends.onnx.tensors import Array, EncoderWeights

HIDDEN, INNER, VOCABULARY, POSITIONS = 16, 32, 40, 24
ROWS = [[1, 5, 9, 7, 2], [1, 30, 2], [1, 2], [1, *range(3, 20), 2]]


def random_weights(position_offset: int) -> EncoderWeights:
    random = np.random.default_rng(7)

    def make(*shape: int) -> Array:
        return random.normal(0, 0.5, shape).astype(np.float32)

    tensors = {"word_emb": make(VOCABULARY, HIDDEN), "pos_emb": make(POSITIONS, HIDDEN), "type_emb": make(2, HIDDEN)}
    norms = ["emb_ln"]
    for layer in ("l0", "l1"):
        shapes = {"qkv": (3 * HIDDEN, HIDDEN), "ao": (HIDDEN, HIDDEN), "f1": (INNER, HIDDEN), "f2": (HIDDEN, INNER)}
        for name, shape in shapes.items():
            tensors |= {f"{layer}.{name}.w": make(*shape), f"{layer}.{name}.b": make(shape[0])}
        norms += [f"{layer}.aln", f"{layer}.fln"]
    for norm in norms:
        tensors |= {f"{norm}.w": make(HIDDEN), f"{norm}.b": make(HIDDEN)}
    return EncoderWeights(tensors, Architecture(2, 4, 1e-12, position_offset))


def reference(weights: EncoderWeights, row: list[int], pooling: Pooling) -> Array:
    """BERT as its paper writes it, one text at a time."""
    tensors, architecture = weights.tensors, weights.architecture

    def dense(value: Array, name: str) -> Array:
        return value @ tensors[f"{name}.w"].T + tensors[f"{name}.b"]

    def norm(value: Array, name: str) -> Array:
        centred = value - value.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + architecture.layer_norm_eps)
        return centred / spread * tensors[f"{name}.w"] + tensors[f"{name}.b"]

    start = architecture.position_offset
    positions = tensors["pos_emb"][start : start + len(row)]
    hidden = norm(tensors["word_emb"][row] + positions + tensors["type_emb"][0], "emb_ln")
    for layer in range(architecture.layers):
        query, key, value = np.split(dense(hidden, f"l{layer}.qkv"), 3, axis=-1)
        heads = []
        for head in np.split(np.arange(HIDDEN), architecture.heads):
            logits = query[:, head] @ key[:, head].T / math.sqrt(len(head))
            shares = np.exp(logits - logits.max(-1, keepdims=True))
            heads.append(shares / shares.sum(-1, keepdims=True) @ value[:, head])
        hidden = norm(dense(np.concatenate(heads, -1), f"l{layer}.ao") + hidden, f"l{layer}.aln")
        inner = dense(hidden, f"l{layer}.f1")
        active = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        hidden = norm(dense(active, f"l{layer}.f2") + hidden, f"l{layer}.fln")
    pooled = hidden.mean(0) if pooling == "mean" else hidden[0]
    return pooled / np.linalg.norm(pooled)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("position_offset", [0, 2])
def test_a_padded_batch_gives_what_the_definition_gives_text_by_text(
    pooling: Pooling, position_offset: int, tmp_path: Path
) -> None:
    weights = random_weights(position_offset)
    path = tmp_path / "encoder.onnx"
    path.write_bytes(build_encoder(weights, pooling))
    ids, lengths = padded(ROWS, np.int32)

    vectors = open_session(path, optimise=False).run(["vectors"], {"input_ids": ids, "lengths": lengths})[0]

    expected = np.array([reference(weights, row, pooling) for row in ROWS])
    assert np.abs(vectors - expected).max() < 1e-5


def test_what_stands_in_the_padding_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "encoder.onnx"
    path.write_bytes(build_encoder(random_weights(0), "mean"))
    session = open_session(path, optimise=False)
    ids, lengths = padded(ROWS, np.int32)
    noise = np.where(np.arange(ids.shape[1]) < lengths[:, None], ids, 33).astype(np.int32)

    clean, noisy = (session.run(None, {"input_ids": block, "lengths": lengths})[0] for block in (ids, noise))

    assert np.abs(clean - noisy).max() < 1e-6
