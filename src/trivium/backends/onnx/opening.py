"""Opens an embedder by model name: finds the weights, builds the graph once, keeps it in the cache folder."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from trivium.backends.onnx.catalog import KnownModel, PinnedFile, known_model
from trivium.backends.onnx.embedder import Encoder, OnnxEmbedder
from trivium.backends.onnx.folder import open_folder
from trivium.backends.onnx.sessions import open_session, open_tokenizer, padded
from trivium.backends.onnx.weights import Files, find_weights, has_weights, write_atomically
from trivium.model.embedding import Vectors

GRAPH_VERSION = 2  # part of the cached file's name: raise it whenever the graph changes


def open_model(
    name: str, *, cache_dir: Path, folder: Path | None = None, offline: bool = False, threads: int = 0
) -> OnnxEmbedder:
    """Cheap: nothing is read, built or fetched before the first text.

    `name` is a known model or the path of a sentence-transformers-type ONNX folder. `folder` holds the files of the
    known model, or is itself such an ONNX folder and then stands in for the name.
    """
    if "/" in name and Path(name).is_dir():
        return open_folder(Path(name), name=str(Path(name).resolve()), threads=threads)
    if folder is not None and not _holds_known(name, folder):
        return open_folder(folder, threads=threads)
    known = known_model(name)
    return OnnxEmbedder(known.model, lambda: _load(known, cache_dir, folder, offline), threads=threads)


def _holds_known(name: str, folder: Path) -> bool:
    has_onnx = any((folder / path).is_file() for path in ("onnx/model.onnx", "model.onnx"))
    return not has_onnx or has_weights(known_model(name), folder)


def _load(known: KnownModel, cache_dir: Path, folder: Path | None, offline: bool) -> Encoder:
    graph, tokenizer = _prepared(known, cache_dir, folder, offline)
    session = open_session(graph, optimise=False)

    def encode(rows: list[npt.NDArray[np.int32]]) -> Vectors:
        block, lengths = padded(rows, np.int32)
        vectors: Vectors = session.run(["vectors"], {"input_ids": block, "lengths": lengths})[0]
        return vectors

    return Encoder(open_tokenizer(tokenizer), encode)


def _prepared(known: KnownModel, cache_dir: Path, folder: Path | None, offline: bool) -> tuple[Path, Path]:
    """Graph and tokenizer in the cache. A graph that is there is used as it is: its name says what it was made of."""
    for bundle in known.bundles:
        graph, tokenizer = _cached(known, cache_dir, bundle)
        if graph.is_file() and tokenizer.is_file():
            return graph, tokenizer
    files = find_weights(known, cache_dir, folder=folder, offline=offline)
    bundle = next(bundle for bundle in known.bundles if {file.name for file in bundle} == set(files))
    graph, tokenizer = _cached(known, cache_dir, bundle)
    _build(known, files, graph, tokenizer)
    return graph, tokenizer


def _cached(known: KnownModel, cache_dir: Path, bundle: tuple[PinnedFile, ...]) -> tuple[Path, Path]:
    stem = f"{bundle[0].sha256[:12]}-v{GRAPH_VERSION}"
    folder = cache_dir / known.model.name
    return folder / f"encoder-{stem}.onnx", folder / f"tokenizer-{stem}.json"


def _build(known: KnownModel, files: Files, graph: Path, tokenizer: Path) -> None:
    from trivium.backends.onnx.graph import build_encoder
    from trivium.backends.onnx.tensors import bert_weights, read_pack, read_safetensors

    if "model.safetensors" in files:
        weights = bert_weights(read_safetensors(files["model.safetensors"]), known.architecture)
        text = files["tokenizer.json"].read_text("utf-8")
    else:
        (pack,) = files.values()
        weights, text = read_pack(pack)
    write_atomically(tokenizer, text.encode("utf-8"))
    write_atomically(graph, build_encoder(weights, known.pooling))
