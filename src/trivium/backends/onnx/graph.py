"""Builds the ONNX graph of a BERT-type sentence encoder from its tensors: ids and lengths in, unit vectors out.

The nodes are ONNX Runtime's fused ones, written down directly, so that nothing is left to optimise when a session is
created. `onnx` is imported here and nowhere else; a graph is built once and kept as a file.
"""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trivium.backends.onnx.catalog import Pooling
from trivium.backends.onnx.tensors import EncoderWeights

MICROSOFT = "com.microsoft"


class _Graph:
    """Collects nodes and initialisers; every method returns the name of what it made."""

    def __init__(self, weights: EncoderWeights) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, value: np.ndarray[Any, Any] | np.generic) -> str:
        self.initializers.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def tensor(self, name: str) -> str:
        return self.constant(name, self.weights.tensors[name])

    def matrix(self, name: str) -> str:
        """Torch keeps (outputs, inputs), ONNX multiplies by (inputs, outputs)."""
        return self.constant(f"{name}.w", self.weights.tensors[f"{name}.w"].T)

    def node(self, op: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output


def build_encoder(weights: EncoderWeights, pooling: Pooling) -> bytes:
    """The serialised model. Inputs: input_ids int32 (batch, tokens), padded on the right; lengths int32 (batch,)."""
    graph = _Graph(weights)
    hidden = _embed(graph)
    layers = weights.architecture.layers
    for layer in range(layers):
        # Past the last attention only the first token is read when pooling by it: an eighth of all work saved.
        hidden = _layer(graph, f"l{layer}", hidden, first_only=pooling == "cls" and layer == layers - 1)
    pooled = _sum(graph, hidden) if pooling == "mean" else graph.node("Squeeze", [hidden, _axis(graph)], "pooled")
    graph.node("LpNormalization", [pooled], "vectors", axis=-1, p=2)
    return _serialised(graph)


def _serialised(graph: _Graph) -> bytes:
    dimension = graph.weights.tensors["emb_ln.b"].shape[0]
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
    model: bytes = helper.make_model(proto, opset_imports=opsets, ir_version=9).SerializeToString()
    return model


def _embed(graph: _Graph) -> str:
    tensors, architecture = graph.weights.tensors, graph.weights.architecture
    # Only sentence 0 is ever read, so its type vector joins the positions and the lookup is saved.
    positions = tensors["pos_emb"][architecture.position_offset :] + tensors["type_emb"][0]
    inputs = ["input_ids", "", graph.tensor("word_emb"), graph.constant("pos_emb", positions), ""]
    inputs += [graph.tensor("emb_ln.w"), graph.tensor("emb_ln.b")]
    graph.nodes.append(
        helper.make_node(
            "EmbedLayerNormalization",
            inputs,
            ["embedded", "embedded.mask"],  # the second output is mandatory, if empty
            domain=MICROSOFT,
            epsilon=architecture.layer_norm_eps,
        )
    )
    return "embedded"


def _layer(graph: _Graph, layer: str, hidden: str, first_only: bool) -> str:
    inputs = [hidden, graph.matrix(f"{layer}.qkv"), graph.tensor(f"{layer}.qkv.b"), "lengths"]
    heads = graph.weights.architecture.heads
    attention = graph.node("Attention", inputs, f"{layer}.attention", domain=MICROSOFT, num_heads=heads)
    if first_only:
        bounds = [graph.constant("first", np.array([0])), graph.constant("second", np.array([1])), _axis(graph)]
        attention = graph.node("Slice", [attention, *bounds], "first.attention")
        hidden = graph.node("Slice", [hidden, *bounds], "first.hidden")
    attended = _add_norm(graph, f"{layer}.ao", f"{layer}.aln", attention, hidden)
    inner = graph.node("MatMul", [attended, graph.matrix(f"{layer}.f1")], f"{layer}.f1")
    active = graph.node("BiasGelu", [inner, graph.tensor(f"{layer}.f1.b")], f"{layer}.gelu", domain=MICROSOFT)
    return _add_norm(graph, f"{layer}.f2", f"{layer}.fln", active, attended)


def _add_norm(graph: _Graph, dense: str, norm: str, value: str, residual: str) -> str:
    """LayerNorm(value · dense + bias + residual)."""
    product = graph.node("MatMul", [value, graph.matrix(dense)], dense)
    inputs = [product, residual, graph.tensor(f"{norm}.w"), graph.tensor(f"{norm}.b"), graph.tensor(f"{dense}.b")]
    epsilon = graph.weights.architecture.layer_norm_eps
    return graph.node("SkipLayerNormalization", inputs, norm, domain=MICROSOFT, epsilon=epsilon)


def _sum(graph: _Graph, hidden: str) -> str:
    """The sum over real tokens: normalising afterwards makes it the mean."""
    axis = _axis(graph)
    shape = graph.node("Shape", ["input_ids"], "ids.shape", start=1, end=2)
    tokens = graph.node("Cast", [graph.node("Squeeze", [shape], "ids.count")], "ids.tokens", to=TensorProto.INT32)
    zero, one = graph.constant("zero", np.int32(0)), graph.constant("one", np.int32(1))
    index = graph.node("Range", [zero, tokens, one], "token_index")
    column = graph.node("Unsqueeze", ["lengths", axis], "lengths.column")
    real = graph.node("Cast", [graph.node("Less", [index, column], "is_real")], "real", to=TensorProto.FLOAT)
    row = graph.node("Unsqueeze", [real, axis], "real.row")
    return graph.node("Squeeze", [graph.node("MatMul", [row, hidden], "summed"), axis], "pooled")


def _axis(graph: _Graph) -> str:
    """The token axis as an operand."""
    name = "token_axis"
    known = any(initializer.name == name for initializer in graph.initializers)
    return name if known else graph.constant(name, np.array([1], np.int64))
