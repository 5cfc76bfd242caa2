"""Models of the user's own: a sentence-transformers-type ONNX folder, a cross-encoder. Tiny, but really run."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from trivium.backends.onnx import open_folder, open_model, open_reranker
from trivium.errors import InvalidInput, ModelUnavailable

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *["red", "green", "blue", "apple", "pear", "plum", "fast", "slow"]]
TABLE = np.random.default_rng(3).normal(size=(len(WORDS), 8)).astype(np.float32)
TABLE[WORDS.index("[UNK]")] = 0
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def save_tokenizer(folder: Path) -> None:
    ids = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_truncation(3)  # as published files do; it must not survive
    tokenizer.save(str(folder / "tokenizer.json"))


def save_graph(path: Path, nodes: list[Any], output: Any, constants: dict[str, Any]) -> None:
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in INPUTS]
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], initializer=initializers)
    path.parent.mkdir(parents=True, exist_ok=True)
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), str(path))


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """Token vectors straight from a table, so that pooling is all that is left to check."""
    folder = tmp_path / "tiny-encoder"
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", 8])
    save_graph(folder / "onnx" / "model.onnx", [node], output, {"table": TABLE})
    save_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps({"hidden_size": 8, "max_position_embeddings": 16}))
    return folder


@pytest.fixture
def cross_encoder(tmp_path: Path) -> Path:
    """The logit is the dot product of the query's and the text's summed table vectors."""
    folder = tmp_path / "hub" / "owner" / "tiny-cross" / "resolve" / "main"
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["states"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["mask", "types"], ["query_mask"]),
        helper.make_node("Unsqueeze", ["query_mask", "axis"], ["query_row"]),
        helper.make_node("Unsqueeze", ["types", "axis"], ["text_row"]),
        helper.make_node("MatMul", ["query_row", "states"], ["query"]),
        helper.make_node("MatMul", ["text_row", "states"], ["text"]),
        helper.make_node("Mul", ["query", "text"], ["product"]),
        helper.make_node("ReduceSum", ["product", "last"], ["logits"], keepdims=0),
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    constants = {"table": TABLE, "axis": np.array([1]), "last": np.array([2])}
    save_graph(folder / "onnx" / "model.onnx", nodes, output, constants)
    save_tokenizer(folder)
    return folder


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_a_folder_without_pooling_advice_is_pooled_by_the_mean_of_real_tokens(encoder: Path) -> None:
    vectors = open_folder(encoder).embed_passages(["red apple", "blue"])
    assert vectors[0] == pytest.approx(unit(TABLE[[1, 4, 7, 2]].mean(0)), abs=1e-6)
    assert vectors[1] == pytest.approx(unit(TABLE[[1, 6, 2]].mean(0)), abs=1e-6)


def test_a_folder_that_asks_for_the_first_token_gets_it(encoder: Path) -> None:
    (encoder / "1_Pooling").mkdir()
    (encoder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    assert open_folder(encoder).embed_queries(["green plum"])[0] == pytest.approx(unit(TABLE[1]), abs=1e-6)


def test_another_pooling_is_refused_by_name(encoder: Path) -> None:
    (encoder / "1_Pooling").mkdir()
    (encoder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(InvalidInput, match="1_Pooling"):
        open_folder(encoder)


def test_limits_and_prompts_of_the_folder_are_followed(encoder: Path) -> None:
    (encoder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 4}))
    prompts = {"prompts": {"query": "fast ", "document": "slow "}}
    (encoder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    embedder = open_folder(encoder)
    assert embedder.model.max_tokens == 4
    assert embedder.count_tokens(["red green blue"]) == [6]
    assert embedder.embed_queries(["red"])[0] == pytest.approx(unit(TABLE[[1, 10, 4, 2]].mean(0)), abs=1e-6)
    assert embedder.embed_passages(["red green"])[0] == pytest.approx(unit(TABLE[[1, 11, 4, 2]].mean(0)), abs=1e-6)


def test_a_folder_can_stand_in_for_a_known_model_and_keeps_its_own_name(encoder: Path, tmp_path: Path) -> None:
    by_setting = open_model("all-MiniLM-L6-v2", cache_dir=tmp_path, folder=encoder)
    by_path = open_model(str(encoder), cache_dir=tmp_path)
    assert by_setting.model.name == "tiny-encoder"
    assert by_path.model.name == str(encoder.resolve())
    assert by_setting.model.dimension == by_path.model.dimension == 8


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json and .*onnx/model\.onnx not found"):
        open_folder(tmp_path)


def test_a_damaged_graph_is_named(encoder: Path) -> None:
    (encoder / "onnx" / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelUnavailable, match=r"model\.onnx"):
        open_folder(encoder).embed_queries(["red"])


def expected_score(query: list[str], text: list[str]) -> float:
    first = TABLE[[1, *map(WORDS.index, query), 2]].sum(0)
    second = TABLE[[*map(WORDS.index, text), 2]].sum(0)
    return float(1 / (1 + np.exp(-first @ second)))


def test_a_cross_encoder_scores_each_text_in_its_place(cross_encoder: Path, tmp_path: Path) -> None:
    texts = [["red", "apple"], ["slow"], ["green", "pear", "plum", "fast"]]
    reranker = open_reranker(str(cross_encoder), cache_dir=tmp_path)
    scores = reranker.rerank("red pear", [" ".join(text) for text in texts])
    assert scores == pytest.approx([expected_score(["red", "pear"], text) for text in texts], abs=1e-5)
    assert reranker.rerank("red", []).shape == (0,)


def test_a_text_too_long_for_the_model_is_judged_by_its_beginning(cross_encoder: Path, tmp_path: Path) -> None:
    (score,) = open_reranker(str(cross_encoder), cache_dir=tmp_path).rerank("red", ["unknown " * 600 + "plum"])
    assert score == pytest.approx(expected_score(["red"], []), abs=1e-5)


def test_a_sure_verdict_is_zero_or_one_and_nothing_overflows(cross_encoder: Path, tmp_path: Path) -> None:
    scores = open_reranker(str(cross_encoder), cache_dir=tmp_path).rerank("red " * 100, ["red " * 100, "plum " * 300])
    assert scores[0] == 1
    assert scores[1] in (0, 1)


@pytest.fixture
def hub(cross_encoder: Path, tmp_path: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "hub"))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_cross_encoder_of_the_hub_is_fetched_once(hub: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with pytest.raises(ModelUnavailable, match="fetching is off"):
        open_reranker("owner/tiny-cross", cache_dir=cache, offline=True, hub_url=hub).rerank("red", ["plum"])
    fetched = open_reranker("owner/tiny-cross", cache_dir=cache, hub_url=hub).rerank("red", ["plum"])
    again = open_reranker("owner/tiny-cross", cache_dir=cache, offline=True, hub_url=hub).rerank("red", ["plum"])
    assert fetched == again == pytest.approx([expected_score(["red"], ["plum"])], abs=1e-5)


def test_a_cross_encoder_the_hub_lacks_is_an_error_that_names_it(hub: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"owner/other.* answers 404"):
        open_reranker("owner/other", cache_dir=tmp_path / "cache", hub_url=hub).rerank("red", ["plum"])
