"""The endpoint's bad days: busy, gone, wrong, slow. A real server plays each of them."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from trivium.backends.http import HttpEmbedder
from trivium.backends.http.embedder import endpoint
from trivium.errors import BackendUnavailable, InvalidInput

Answer = tuple[int, dict[str, str], Any]


def good(texts: list[str]) -> Answer:
    return 200, {}, {"data": [{"index": row, "embedding": [3.0, 4.0]} for row in range(len(texts))]}


class Server:
    """Gives the prepared answers in turn, then good ones, and remembers what it was asked."""

    def __init__(self) -> None:
        self.prepared: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.url = ""

    def answer(self, path: str, key: str | None, body: dict[str, Any]) -> Answer:
        self.paths.append(path)
        self.keys.append(key)
        self.requests.append(body)
        return self.prepared.pop(0) if self.prepared else good(body["input"])


def handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, answer = server.answer(self.path, self.headers["Authorization"], body)
            raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            with contextlib.suppress(ConnectionError):  # the client may have left
                self.send_response(status)
                for name, value in (headers | {"Content-Length": str(len(raw))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler(state)) as http:
        state.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield state
        http.shutdown()
        thread.join()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def embedder(server: Server, pauses: list[float]) -> HttpEmbedder:
    return HttpEmbedder(server.url, "some-model", "secret-key", dimension=2, pause=pauses.append)


def test_the_request_is_what_the_protocol_asks_for(server: Server, embedder: HttpEmbedder) -> None:
    assert embedder.embed_queries(["a"])[0] == pytest.approx([0.6, 0.8])
    assert server.paths == ["/v1/embeddings"]
    assert server.keys == ["Bearer secret-key"]
    assert server.requests == [{"model": "some-model", "input": ["a"], "encoding_format": "float"}]


def test_many_texts_go_in_several_requests_and_come_back_in_order(server: Server, embedder: HttpEmbedder) -> None:
    assert embedder.embed_passages([str(number) for number in range(150)]).shape == (150, 2)
    assert [text for request in server.requests for text in request["input"]] == [str(n) for n in range(150)]
    assert max(len(request["input"]) for request in server.requests) <= 64


def test_long_texts_are_spread_over_more_requests(server: Server, embedder: HttpEmbedder) -> None:
    embedder.embed_passages(["x" * 90_000] * 5)
    assert [len(request["input"]) for request in server.requests] == [2, 2, 1]


def test_a_busy_endpoint_is_asked_again_when_it_says(
    server: Server, embedder: HttpEmbedder, pauses: list[float]
) -> None:
    server.prepared = [(429, {"Retry-After": "7"}, {}), (503, {}, {}), (500, {}, {})]
    assert embedder.embed_queries(["a"]).shape == (1, 2)
    assert pauses == [7.0, 1.0, 2.0]


def test_an_endpoint_that_stays_busy_is_unavailable(server: Server, embedder: HttpEmbedder) -> None:
    server.prepared = [(429, {"Retry-After": "9"}, {"error": "slow down"})] * 4
    with pytest.raises(BackendUnavailable, match=r"429.*slow down") as caught:
        embedder.embed_queries(["a"])
    assert caught.value.retry_after_s == 9
    assert len(server.requests) == 4


@pytest.mark.parametrize(("status", "hint"), [(401, "EMBEDDER_KEY"), (404, "EMBEDDER_URL"), (400, "model's name")])
def test_a_refusal_is_final_and_says_what_to_change(
    server: Server, embedder: HttpEmbedder, status: int, hint: str
) -> None:
    server.prepared = [(status, {}, {"error": {"message": "no such thing"}})]
    with pytest.raises(BackendUnavailable, match="no such thing") as caught:
        embedder.embed_queries(["a"])
    assert hint in str(caught.value.hint)
    assert "secret-key" not in f"{caught.value} {caught.value.hint}"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [b"<html>", {"error": "x"}, {"data": []}, {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]}, [1]],
)
def test_an_answer_that_is_not_ours_is_an_error(server: Server, embedder: HttpEmbedder, answer: Any) -> None:
    server.prepared = [(200, {}, answer)]
    with pytest.raises(BackendUnavailable, match=r"127\.0\.0\.1"):
        embedder.embed_queries(["a"])


def test_an_endpoint_that_is_not_there_is_unavailable(pauses: list[float]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        port = closed.server_port
    embedder = HttpEmbedder(f"http://127.0.0.1:{port}", "m", dimension=2, pause=pauses.append)
    with pytest.raises(BackendUnavailable, match="refused"):
        embedder.embed_queries(["a"])
    assert pauses == [0.5, 1.0, 2.0]


def test_an_endpoint_that_never_answers_times_out(server: Server) -> None:
    done = threading.Event()

    def hang(path: str, key: str | None, body: dict[str, Any]) -> Answer:
        done.wait(10)
        return good(body["input"])

    server.answer = hang  # type: ignore[method-assign]
    with pytest.raises(BackendUnavailable, match="timed out"):
        HttpEmbedder(server.url, "m", dimension=2, timeout_s=0.05, tries=1).embed_queries(["a"])
    done.set()


def test_the_dimension_is_asked_for_once_where_it_is_not_given(server: Server) -> None:
    embedder = HttpEmbedder(server.url, "m")
    assert embedder.model.dimension == 2
    assert embedder.model.dimension == 2
    assert len(server.requests) == 1


@pytest.mark.parametrize("url", ["http://h", "http://h/", "http://h/v1", "http://h/v1/", "http://h/v1/embeddings"])
def test_every_way_to_write_the_address_means_the_same(url: str) -> None:
    assert endpoint(url) == "http://h/v1/embeddings"


def test_another_path_to_the_endpoint_is_kept() -> None:
    assert endpoint("https://h/openai/deployments/d/embeddings") == "https://h/openai/deployments/d/embeddings"


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not an http"):
        endpoint("ftp://h")


def test_tokens_are_estimated_on_the_high_side() -> None:
    embedder = HttpEmbedder("http://h", "m", dimension=2)
    prose = "The invoice is due within thirty days of receipt of the goods."  # 14 tokens for BERT
    assert embedder.count_tokens([prose, "", "日本語"]) == [23, 2, 5]
