"""Opens an embedder by model name: finds the weights, builds the graph once, keeps it in the cache folder."""

import json
import os
import tempfile
from pathlib import Path

from trivium.backends.onnx.catalog import KnownModel, known_model
from trivium.backends.onnx.embedder import OnnxEmbedder
from trivium.backends.onnx.weights import find_weights

GRAPH_VERSION = 1


def open_model(name: str, *, cache_dir: Path, folder: Path | None = None, offline: bool = False) -> OnnxEmbedder:
    """Cheap: nothing is read, built or fetched before the first text."""
    known = known_model(name)
    return OnnxEmbedder(known.model, lambda: _prepared(known, cache_dir, folder, offline))


def _prepared(known: KnownModel, cache_dir: Path, folder: Path | None, offline: bool) -> tuple[Path, Path]:
    stem = f"{known.model.name}-{known.files[0].sha256[:12]}-v{GRAPH_VERSION}"
    graph, tokenizer = cache_dir / f"{stem}.onnx", cache_dir / f"{stem}.tokenizer.json"
    if not (graph.exists() and tokenizer.exists()):
        _build(known, find_weights(known, cache_dir, folder, offline), graph, tokenizer)
    return graph, tokenizer


def _build(known: KnownModel, files: dict[str, Path], graph: Path, tokenizer: Path) -> None:
    from trivium.backends.onnx.graph import build_encoder
    from trivium.backends.onnx.tensors import bert_weights, read_pack, read_safetensors

    if "model.safetensors" in files:
        config = {"num_hidden_layers": 6, "num_attention_heads": 12, "layer_norm_eps": 1e-12, "model_type": "bert"}
        weights = bert_weights(read_safetensors(files["model.safetensors"]), config)
        text = files["tokenizer.json"].read_text("utf-8")
    else:
        weights, text = read_pack(next(iter(files.values())))
    write_atomically(tokenizer, json.dumps(json.loads(text), ensure_ascii=False).encode())
    write_atomically(graph, build_encoder(weights, known.pooling))


def write_atomically(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    os.replace(temporary, path)
