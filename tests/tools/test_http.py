"""The HTTP door: keys, scopes, limits, health, metrics, both protocol eras."""

import asyncio
import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from http_server import JSON_RPC, Web, running

from served import Serve
from trivium.doors.mcp.tools import Call, Tool


@pytest.fixture
def web(serve: Serve) -> Iterator[Web]:
    with running(serve()) as one:
        yield one


def structured(response: httpx2.Response) -> dict[str, Any]:
    content: dict[str, Any] = response.json()["result"]["structuredContent"]
    return content


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_a_client_of_either_era_lists_and_calls(web: Web, mode: str) -> None:
    async def run() -> None:
        transport = StreamableHttpTransport(f"{web.url}/mcp", headers={"Authorization": f"Bearer {web.key()}"})
        async with Client(transport, mode=mode) as client:
            assert "semantic_search" in [tool.name for tool in await client.list_tools()]
            found = await client.call_tool("semantic_search", {"query": "storage"})
            assert found.structured_content is not None
            assert len(found.structured_content["results"]) == 10
            [chunk] = await client.read_resource("trivium://chunk/1")
            assert chunk.text  # type: ignore[union-attr]

    asyncio.run(run())


def test_no_key_is_401_with_the_seeds_text(web: Web) -> None:
    response = web.call("semantic_search", query="x")
    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert response.json()["error"] == "Authentication required. API key must be provided."
    assert response.json()["code"] == "AUTH_REQUIRED"


def test_a_wrong_key_is_401(web: Web) -> None:
    key = web.key()
    for wrong in (key[:-1] + ("A" if key[-1] != "A" else "B"), "trv_x_y", "nonsense", key + "x"):
        response = web.call("semantic_search", wrong, query="x")
        assert response.status_code == 401
        assert response.json()["error"] == "Invalid API key. Please check your credentials."


def test_the_key_may_come_as_bearer_or_as_x_api_key(web: Web) -> None:
    key = web.key()
    assert web.call("semantic_search", key, query="x").status_code == 200
    assert web.call("semantic_search", headers={"X-API-Key": key}, query="x").status_code == 200


def test_a_revoked_key_ends_at_once(web: Web) -> None:
    key = web.key()
    assert web.call("semantic_search", key, query="x").status_code == 200
    web.served.gate.guard.keys.revoke("test")
    assert web.call("semantic_search", key, query="x").status_code == 401


def test_the_servers_own_environment_key_has_every_scope(serve: Serve) -> None:
    with running(serve(api_key="a-key-from-the-environment")) as web:
        assert web.call("semantic_search", "a-key-from-the-environment", query="x").status_code == 200
        cleared = httpx2.post(f"{web.url}/admin/cache/clear", headers={"X-API-Key": "a-key-from-the-environment"})
        assert cleared.status_code == 200


def _erase(call: Call) -> dict[str, Any]:
    """Erase everything."""
    return {"erased": call.request_id}


def test_a_tool_beyond_the_keys_scope_is_neither_listed_nor_run(serve: Serve) -> None:
    from trivium.doors.mcp.envelope import error_body
    from trivium.doors.mcp.server import build_server

    served = serve()
    served.gate.tools["erase"] = Tool("erase", _erase, "Erase everything.", "write", error_body)
    served.gate._all["erase"] = served.gate.tools["erase"]
    served.server = build_server(served.gate)
    with running(served) as web:
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        reader, writer = web.key("read"), web.key("write")
        for key, expected in ((reader, False), (writer, True)):
            names = [tool["name"] for tool in web.post(listing, key).json()["result"]["tools"]]
            assert ("erase" in names) is expected
        refused = web.call("erase", reader)
        assert structured(refused)["error"]["code"] == "FORBIDDEN"
        assert refused.json()["result"]["isError"] is True
        assert "erased" in structured(web.call("erase", writer))


