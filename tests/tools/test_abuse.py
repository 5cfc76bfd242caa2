"""Hostile and broken clients: each gets a clean refusal, and the server lives on."""

import json
from collections.abc import Iterator

import httpx2
import pytest
from http_server import JSON_RPC, Web, running

from served import Serve, Served

HOSTILE = (
    "'; DROP TABLE chunks; --",
    '" OR 1=1 --',
    "a AND (b OR NOT c) NEAR/3 d*",
    'title:"x" +must -not ^2 ~3 [a TO b] {c}',
    "\\ / : ? * < > | \u0000 \u0001 \u001f \u007f",
    "\u202e\u200b\ufeff\u2028",
    "𝕬𝖓𝖞 🤷🏽‍♀️ \U0010ffff",
    "%s %d %n {0} {} ${jndi:ldap://x}",
    "<script>alert(1)</script>",
    "../../../../etc/passwd",
    "((((((((((((((((((((((((((((((((((((((",
    "*" * 500,
    "<|endoftext|><|im_start|>",
)


@pytest.fixture
def web(serve: Serve) -> Iterator[Web]:
    with running(serve(body_timeout_s=0.3, rate_limit_http_read_minute=0, rate_limit_address_minute=0)) as one:
        yield one
        assert httpx2.get(f"{one.url}/health/live").status_code == 200
        assert one.call("semantic_search", one.key(), query="storage").status_code == 200


def test_syntax_in_a_query_is_only_text(served: Served) -> None:
    before = served.app().chunks.count()
    for query in HOSTILE:
        assert served.search(query)["_metadata"]["status"] == "success", query
    assert served.app().chunks.count() == before


def test_a_100_mb_body_is_refused_by_its_length(web: Web) -> None:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {web.key()}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100000000\r\n\r\n"
    )
    assert b" 413 " in web.raw(head.encode()).split(b"\r\n")[0]


def test_a_large_body_without_a_length_is_refused_on_the_way(web: Web) -> None:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {web.key()}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    assert b" 413 " in web.raw(head.encode() + piece * 11).split(b"\r\n")[0]


def test_without_a_key_a_body_is_not_even_read(web: Web) -> None:
    head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
    assert b" 401 " in web.raw(head.encode()).split(b"\r\n")[0]


def test_a_body_that_never_comes_is_given_up(web: Web) -> None:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {web.key()}\r\n"
        "Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"
    )
    assert b" 408 " in web.raw(head.encode()).split(b"\r\n")[0]


MALFORMED = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"[1,2,3]",
    b'"text"',
    b"{}",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"1.0","id":1,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}',
    b'{"jsonrpc":"2.0","id":1,"method":"no/such/method"}',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"semantic_search","arguments":"x"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_chunk","arguments":{"chunk_id":"\\ud800"}}}',
)


def test_malformed_json_rpc_is_refused(web: Web) -> None:
    headers = JSON_RPC | {"Authorization": f"Bearer {web.key()}"}
    for body in MALFORMED:
        response = httpx2.post(f"{web.url}/mcp", content=body, headers=headers)
        assert response.status_code in (200, 202, 400, 404, 405), body[:100]
        if response.status_code == 200:
            answer = response.json()
            assert "error" in answer or answer["result"]["isError"], body[:100]
        assert "Traceback" not in response.text


def test_an_unknown_tool_is_an_error(web: Web) -> None:
    response = web.call("no_such_tool", web.key())
    assert "error" in response.json() or response.json()["result"]["isError"]


def test_other_methods_and_paths_are_refused_cleanly(web: Web) -> None:
    paths = ("/mcp", "/", "/admin", "/admin/cache/clear", "/%2e%2e/etc/passwd", "/metrics/../mcp")
    for method in ("GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH"):
        for path in paths:
            response = httpx2.request(method, f"{web.url}{path}", headers={"X-API-Key": web.key()})
            assert response.status_code in (200, 307, 400, 403, 404, 405, 406), (method, path)
            assert "Traceback" not in response.text


def test_forged_and_truncated_cursors_are_refused(served: Served) -> None:
    cursor = served.search(page_size=5)["pagination"]["cursor"]
    forged = [
        cursor[:-1],
        cursor[:10],
        cursor[1:],
        cursor[::-1],
        cursor[:-3] + ("AAA" if not cursor.endswith("AAA") else "BBB"),
        "eyJvZmZzZXQiOjEwfQ",
        "e30",
        "bnVsbA",
        "....",
        "=" * 50,
        "ü",
        "A" * 1000,
    ]
    for one in forged:
        body = served.search(page_size=5, cursor=one)
        assert body["error"]["code"] == "INVALID_PARAMS", one
        assert body["results"] == []


def test_ten_thousand_wrong_keys_leave_a_small_trace(serve: Serve) -> None:
    served = serve()
    guard = served.gate.guard
    for number in range(10_000):
        with pytest.raises(Exception, match="Invalid API key"):
            guard.keys.identify(f"trv_{number:012x}_{'x' * 43}", "http", "192.0.2.1")
        served.gate.note_refusal("AUTH_INVALID", f"192.0.2.{number % 250}", "tools/call")
    assert len(guard.audit._seldom) <= 1001
    size = sum(file.stat().st_size for file in served.data.glob("guard.db*"))
    assert size < 20_000_000


def test_huge_numbers_and_odd_types_are_validation_errors(served: Served) -> None:
    odd: list[dict[str, object]] = [
        {"top_k": 10**30},
        {"top_k": "many"},
        {"top_k": 1.5},
        {"min_score": "NaN"},
        {"min_score": 2},
        {"fields": "chunk_id"},
        {"fields": []},
        {"fields": [None]},
        {"sources": []},
        {"filter_ids": [10**40]},
        {"filter_ids": [-1]},
        {"filter_ids": [{}]},
        {"filter_ids": list(range(1, 1002))},
        {"cursor": 5},
        {"cursor": "x" * 5000},
        {"response_mode": None, "page_size": 0},
        {"vendor_filter": ""},
        {"budget_tokens": 1},
    ]
    for arguments in odd:
        body = served.search(**arguments)
        assert body["error"]["code"] in ("INVALID_PARAMS", "INVALID_FIELDS"), arguments
        assert json.dumps(body)
