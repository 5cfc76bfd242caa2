"""Builds the ONNX graph of a BERT-type sentence encoder from its tensors: ids and lengths in, unit vectors out.

The nodes are ONNX Runtime's fused ones, written down directly, so that nothing is left to optimise when a session is
created. `onnx` is imported here and nowhere else; a graph is built once and kept as a file.
"""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trivium.backends.onnx.catalog import Pooling
from trivium.backends.onnx.tensors import Array, EncoderWeights

BUILDER_VERSION = 1  # part of the cached file's name: raise it whenever the graph changes

MICROSOFT = "com.microsoft"


class _Graph:
    """Collects nodes and initialisers; every method returns the name of what it made."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, value: np.ndarray[Any, Any]) -> str:
        self.initializers.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def node(self, op: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output


def build_encoder(weights: EncoderWeights, pooling: Pooling) -> bytes:
    """The serialised model. Inputs: input_ids int32 (batch, tokens), padded on the right; lengths int32 (batch,)."""
    graph = _Graph()
    hidden = _embed(graph, weights)
    for layer in range(weights.layers):
        hidden = _layer(graph, weights, layer, hidden)
    pooled = _mean(graph, hidden) if pooling == "mean" else _first(graph, hidden)
    _normalise(graph, pooled)
    dimension = weights.tensors["emb_ln.b"].shape[0]
    proto = helper.make_graph(
        graph.nodes,
        "encoder",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT32, ["batch", "tokens"]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
        ],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", dimension])],
        initializer=graph.initializers,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(proto, opset_imports=opsets, ir_version=9).SerializeToString()  # type: ignore[no-any-return]


def _embed(graph: _Graph, weights: EncoderWeights) -> str:
    tensors = weights.tensors
    # Only sentence 0 is ever read, so its type vector joins the positions and the lookup is saved.
    positions = tensors["pos_emb"][weights.position_offset :] + tensors["type_emb"][0]
    inputs = [
        "input_ids",
        "",
        graph.constant("word_emb", tensors["word_emb"]),
        graph.constant("pos_emb", positions),
        "",
        graph.constant("emb_ln.w", tensors["emb_ln.w"]),
        graph.constant("emb_ln.b", tensors["emb_ln.b"]),
    ]
    outputs = ["embedded", "embedded.mask"]
    graph.nodes.append(
        helper.make_node(
            "EmbedLayerNormalization", inputs, outputs, name="embed", domain=MICROSOFT, epsilon=weights.layer_norm_eps
        )
    )
    return "embedded"


def _layer(graph: _Graph, weights: EncoderWeights, layer: int, hidden: str) -> str:
    name = f"l{layer}"
    attention = graph.node(
        "Attention",
        [hidden, *_matrix(graph, weights, f"{name}.qkv"), "lengths"],
        f"{name}.attention",
        domain=MICROSOFT,
        num_heads=weights.heads,
    )
    attended = _add_norm(graph, weights, f"{name}.ao", f"{name}.aln", attention, hidden)
    matrix, bias = _matrix(graph, weights, f"{name}.f1")
    inner = graph.node("MatMul", [attended, matrix], f"{name}.f1")
    active = graph.node("BiasGelu", [inner, bias], f"{name}.gelu", domain=MICROSOFT)
    return _add_norm(graph, weights, f"{name}.f2", f"{name}.fln", active, attended)


def _add_norm(graph: _Graph, weights: EncoderWeights, dense: str, norm: str, value: str, residual: str) -> str:
    """LayerNorm(value · dense + bias + residual)."""
    matrix, bias = _matrix(graph, weights, dense)
    product = graph.node("MatMul", [value, matrix], dense)
    gamma = graph.constant(f"{norm}.w", weights.tensors[f"{norm}.w"])
    beta = graph.constant(f"{norm}.b", weights.tensors[f"{norm}.b"])
    return graph.node(
        "SkipLayerNormalization",
        [product, residual, gamma, beta, bias],
        norm,
        domain=MICROSOFT,
        epsilon=weights.layer_norm_eps,
    )


def _matrix(graph: _Graph, weights: EncoderWeights, name: str) -> tuple[str, str]:
    matrix: Array = weights.tensors[f"{name}.w"]
    return graph.constant(f"{name}.w", matrix.T), graph.constant(f"{name}.b", weights.tensors[f"{name}.b"])


def _mean(graph: _Graph, hidden: str) -> str:
    """The sum over real tokens: normalising afterwards makes it the mean."""
    zero, one = graph.constant("zero", np.int32(0)), graph.constant("one", np.int32(1))
    last = graph.constant("last_axis", np.array([1], np.int64))
    shape = graph.node("Shape", ["input_ids"], "ids.shape", start=1, end=2)
    tokens = graph.node("Cast", [graph.node("Squeeze", [shape], "ids.tokens64")], "ids.tokens", to=TensorProto.INT32)
    index = graph.node("Range", [zero, tokens, one], "token_index")
    column = graph.node("Unsqueeze", ["lengths", last], "lengths.column")
    real = graph.node("Cast", [graph.node("Less", [index, column], "is_real")], "real", to=TensorProto.FLOAT)
    row = graph.node("Unsqueeze", [real, last], "real.row")
    summed = graph.node("MatMul", [row, hidden], "summed")
    return graph.node("Squeeze", [summed, last], "pooled")


def _first(graph: _Graph, hidden: str) -> str:
    return graph.node("Gather", [hidden, graph.constant("first", np.int64(0))], "pooled", axis=1)


def _normalise(graph: _Graph, pooled: str) -> str:
    return graph.node("LpNormalization", [pooled], "vectors", axis=-1, p=2)
