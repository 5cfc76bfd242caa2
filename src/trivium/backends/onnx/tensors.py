"""Reads encoder weights from their files into one naming scheme, whatever the file format.

Names: word_emb, pos_emb, type_emb, emb_ln.{w,b}, and per layer lN.{qkv,ao,f1,f2}.{w,b}, lN.{aln,fln}.{w,b}. Matrices
are stored as (outputs, inputs), as torch does. Knows nothing of ONNX.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trivium.backends.onnx.catalog import Architecture
from trivium.errors import ModelUnavailable

Array = npt.NDArray[np.float32]

PACK_MAGIC = b"HMSEMB01"


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """A BERT-type encoder."""

    tensors: dict[str, Array]
    architecture: Architecture


def read_safetensors(path: Path) -> dict[str, Array]:
    """Every floating-point tensor of the file, as float32."""
    raw = path.read_bytes()
    try:
        data = 8 + int.from_bytes(raw[:8], "little")
        header: dict[str, Any] = json.loads(raw[8:data])
        tensors = {}
        for name, entry in header.items():
            if name != "__metadata__" and entry["dtype"] in _AS_FLOAT32:
                start, end = entry["data_offsets"]
                values = _AS_FLOAT32[entry["dtype"]](raw[data + start : data + end])
                tensors[name] = values.reshape(entry["shape"])
        return tensors
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailable(f"{path} is not a safetensors file: {error}", hint="fetch the model again") from error


def _bfloat16(raw: bytes) -> Array:
    """numpy has no bfloat16, but it is the upper half of a float32."""
    return (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32)


_AS_FLOAT32: dict[str, Callable[[bytes], Array]] = {
    "F32": lambda raw: np.frombuffer(raw, np.float32),
    "F16": lambda raw: np.frombuffer(raw, np.float16).astype(np.float32),
    "BF16": _bfloat16,
}


def bert_weights(tensors: dict[str, Array], architecture: Architecture) -> EncoderWeights:
    """Hugging Face's BERT and RoBERTa names to ours."""
    prefix = next((p for p in ("", "bert.", "roberta.") if f"{p}embeddings.word_embeddings.weight" in tensors), None)
    if prefix is None:
        raise ModelUnavailable("the weights are not those of a BERT-type encoder", hint="give an ONNX model instead")

    def get(name: str) -> Array:
        return tensors[prefix + name]

    named = {
        "word_emb": get("embeddings.word_embeddings.weight"),
        "pos_emb": get("embeddings.position_embeddings.weight"),
        "type_emb": get("embeddings.token_type_embeddings.weight"),
        "emb_ln.w": get("embeddings.LayerNorm.weight"),
        "emb_ln.b": get("embeddings.LayerNorm.bias"),
    }
    for layer in range(architecture.layers):
        named |= {f"l{layer}.{name}": value for name, value in _bert_layer(get, f"encoder.layer.{layer}.").items()}
    return EncoderWeights(named, architecture)


def _bert_layer(get: Callable[[str], Array], prefix: str) -> dict[str, Array]:
    named: dict[str, Array] = {}
    for ours, theirs in (("w", "weight"), ("b", "bias")):
        qkv = [get(f"{prefix}attention.self.{part}.{theirs}") for part in ("query", "key", "value")]
        named |= {
            f"qkv.{ours}": np.concatenate(qkv),
            f"ao.{ours}": get(f"{prefix}attention.output.dense.{theirs}"),
            f"aln.{ours}": get(f"{prefix}attention.output.LayerNorm.{theirs}"),
            f"f1.{ours}": get(f"{prefix}intermediate.dense.{theirs}"),
            f"f2.{ours}": get(f"{prefix}output.dense.{theirs}"),
            f"fln.{ours}": get(f"{prefix}output.LayerNorm.{theirs}"),
        }
    return named


def read_pack(path: Path) -> tuple[EncoderWeights, str]:
    """Weights and tokenizer.json of an `.hmsemb` pack: magic, header length, JSON header, tokenizer, tensors."""
    raw = path.read_bytes()
    if raw[:8] != PACK_MAGIC:
        raise ModelUnavailable(f"{path} is not a model pack", hint="fetch the model again")
    header_end = 16 + int.from_bytes(raw[8:16], "little")
    header = json.loads(raw[16:header_end])
    offset = header_end + int(header["tokenizer_len"])
    tokenizer = raw[header_end:offset].decode("utf-8")
    tensors: dict[str, Array] = {}
    for entry in header["tensors"]:
        tensors[entry["name"]] = _pack_tensor(raw[offset : offset + entry["len"]], entry)
        offset += entry["len"]
    return EncoderWeights(tensors, _pack_architecture(header["arch"])), tokenizer


def _pack_architecture(header: dict[str, Any]) -> Architecture:
    return Architecture(
        int(header["layers"]), int(header["heads"]), float(header["layer_norm_eps"]), int(header["position_offset"])
    )


def _pack_tensor(raw: bytes, entry: dict[str, Any]) -> Array:
    """Either plain float32, or int8 in groups along the last axis, all values first, then one float32 scale a group."""
    shape, group = entry["shape"], int(entry["group"])
    if entry["dtype"] == "f32":
        return np.frombuffer(raw, np.float32).reshape(shape)
    count = int(np.prod(shape))
    values = np.frombuffer(raw, np.int8, count).reshape(-1, group).astype(np.float32)
    scales = np.frombuffer(raw, np.float32, count // group, offset=count)
    dequantised: Array = (values * scales[:, None]).reshape(shape)
    return dequantised
