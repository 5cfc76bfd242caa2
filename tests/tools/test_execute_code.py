"""execute_code as a client meets it: answers, limits, scopes, the audit log, the surfaces."""

import asyncio
import threading
from typing import Any

import pytest
from fastmcp import Client

from served import Serve, Served
from trivium.doors.guard.caller import Caller
from trivium.doors.mcp.sandbox_catalog import CATALOG
from trivium.doors.mcp.server import load_tools
from trivium.settings import Settings

EVERYTHING = "knowledge,code,concepts"


@pytest.fixture(scope="module")
def shared(corpus: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One server for the tests that only read."""
    import shutil

    from served import open_small
    from trivium.doors.mcp.server import build_server, open_gate

    data = tmp_path_factory.mktemp("shared") / "data"
    shutil.copytree(corpus, data)
    settings = Settings(data=data, low_quality_threshold=0.0, rate_limit_minute=0, rate_limit_hour=0)
    gate = open_gate(settings, lambda: open_small(settings))
    yield Served(gate, build_server(gate), data)
    gate.close()


def execute(server: Served, code: str, **arguments: Any) -> dict[str, Any]:
    return server.body("execute_code", code=code, **arguments)


def listed(server: Served) -> list[Any]:
    async def ask() -> list[Any]:
        async with Client(server.server) as client:
            return await client.list_tools()

    return asyncio.run(ask())


def test_only_the_result_goes_back_in_the_envelope(shared: Served) -> None:
    body = execute(shared, "found = await semantic_search('storage', top_k=50)\nlen(found.results)")
    assert body["results"] == 50
    assert body["_metadata"]["operation"] == "execute_code"
    assert body["_metadata"]["status"] == "success"
    assert body["execution_context"]["calls"] == 1
    assert body["warnings"] == []
    assert "output" not in body


def test_the_stated_tokens_are_those_of_the_text(shared: Served) -> None:
    answer = shared.call("execute_code", code="'word ' * 300")
    counted = shared.gate.services.tokens.count([answer.content[0].text])[0]
    assert answer.structured_content["execution_context"]["tokens_estimated"] == counted


def test_a_program_sees_what_a_client_sees(shared: Served) -> None:
    direct = shared.search("billing", response_mode="full", top_k=5)["results"]
    assert execute(shared, "(await semantic_search('billing', 5, 'full')).results")["results"] == direct


def test_tools_of_every_toolset_are_functions(shared: Served) -> None:
    code = """
one, two, three = await asyncio.gather(semantic_search('keys'), list_indexed_repositories(), list_hierarchy())
[len(one.results), two.summary.total_repositories, three.total_concepts]
"""
    assert execute(shared, code)["results"] == [10, 0, 0]


def test_what_is_printed_comes_along(shared: Served) -> None:
    assert execute(shared, "print('seen')\n1")["output"] == "seen\n"


def test_a_program_without_a_result_is_told(shared: Served) -> None:
    assert [one["code"] for one in execute(shared, "x = 1")["warnings"]] == ["NO_RESULT"]


def test_lines_are_counted_as_they_were_sent(shared: Served) -> None:
    body = execute(shared, "\n\n    x = 1\n    y = x / 0\n")
    assert body["error"]["line"] == 4
    assert body["error"]["source"] == "y = x / 0"


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        ("x = (1,\ny = 2", "INVALID_CODE", "line 2"),
        ("import os", "INVALID_CODE", "line 1: import of os is not allowed"),
        ("def f():\n    yield 1", "INVALID_CODE", "line 2: yield is not supported; instead: build a list"),
        ("await find_vendor_info('nobody')", "CODE_FAILED", "VENDOR_NOT_FOUND"),
        ("await semantic_search('x', top_k=99)", "CODE_FAILED", "top_k must be between 1 and 50"),
        ("await semantic_search()", "CODE_FAILED", "query is required"),
        ("await semantic_search('x', query='y')", "CODE_FAILED", "got query twice"),
        ("await get_chunk(1, 2, 3, 4, 5, 6)", "CODE_FAILED", "takes 4 arguments"),
        ("await execute_code('1')", "CODE_FAILED", "not defined"),
        ("'x' * 9_000_000", "INVALID_RESULT", "characters"),
    ],
)
def test_errors_say_what_to_do(shared: Served, code: str, error: str, said: str) -> None:
    answer = shared.call("execute_code", code=code)
    body = answer.structured_content
    assert answer.is_error
    assert body["error"]["code"] == error
    assert said in body["error"]["message"]
    assert body["results"] == []


@pytest.mark.parametrize("code", ["", "   \n "])
def test_an_empty_program_is_refused(shared: Served, code: str) -> None:
    assert execute(shared, code)["error"]["field"] == "code"


@pytest.mark.parametrize("timeout_s", [0, -1, 31, 10**9])
def test_times_outside_the_limit_are_refused(shared: Served, timeout_s: float) -> None:
    assert execute(shared, "1", timeout_s=timeout_s)["error"]["field"] == "timeout_s"


def test_a_program_that_does_not_end_is_stopped(shared: Served) -> None:
    body = execute(shared, "while True:\n    pass", timeout_s=0.5)
    assert body["error"]["code"] == "EXECUTION_TIMEOUT"
    assert body["error"]["message"] == "stopped after 0.5 s; no call had finished"


def test_an_answer_fits_into_the_budget_it_is_given(shared: Served) -> None:
    code = "(await semantic_search('storage', 50, 'full')).results"
    body = execute(shared, code, budget_tokens=1500)
    assert body["execution_context"]["tokens_estimated"] <= 1500
    assert body["_metadata"]["status"] == "partial"
    assert [one["code"] for one in body["warnings"]] == ["PARTIAL_RESULTS"]
    assert body["results"][0]["source_file"]


def test_no_answer_is_larger_than_the_server_allows(shared: Served) -> None:
    for code in ("['word ' * 50] * 5000", "'word ' * 100_000", "print('word ' * 5000)\n'word ' * 100_000"):
        body = execute(shared, code)
        assert body["execution_context"]["tokens_estimated"] <= 15_000
        assert body["_metadata"]["status"] == "partial", body.get("error")


def test_a_program_may_read_more_than_it_sends(shared: Served) -> None:
    code = """
found = await semantic_search('storage', 50, 'full')
[found._metadata.status, found.execution_context.tokens_used]
"""
    status, tokens = execute(shared, code)["results"]
    assert status == "success"
    assert tokens > 15_000


def test_writing_needs_permission(serve: Serve) -> None:
    server = serve(toolsets=EVERYTHING)
    code = "await create_concept('Closure', 'A function with its scope')"
    refused = execute(server, code)["error"]
    assert refused["tool_code"] == "WRITES_NOT_ALLOWED"
    assert "allow_writes=true" in refused["message"]
    assert server.app().concepts.stats().event_count == 0
    assert execute(server, code, allow_writes=True)["results"]["success"]
    assert server.app().concepts.stats().event_count == 1


def as_caller(server: Served, scope: str, code: str, **arguments: Any) -> dict[str, Any]:
    caller = Caller("someone", frozenset({scope}), "http", "key:someone", "abcd", "192.0.2.1", metered=True)
    ticket = server.gate.ticket("execute_code", {"code": code, **arguments})
    return server.gate.run(ticket, lambda: caller).body


def test_a_key_that_may_only_read_cannot_write_through_a_program(serve: Serve) -> None:
    server = serve(toolsets=EVERYTHING)
    code = "try:\n    await create_concept('a', 'b')\nexcept ToolError as e:\n    return e.code"
    assert as_caller(server, "read", code, allow_writes=True)["results"] == "FORBIDDEN"
    assert server.app().concepts.stats().event_count == 0
    assert as_caller(server, "write", "(await create_concept('a', 'b')).success", allow_writes=True)["results"] is True


def test_a_key_that_may_not_index_cannot_do_so_through_a_program(serve: Serve) -> None:
    code = "try:\n    await index_repository('/')\nexcept ToolError as e:\n    return e.code"
    assert as_caller(serve(toolsets=EVERYTHING), "write", code, allow_writes=True)["results"] == "FORBIDDEN"


def test_writes_of_a_program_count_against_the_limit_of_writes(serve: Serve) -> None:
    server = serve(toolsets=EVERYTHING, rate_limit_http_write_minute=3)
    code = """
made = 0
for i in range(10):
    try:
        await create_concept(f'c{i}', 'x')
        made += 1
    except ToolError as e:
        return [made, e.code]
"""
    assert as_caller(server, "write", code, allow_writes=True)["results"] == [3, "RATE_LIMIT"]


def test_calls_of_a_program_have_a_budget_of_their_own(serve: Serve) -> None:
    server = serve(sandbox_calls=5)
    code = """
for i in range(9):
    try:
        await get_chunk(1)
    except ToolError as e:
        return [i, e.code]
"""
    assert execute(server, code)["results"] == [5, "CALL_BUDGET"]


def test_inner_calls_are_in_the_audit_log_under_the_outer_one(serve: Serve) -> None:
    server = serve()
    body = execute(
        server, "await semantic_search('keys')\ntry:\n    await get_chunk(10**9)\nexcept ToolError:\n    pass"
    )
    outer = body["_metadata"]["request_id"]
    entries = {one.request_id: one for one in server.gate.guard.stores.audit.read(10)}
    assert entries[outer].tool == "execute_code"
    assert entries[f"{outer}.1"].tool == "semantic_search"
    assert entries[f"{outer}.1"].outcome == "ok"
    assert entries[f"{outer}.2"].tool == "get_chunk"
    assert entries[f"{outer}.2"].outcome != "ok"
    assert {one.caller for one in entries.values()} == {"local"}


def test_programs_wait_for_a_worker_and_are_told_how_long(serve: Serve) -> None:
    server = serve(sandbox_workers=1)
    programs = server.gate.tools["execute_code"].function.__self__  # type: ignore[attr-defined]
    workers = programs._runner.workers
    from trivium.sandbox.workers import Quota

    answers: list[dict[str, Any]] = []
    with workers.place("another", Quota(60, 2**26, 1), 60):
        threads = [threading.Thread(target=lambda: answers.append(as_caller(server, "read", "1"))) for _ in range(3)]
        for thread in threads:
            thread.start()
        pause = threading.Event()
        while workers.waiting < 3:
            pause.wait(0.005)
    for thread in threads:
        thread.join(60)
    assert [one["results"] for one in answers] == [1, 1, 1]
    assert all(one["execution_context"]["queue_ms"] > 0 for one in answers)


def test_many_programs_at_once_all_get_their_own_answer(shared: Served) -> None:
    async def ask() -> list[Any]:
        async with Client(shared.server) as client:
            code = "x = [{n}]\nfor _ in range(3):\n    await get_chunk(1)\nx[0] * 2"
            calls = [client.call_tool_mcp("execute_code", {"code": code.format(n=n)}) for n in range(32)]
            return await asyncio.gather(*calls)

    answers = asyncio.run(ask())
    assert [one.structured_content["results"] for one in answers] == [2 * n for n in range(32)]


def test_a_normal_call_is_answered_while_programs_hold_every_worker(serve: Serve) -> None:
    server = serve(sandbox_workers=1)
    programs = server.gate.tools["execute_code"].function.__self__  # type: ignore[attr-defined]
    from trivium.sandbox.workers import Quota

    async def ask() -> tuple[Any, list[Any]]:
        async with Client(server.server) as client:
            waiting = [asyncio.create_task(client.call_tool_mcp("execute_code", {"code": "1"})) for _ in range(40)]
            while programs._runner.workers.waiting < 40:
                await asyncio.sleep(0)
            normal = await client.call_tool_mcp("semantic_search", {"query": "keys"})
            assert not any(task.done() for task in waiting)
            place.__exit__(None, None, None)
            return normal, await asyncio.gather(*waiting)

    place = programs._runner.workers.place("another", Quota(60, 2**26, 1), 60)
    place.__enter__()
    normal, answers = asyncio.run(ask())
    assert len(normal.structured_content["results"]) == 10
    assert all(one.structured_content["results"] == 1 for one in answers)


def test_the_classic_surface_lists_every_tool_and_execute_code(shared: Served) -> None:
    names = [one.name for one in listed(shared)]
    assert "execute_code" in names
    assert "semantic_search" in names
    assert "search_tools" not in names


@pytest.mark.parametrize("toolset", ["code", "concepts"])
def test_drop_ins_of_other_seeds_have_no_tool_more(serve: Serve, toolset: str) -> None:
    assert "execute_code" not in [one.name for one in listed(serve(toolsets=toolset))]


def test_the_compact_surface_is_two_tools_in_a_thousand_tokens(serve: Serve) -> None:
    server = serve(toolsets=EVERYTHING, surface="compact")
    tools = listed(server)
    assert [one.name for one in tools] == ["search_tools", "execute_code"]
    text = "".join(one.model_dump_json(by_alias=True, exclude_none=True) for one in tools)
    assert server.gate.services.tokens.count([text])[0] <= 1000
    assert server.call("semantic_search", query="x").is_error
    assert execute(server, "len((await semantic_search('keys')).results)")["results"] == 10


def test_both_surfaces_together(serve: Serve) -> None:
    server = serve(toolsets=EVERYTHING, surface="both")
    names = {one.name for one in listed(server)}
    assert {"search_tools", "execute_code", "semantic_search", "get_dependents", "create_concept"} <= names
    assert server.search()["results"]


def test_code_execution_can_be_switched_off(serve: Serve) -> None:
    for surface in ("classic", "both"):
        names = [one.name for one in listed(serve(enable_code_execution=False, surface=surface))]
        assert "execute_code" not in names
        assert "search_tools" not in names


def test_execute_code_does_not_claim_to_be_harmless(shared: Served) -> None:
    [tool] = [one for one in listed(shared) if one.name == "execute_code"]
    assert tool.annotations.read_only_hint is False
    assert tool.annotations.destructive_hint is True


def test_search_tools_gives_signatures_that_can_be_called(serve: Serve) -> None:
    server = serve(toolsets=EVERYTHING, surface="compact")
    found = server.body("search_tools", query="read the full text of a passage", limit=3)["functions"]
    assert len(found) == 3
    assert found[0]["signature"].startswith("await get_chunk(chunk_id: int|str")
    assert "chunk_text" in found[0]["returns"]
    assert found[0]["description"]


def test_search_tools_shows_a_key_only_what_it_may_use(serve: Serve) -> None:
    server = serve(toolsets=EVERYTHING, surface="compact")

    def names(scope: str) -> set[str]:
        caller = Caller("someone", frozenset({scope}), "http", "key:x", metered=True)
        ticket = server.gate.ticket("search_tools", {"query": "concepts", "limit": 50})
        found = server.gate.run(ticket, lambda: caller).body["functions"]
        return {one["signature"].split("(")[0].removeprefix("await ") for one in found}

    assert "create_concept" not in names("read")
    assert "create_concept" in names("write")
    assert "index_repository" not in names("write")


def test_every_tool_has_an_entry_in_the_catalog_of_search_tools() -> None:
    assert {one.name for one in load_tools(Settings())} <= CATALOG.keys()
