"""Weights of a student as the two ONNX graphs that ship: `python -m training.export STEM TOKENIZER OUT`.

entities.onnx: tokens to label scores and token states; relations.onnx: states and pairs of spans to relation scores.
Matrices are int8 with one scale an output channel; activations are quantised as they come. vocabulary.txt.gz and
model.json go beside them.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.sets import LABELS, RELATIONS

MICROSOFT = "com.microsoft"
HEADS, RELATION_HEADS, EPSILON = 12, 8, 1e-12
Arrays = dict[str, np.ndarray[Any, Any]]


class Graph:
    def __init__(self, weights: Arrays) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: Any) -> str:
        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def node(self, op: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def linear(self, value: str, name: str, output: str) -> str:
        """value · W + b with an int8 matrix; the activation is quantised row block by row block at run time."""
        matrix = self.constant(f"{name}.w", self.weights[f"{name}.weight"].T)
        scale = self.constant(f"{name}.s", self.weights[f"{name}.weight.scale"].astype(np.float32))
        bias = self.constant(f"{name}.b", self.weights[f"{name}.bias"])
        return self.node("DynamicQuantizeMatMul", [value, matrix, scale, "", bias], output, MICROSOFT)

    def add_norm(self, value: str, residual: str, name: str, output: str, epsilon: float) -> str:
        gamma = self.constant(f"{name}.g", self.weights[f"{name}.weight"])
        beta = self.constant(f"{name}.be", self.weights[f"{name}.bias"])
        return self.node("SkipLayerNormalization", [value, residual, gamma, beta], output, MICROSOFT, epsilon=epsilon)

    def table(self, name: str, ids: str, output: str) -> str:
        """Rows of an int8 table."""
        rows = self.node("Gather", [self.constant(f"{name}.t", self.weights[f"{name}.weight"]), ids], f"{output}.rows")
        scale = self.constant(f"{name}.ts", self.weights[f"{name}.weight.scale"].astype(np.float32)[:, None])
        wide = self.node("Cast", [rows], f"{output}.wide", to=TensorProto.FLOAT)
        return self.node("Mul", [wide, self.node("Gather", [scale, ids], f"{output}.scale")], output)

    def model(self, name: str, inputs: list[Any], outputs: list[Any]) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, name, inputs, outputs, initializer=list(self.initializers.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def value(name: str, kind: int, shape: list[Any]) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def entities(weights: Arrays) -> onnx.ModelProto:
    g = Graph(weights)
    layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layers."))
    words = g.table("word", "input_ids", "words")
    length = g.node("Shape", ["input_ids"], "length", start=1, end=2)
    places = weights["position.weight"].astype(np.float32) * weights["position.weight.scale"][:, None]
    position = g.node(
        "Slice",
        [
            g.constant("places", places[:256].astype(np.float32)),
            g.constant("zero", np.array([0], np.int64)),
            length,
            g.constant("axis0", np.array([0], np.int64)),
        ],
        "position",
    )
    row = g.node("Unsqueeze", [position, g.constant("axis0b", np.array([0], np.int64))], "position.row")
    shapes = weights["shape.weight"].astype(np.float32) * weights["shape.weight.scale"][:, None]
    shaped = g.node("Gather", [g.constant("shapes_table", shapes.astype(np.float32)), "shapes"], "shaped")
    summed = g.node("Add", [g.node("Add", [words, shaped], "word_shape"), row], "summed")
    gamma, beta = g.constant("emb.g", weights["emb_ln.weight"]), g.constant("emb.be", weights["emb_ln.bias"])
    hidden = g.node("LayerNormalization", [summed, gamma, beta], "embedded", axis=-1, epsilon=EPSILON)
    for layer in range(layers):
        hidden = encoder_layer(g, f"layers.{layer}", hidden)
    labels = g.constant(
        "labels.w", (weights["labels.weight"] * weights["labels.weight.scale"][:, None]).T.astype(np.float32)
    )
    scored = g.node("MatMul", [hidden, labels], "scored")
    g.node("Add", [scored, g.constant("labels.b", weights["labels.bias"])], "scores")
    g.node("Identity", [hidden], "states")
    return g.model(
        "entities",
        [
            value("input_ids", TensorProto.INT32, ["batch", "tokens"]),
            value("shapes", TensorProto.INT32, ["batch", "tokens"]),
            value("lengths", TensorProto.INT32, ["batch"]),
        ],
        [
            value("scores", TensorProto.FLOAT, ["batch", "tokens", len(LABELS)]),
            value("states", TensorProto.FLOAT, ["batch", "tokens", 384]),
        ],
    )


def encoder_layer(g: Graph, name: str, hidden: str) -> str:
    width = 384
    three = g.constant("thirds", np.array([width] * 3, np.int64))
    qkv = g.linear(hidden, f"{name}.qkv", f"{name}.qkv.out")
    parts = [f"{name}.{part}" for part in "qkv"]
    g.nodes.append(helper.make_node("Split", [qkv, three], parts, name=f"{name}.split", axis=-1))
    attended = g.node("MultiHeadAttention", [*parts, "", "lengths"], f"{name}.attended", MICROSOFT, num_heads=HEADS)
    joined = g.linear(attended, f"{name}.ao", f"{name}.ao.out")
    middle = g.add_norm(joined, hidden, f"{name}.aln", f"{name}.middle", EPSILON)
    inner = g.node("Gelu", [g.linear(middle, f"{name}.f1", f"{name}.f1.out")], f"{name}.gelu", MICROSOFT)
    return g.add_norm(g.linear(inner, f"{name}.f2", f"{name}.f2.out"), middle, f"{name}.fln", f"{name}.out", EPSILON)


def relations(weights: Arrays) -> onnx.ModelProto:
    own = {name.removeprefix("relations."): value for name, value in weights.items() if name.startswith("relations.")}
    for name in ("role_key", "role_value"):
        own[name] = (
            own[name].astype(np.float32) * own.pop(f"{name}.scale")[:, None] if f"{name}.scale" in own else own[name]
        )
    g = Graph(own)
    inner = own["query.bias"].shape[0]
    size = inner // RELATION_HEADS
    flat = g.constant("flat", np.array([0, -1], np.int64))
    spans = g.node("Reshape", [g.node("GatherND", ["states", "spans"], "spans.states"), flat], "spans.flat")
    kinds = [dequantised(g, "kind", kind) for kind in ("head_kind", "tail_kind")]
    features = g.node("Concat", [spans, *kinds, dequantised(g, "distance", "distances")], "features", axis=-1)
    query = g.node("Gelu", [g.linear(features, "query", "query.out")], "query0", MICROSOFT)
    split = g.constant("split", np.array([0, 0, RELATION_HEADS, size], np.int64))
    by_pair = {}
    for part in ("key", "value"):
        every = g.linear("states", part, f"{part}.all")
        by_pair[part] = g.node("Reshape", [g.node("Gather", [every, "rows"], f"{part}.rows"), split], f"{part}.heads")
    for part in ("role_key", "role_value"):
        g.constant(part, own[part].reshape(-1, RELATION_HEADS, size).astype(np.float32))
    first = g.linear(attend(g, query, by_pair, "a1", size), "out1", "out1.out")
    query = g.add_norm(first, query, "ln1", "query1", 1e-5)
    middle = g.node("Gelu", [g.linear(query, "mid", "mid.out")], "mid.gelu", MICROSOFT)
    query = g.add_norm(g.linear(middle, "back", "back.out"), query, "ln2", "query2.in", 1e-5)
    again = attend(g, g.linear(query, "query2", "query2.out"), by_pair, "a2", size)
    query = g.add_norm(g.linear(again, "out2", "out2.out"), query, "ln3", "query3", 1e-5)
    g.linear(query, "final", "relation_scores")
    pairs, tokens = "pairs", "tokens"
    return g.model(
        "relations",
        [
            value("states", TensorProto.FLOAT, ["batch", tokens, 384]),
            value("rows", TensorProto.INT64, [pairs]),
            value("spans", TensorProto.INT64, [pairs, 4, 2]),
            value("head_kind", TensorProto.INT64, [pairs]),
            value("tail_kind", TensorProto.INT64, [pairs]),
            value("distances", TensorProto.INT64, [pairs]),
            value("roles", TensorProto.FLOAT, [pairs, tokens, 5]),
            value("masked", TensorProto.FLOAT, [pairs, 1, tokens]),
        ],
        [value("relation_scores", TensorProto.FLOAT, [pairs, len(RELATIONS)])],
    )


def dequantised(g: Graph, name: str, ids: str) -> str:
    table = g.weights[f"{name}.weight"].astype(np.float32) * g.weights[f"{name}.weight.scale"][:, None]
    return g.node("Gather", [g.constant(f"{name}.t", table.astype(np.float32)), ids], f"{ids}.rows")


def attend(g: Graph, query: str, by_pair: dict[str, str], name: str, size: int) -> str:
    q = g.node("Reshape", [query, g.constant("heads", np.array([0, RELATION_HEADS, size], np.int64))], f"{name}.q")
    direct = g.node("Einsum", [q, by_pair["key"]], f"{name}.direct", equation="phs,pths->pht")
    by_role = g.node("Einsum", [q, "role_key"], f"{name}.by_role", equation="phs,rhs->phr")
    placed = g.node("Einsum", [by_role, "roles"], f"{name}.placed", equation="phr,ptr->pht")
    scores = g.node("Add", [g.node("Add", [direct, placed], f"{name}.sum"), "masked"], f"{name}.scores")
    scaled = g.node("Mul", [scores, g.constant("scale", np.float32(size**-0.5))], f"{name}.scaled")
    weights = g.node("Softmax", [scaled], f"{name}.weights", axis=-1)
    summed = g.node("Einsum", [weights, by_pair["value"]], f"{name}.values", equation="pht,pths->phs")
    share = g.node("Einsum", [weights, "roles"], f"{name}.share", equation="pht,ptr->phr")
    roles = g.node("Einsum", [share, "role_value"], f"{name}.roles", equation="phr,rhs->phs")
    both = g.node("Add", [summed, roles], f"{name}.both")
    return g.node("Reshape", [both, g.constant("flat", np.array([0, -1], np.int64))], f"{name}.out")


def main(stem: str, tokenizer: Path, out: Path) -> None:
    weights: Arrays = {}
    for part in ("words", "rest"):
        weights |= dict(np.load(f"{stem}-{part}.npz"))
    out.mkdir(parents=True, exist_ok=True)
    for name, build in (("entities", entities), ("relations", relations)):
        (out / f"{name}.onnx").write_bytes(build(weights).SerializeToString())
    vocabulary = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    lines = sorted(vocabulary, key=vocabulary.__getitem__)
    (out / "vocabulary.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    transitions = weights["transitions"] + weights["forbidden"]
    card = {
        "labels": list(LABELS),
        "relations": list(RELATIONS),
        "transitions": np.round(transitions, 4).tolist(),
        "outside_bias": 0.0,
        "none_bias": 0.0,
    }
    (out / "model.json").write_text(json.dumps(card) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
