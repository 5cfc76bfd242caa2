"""What every embedder promises, whatever makes the vectors."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from trivium.backends.http import HttpEmbedder
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.onnx import open_model
from trivium.ports.embedder import Embedder

EMBEDDERS = ["hashing", "http", "all-MiniLM-L6-v2", "granite-embedding-30m-english"]

TEXTS = [
    "The invoice is due within thirty days of receipt.",
    "def add(first, second): return first + second",
    "Bread is baked in a hot oven.",
    "",
    "Zürich — 東京 \U0001f600",
    "word " * 700,
    "broken \ud800 surrogate",
]


class _Endpoint(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = HashingEmbedder().embed_passages(body["input"]) * 3  # endpoints need not normalise
        data = [{"index": row, "embedding": vector.tolist()} for row, vector in enumerate(vectors)]
        answer = json.dumps({"data": data[::-1]}).encode()  # nor keep the order
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def open_embedder(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Embedder]:
    models = tmp_path_factory.mktemp("models")

    def open_named(name: str) -> Embedder:
        if name == "hashing":
            return HashingEmbedder()
        return HttpEmbedder(endpoint, name) if name == "http" else open_model(name, cache_dir=models, offline=True)

    return open_named


@pytest.fixture(scope="module", params=EMBEDDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def embedder(name: str, open_embedder: Callable[[str], Embedder]) -> Embedder:
    return open_embedder(name)


def test_there_is_one_unit_vector_a_text_of_the_promised_dimension(embedder: Embedder) -> None:
    for vectors in (embedder.embed_passages(TEXTS), embedder.embed_queries(TEXTS)):
        assert vectors.shape == (len(TEXTS), embedder.model.dimension)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.model.dimension)
    assert embedder.embed_queries([]).shape == (0, embedder.model.dimension)
    assert embedder.count_tokens([]) == []


def test_a_text_has_the_same_vector_alone_and_in_any_company(embedder: Embedder) -> None:
    together = embedder.embed_passages(TEXTS * 3)
    alone = np.vstack([embedder.embed_passages([text]) for text in TEXTS])
    assert np.abs(together - np.tile(alone, (3, 1))).max() < 2e-6


def test_texts_that_share_words_are_nearer_than_texts_that_do_not(embedder: Embedder) -> None:
    query = embedder.embed_queries(["how is bread baked in the oven"])[0]
    near, far = embedder.embed_passages([TEXTS[2], TEXTS[0]]) @ query
    assert near > far + 0.1


def test_tokens_are_counted_beyond_what_the_model_reads(embedder: Embedder) -> None:
    short, long = embedder.count_tokens(["one word", "word " * 2000])
    assert 3 <= short <= 8
    assert long >= 2000


def test_text_beyond_the_limit_does_not_change_the_vector(embedder: Embedder) -> None:
    if isinstance(embedder, HttpEmbedder):
        pytest.skip("what an endpoint reads is its own affair")
    inside = "word " * (embedder.model.max_tokens - 2)
    same, changed = embedder.embed_passages([inside + "tail of other things", inside + "entirely different end"])
    assert same @ changed == pytest.approx(1, abs=1e-5)


def test_many_threads_get_the_same_answers(embedder: Embedder) -> None:
    expected = embedder.embed_queries(TEXTS)
    answers: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: answers.append(embedder.embed_queries(TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert all(np.abs(answer - expected).max() < 2e-6 for answer in answers)


def test_an_embedder_opened_again_gives_the_same_vectors(
    name: str, embedder: Embedder, open_embedder: Callable[[str], Embedder]
) -> None:
    again = open_embedder(name)
    assert again.model == embedder.model
    assert np.array_equal(again.embed_queries(TEXTS[:3]), embedder.embed_queries(TEXTS[:3]))