def test_limits_come_by_operation_class_with_headers(serve: Serve) -> None:
    with running(serve(rate_limit_http_read_minute=3)) as web:
        key = web.key()
        left = [web.call("semantic_search", key, query="x").headers["x-ratelimit-remaining"] for _ in range(3)]
        assert left == ["2", "1", "0"]
        refused = web.call("semantic_search", key, query="x")
        assert refused.status_code == 429
        assert refused.headers["x-ratelimit-limit"] == "3"
        assert refused.headers["x-ratelimit-remaining"] == "0"
        assert int(refused.headers["x-ratelimit-reset"]) > 1_700_000_000
        assert 0 < int(refused.headers["retry-after"]) <= 60
        data = refused.json()["error"]["data"]
        assert data["error"] == "Rate limit exceeded"
        assert data["remaining"] == {"minute": 0, "hour": 997, "day": 9997}
        assert data["reset_in_seconds"] == int(refused.headers["retry-after"])


def test_another_key_has_its_own_quota(serve: Serve) -> None:
    with running(serve(rate_limit_http_read_minute=1)) as web:
        one, other = web.key(), web.key()
        assert web.call("semantic_search", one, query="x").status_code == 200
        assert web.call("semantic_search", one, query="x").status_code == 429
        assert web.call("semantic_search", other, query="x").status_code == 200


def test_an_address_is_limited_whatever_its_keys(serve: Serve) -> None:
    with running(serve(rate_limit_address_minute=4)) as web:
        codes = [web.call("semantic_search", web.key(), query="x").status_code for _ in range(6)]
        assert codes == [200] * 4 + [429] * 2


def test_admins_may_be_exempt(serve: Serve) -> None:
    with running(serve(rate_limit_http_read_minute=1, rate_limit_admin_bypass=True)) as web:
        admin = web.key("admin")
        assert [web.call("semantic_search", admin, query="x").status_code for _ in range(3)] == [200] * 3


def test_failed_authentication_is_limited(serve: Serve) -> None:
    with running(serve(rate_limit_auth_minute=3)) as web:
        codes = [web.call("semantic_search", "wrong", query="x").status_code for _ in range(5)]
        assert codes == [401] * 3 + [429] * 2


def test_a_denied_address_is_refused_before_its_key_is_looked_at(serve: Serve) -> None:
    with running(serve(deny_addresses="127.0.0.0/8")) as web:
        response = web.call("semantic_search", web.key(), query="x")
        assert response.status_code == 403
        assert response.json()["code"] == "ADDRESS_DENIED"


def test_only_allowed_addresses_connect_and_proxies_are_believed_when_trusted(serve: Serve) -> None:
    with running(serve(allow_addresses="192.0.2.7", trusted_proxies="127.0.0.1")) as web:
        key = web.key()
        assert web.call("semantic_search", key, {"X-Forwarded-For": "192.0.2.7"}, query="x").status_code == 200
        assert web.call("semantic_search", key, {"X-Forwarded-For": "192.0.2.8"}, query="x").status_code == 403
    with running(serve(allow_addresses="192.0.2.7")) as web:
        assert web.call("semantic_search", web.key(), {"X-Forwarded-For": "192.0.2.7"}, query="x").status_code == 403


def test_a_foreign_host_is_refused(web: Web) -> None:
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", ""):
        response = web.call("semantic_search", web.key(), {"Host": host}, query="x")
        assert response.status_code in (400, 403), host


def test_a_foreign_origin_is_refused(web: Web) -> None:
    for origin in ("https://evil.example", "null", "file://", "http://localhost.evil.example"):
        assert web.call("semantic_search", web.key(), {"Origin": origin}, query="x").status_code == 403, origin


def test_known_origins_may_call(serve: Serve) -> None:
    with running(serve(allowed_origins="https://app.example")) as web:
        for origin in ("http://localhost:3000", "http://127.0.0.1", "https://app.example"):
            assert web.call("semantic_search", web.key(), {"Origin": origin}, query="x").status_code == 200, origin


