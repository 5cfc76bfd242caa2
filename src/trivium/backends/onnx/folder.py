"""Opens any sentence-transformers-type folder that carries an ONNX model.

Read: tokenizer.json; onnx/model.onnx or model.onnx; config.json; 1_Pooling/config.json (mean or cls);
sentence_bert_config.json (max_seq_length); config_sentence_transformers.json (prompts). Vectors come out unit length.
"""

import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from trivium.backends.onnx.catalog import Pooling
from trivium.backends.onnx.embedder import Encoder, OnnxEmbedder
from trivium.backends.onnx.sessions import open_session, open_tokenizer, padded
from trivium.errors import InvalidInput, ModelUnavailable
from trivium.model.embedding import EmbeddingModel, Vectors

GRAPH_PATHS = ("onnx/model.onnx", "model.onnx")
_POOLED_OUTPUT = "sentence_embedding"


def open_folder(folder: Path, *, name: str | None = None, threads: int = 0) -> OnnxEmbedder:
    """Reads the small configuration files at once, the model with the first text."""
    graph = find_graph(folder)
    config = _json(folder / "config.json")
    if "hidden_size" not in config:
        raise InvalidInput(f"{folder / 'config.json'} does not give hidden_size", field="model_path")
    model = EmbeddingModel(name or folder.resolve().name, int(config["hidden_size"]), _max_tokens(folder, config))
    pooling = _pooling(folder)
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    return OnnxEmbedder(
        model,
        lambda: _load(graph, folder / "tokenizer.json", pooling),
        threads=threads,
        query_prefix=prompts.get("query") or "",
        passage_prefix=prompts.get("passage") or prompts.get("document") or "",
    )


def find_graph(folder: Path) -> Path:
    missing = [f"{folder}/tokenizer.json"] if not (folder / "tokenizer.json").is_file() else []
    graph = next((folder / path for path in GRAPH_PATHS if (folder / path).is_file()), None)
    if graph is None or missing:
        missing += [] if graph else [f"{folder}/{GRAPH_PATHS[0]}"]
        raise ModelUnavailable(
            f"not a model folder: {' and '.join(missing)} not found",
            hint="name a folder with tokenizer.json, config.json and onnx/model.onnx",
        )
    return graph


def _load(graph: Path, tokenizer: Path, pooling: Pooling) -> Encoder:
    session = open_session(graph, optimise=True)
    names = {entry.name for entry in session.get_inputs()}
    outputs = [entry.name for entry in session.get_outputs()]
    output = _POOLED_OUTPUT if _POOLED_OUTPUT in outputs else outputs[0]

    def encode(rows: list[npt.NDArray[np.int32]]) -> Vectors:
        feeds = masked_inputs(rows, names)
        states = session.run([output], feeds)[0]
        return _unit(states if states.ndim == 2 else _pooled(states, feeds["attention_mask"], pooling))

    return Encoder(open_tokenizer(tokenizer), encode)


def masked_inputs(rows: list[npt.NDArray[np.int32]], names: set[str]) -> dict[str, npt.NDArray[np.int64]]:
    """What an exported transformer asks for; sentence 0 throughout."""
    block, lengths = padded(rows, np.int64)
    mask = (np.arange(block.shape[1]) < lengths[:, None]).astype(np.int64)
    feeds = {"input_ids": block.astype(np.int64), "attention_mask": mask}
    if "token_type_ids" in names:
        feeds["token_type_ids"] = np.zeros_like(mask)
    return feeds


def _pooled(states: npt.NDArray[np.float32], mask: npt.NDArray[np.int64], pooling: Pooling) -> Vectors:
    if pooling == "cls":
        return states[:, 0]
    summed: Vectors = np.einsum("btd,bt->bd", states, mask.astype(np.float32))
    return summed


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit


def _max_tokens(folder: Path, config: dict[str, Any]) -> int:
    declared = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    positions = int(config.get("max_position_embeddings", 512))
    # RoBERTa's table starts with two rows that no token reads.
    usable = positions - 2 if config.get("model_type") in ("roberta", "xlm-roberta") else positions
    return min(int(declared), usable) if declared else usable


def _pooling(folder: Path) -> Pooling:
    config = _json(folder / "1_Pooling" / "config.json")
    modes = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token"}
    chosen = [name for name in get_args(Pooling) if config.get(modes[name])]
    if config and not chosen:
        raise InvalidInput(f"{folder}/1_Pooling asks for another pooling", field="model_path", allowed=list(modes))
    return "cls" if chosen == ["cls"] else "mean"


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ModelUnavailable(f"{path} is not JSON: {error}", hint="fetch the model again") from error
    return content if isinstance(content, dict) else {}