def test_answers_are_compressed_for_those_who_take_it(web: Web) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "semantic_search", "arguments": {"query": "storage", "response_mode": "full"}},
    }
    headers = JSON_RPC | {"Authorization": f"Bearer {web.key()}", "Accept-Encoding": "gzip"}
    with httpx2.stream("POST", f"{web.url}/mcp", json=body, headers=headers) as response:
        raw = b"".join(response.iter_raw())
        assert response.headers["content-encoding"] == "gzip"
    assert len(json.loads(gzip.decompress(raw))["result"]["structuredContent"]["results"]) == 10


def test_health_needs_no_key_and_is_honest(web: Web) -> None:
    web.served.app()
    healthy = httpx2.get(f"{web.url}/health")
    assert healthy.status_code == 200
    assert healthy.json() == {"status": "ok", "live": True, "ready": True, "parts": {"store": "ok", "vectors": "ok"}}
    assert httpx2.get(f"{web.url}/health/live").json() == {"live": True}
    assert httpx2.get(f"{web.url}/health/ready").json() == {"ready": True}


def test_health_says_when_the_store_fails(serve: Serve) -> None:
    served = serve(breaker_failures=1)
    served.app()
    served.gate.guard.breaker.failed()
    with running(served) as web:
        sick = httpx2.get(f"{web.url}/health")
        assert sick.status_code == 503
        assert sick.json()["status"] == "unavailable"
        assert httpx2.get(f"{web.url}/health/live").status_code == 200


def test_metrics_are_prometheus_text_for_those_with_a_key(web: Web) -> None:
    key = web.key()
    assert httpx2.get(f"{web.url}/metrics").status_code == 401
    web.call("semantic_search", key, query="storage")
    web.call("semantic_search", key, query="storage")
    web.call("semantic_search", key, query="")
    text = httpx2.get(f"{web.url}/metrics", headers={"X-API-Key": key}).text
    assert 'trivium_calls_total{tool="semantic_search",outcome="ok"} 2' in text
    assert 'trivium_calls_total{tool="semantic_search",outcome="INVALID_PARAMS"} 1' in text
    assert 'trivium_call_seconds_count{tool="semantic_search"} 3' in text
    assert 'trivium_cache_requests_total{result="hit"} 1' in text
    assert "# TYPE trivium_call_seconds histogram" in text


def test_clearing_the_cache_needs_scope_admin(web: Web) -> None:
    url = f"{web.url}/admin/cache/clear"
    assert httpx2.post(url, headers={"X-API-Key": web.key("write")}).status_code == 403
    web.call("semantic_search", web.key(), query="storage")
    assert httpx2.post(url, headers={"X-API-Key": web.key("admin")}).json() == {"cleared": 1}


def test_every_call_is_in_the_audit_log_without_secrets(web: Web) -> None:
    key = web.key()
    web.call("semantic_search", key, query=f"who uses {key} and postgresql://u:hunter22@db/x")
    web.call("semantic_search", "wrong-key-given", query="x")
    entries = web.served.gate.guard.stores.audit.read(10)
    assert [entry.outcome for entry in entries] == ["AUTH_INVALID", "ok"]
    called = entries[1]
    assert (called.caller, called.key, called.tool, called.transport) == ("test", key[-4:], "semantic_search", "http")
    assert called.results == 10
    assert called.result_bytes > 500
    assert called.address == "127.0.0.1"
    assert key not in repr(entries)
    assert "hunter22" not in repr(entries)
    assert "wrong-key-given" not in repr(entries)


def test_one_who_collects_very_many_results_is_flagged_and_slowed(serve: Serve) -> None:
    with running(serve(harvest_results_hour=60, harvest_delay_s=0.05)) as web:
        key = web.key()
        for topic in ("storage", "billing", "backup", "monitoring"):
            web.call("semantic_search", key, query=topic, page_size=50, response_mode="ids_only")
        entries = web.served.gate.guard.stores.audit.read(10)
        assert [entry.flag for entry in entries] == ["harvesting", "harvesting", "harvesting", ""]
        caller = web.served.gate.guard.keys.identify(key, "http", "127.0.0.1")
        assert web.served.gate.guard.watch.delay_s(caller) == 0.05
