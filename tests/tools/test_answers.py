"""Answers that fit, cursors that expire, budgets, schemas, resources, prompts, deadlines: through a real client."""

import asyncio
import json
import random
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fastmcp import Client

from served import TOPICS, Serve, Served
from trivium.backends.quicktok import QuicktokCounter
from trivium.doors.guard.caller import local_owner
from trivium.doors.schema import json_schema, typescript_types
from trivium.errors import BackendUnavailable
from trivium.model import answers

COUNTER = QuicktokCounter()
MODES = ("ids_only", "metadata", "preview", "full")


def in_process(served: Served, tool: str = "semantic_search", **arguments: Any) -> tuple[dict[str, Any], str]:
    reply = served.gate.run(served.gate.ticket(tool, arguments), lambda: local_owner("memory"))
    return reply.body, reply.text or ""


def test_500_varied_answers_state_what_they_cost_and_never_exceed_the_limit(serve: Serve) -> None:
    served = serve(max_tokens_per_response=6000)
    chance = random.Random(7)
    for _ in range(500):
        arguments: dict[str, Any] = {
            "query": " ".join(chance.sample(TOPICS, chance.randint(1, 3))),
            "response_mode": chance.choice(MODES),
            "page_size": chance.randint(1, 50),
            "desktop_enhanced": chance.random() < 0.2,
            "include_relationships": chance.random() < 0.2,
        }
        if chance.random() < 0.4:
            arguments["budget_tokens"] = chance.randint(300, 9000)
        body, text = in_process(served, **arguments)
        counted = COUNTER.count([text])[0]
        assert counted <= min(6000, arguments.get("budget_tokens", 6000))
        stated = body["execution_context"]["tokens_used"]
        assert stated is None or abs(stated - counted) <= 0.1 * counted


def test_a_budget_is_filled_with_the_best_results_in_most_detail(served: Served) -> None:
    body = served.search(budget_tokens=2500)
    detail = [len(result) for result in body["results"]]
    assert body["execution_context"]["tokens_used"] <= 2500
    assert "chunk_text" in body["results"][0]
    assert detail == sorted(detail, reverse=True)
    assert len(set(detail)) > 1
    assert [one["code"] for one in body["warnings"]] == ["PARTIAL_RESULTS"]


def test_what_a_small_budget_leaves_out_is_named_and_comes_with_the_next_page(served: Served) -> None:
    whole = [one["chunk_id"] for one in served.search(page_size=20)["results"]]
    body = served.search(page_size=20, budget_tokens=700)
    shown = [one["chunk_id"] for one in body["results"]]
    assert 0 < len(shown) < 20
    assert shown == whole[: len(shown)]
    [note] = body["warnings"]
    assert all(str(chunk_id) in note["message"] for chunk_id in whole[len(shown) :])
    following = served.search(page_size=20, cursor=body["pagination"]["cursor"])
    assert following["results"][0]["chunk_id"] == whole[len(shown)]


def test_a_budget_that_fits_nothing_is_refused(served: Served) -> None:
    body = served.search(budget_tokens=100)
    assert body["error"]["code"] == "TOKEN_LIMIT_EXCEEDED"


def test_get_chunk_keeps_to_a_budget_and_keeps_the_chunk_before_its_neighbours(served: Served) -> None:
    many = next(one for one in served.search(page_size=50)["results"] if one["total_chunks"] >= 3)
    number = many["chunk_id"]
    whole = served.body("get_chunk", chunk_id=number, neighbors=5)
    assert [one["chunk_index"] for one in whole["results"]] == list(range(len(whole["results"])))
    assert len(whole["results"]) == many["total_chunks"]
    small = served.body("get_chunk", chunk_id=f"chunk_{number}", neighbors=5, budget_tokens=900)
    assert small["execution_context"]["tokens_used"] <= 900
    assert "chunk_text" in next(one for one in small["results"] if one["chunk_id"] == number)
    assert small["_metadata"]["status"] == "partial"


def test_an_unknown_chunk_is_an_error_with_a_way_out(served: Served) -> None:
    result = served.call("get_chunk", chunk_id=999_999)
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["error"]["code"] == "CHUNK_NOT_FOUND"


def test_a_cursor_expires_when_the_index_changes_and_not_before(served: Served, tmp_path: Path) -> None:
    cursor = served.search(page_size=5)["pagination"]["cursor"]
    assert len(served.search(page_size=5, cursor=cursor)["results"]) == 5
    new = tmp_path / "new"
    new.mkdir()
    (new / "x.md").write_text("# New\n\nSomething new.")
    served.app().documents.add([new])
    body = served.search(page_size=5, cursor=cursor)
    assert body["error"]["code"] == "CURSOR_EXPIRED"
    assert body["results"] == []


def test_a_cursor_is_good_in_another_process_over_the_same_data(serve: Serve) -> None:
    one = serve()
    cursor = one.search(page_size=5)["pagination"]["cursor"]
    other = serve(one.data)
    assert [one["rank"] for one in other.search(page_size=5, cursor=cursor)["results"]] == [6, 7, 8, 9, 10]


def test_tools_are_listed_with_all_annotations_in_few_tokens(served: Served) -> None:
    async def run() -> list[dict[str, Any]]:
        async with Client(served.server) as client:
            listed = await client.list_tools()
            return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]

    tools = asyncio.run(run())
    assert COUNTER.count([json.dumps({"tools": tools}, separators=(",", ":"))])[0] <= 2000
    for tool in tools:
        assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(tool["annotations"])
        assert tool["description"]
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])


def test_every_answer_and_error_validates_against_the_published_output_schema(served: Served) -> None:
    schema = served.gate.tools["semantic_search"].output_schema
    assert schema is not None
    validator = jsonschema.Draft202012Validator(dict(schema))
    for arguments in ({}, {"response_mode": "full"}, {"desktop_enhanced": True}, {"top_k": 99}, {"fields": ["rank"]}):
        validator.validate(served.search(**arguments))  # type: ignore[arg-type]
    validator.validate(served.body("get_chunk", chunk_id=1))


def test_the_printed_schema_accepts_every_mode(served: Served) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    for mode in MODES:
        validator.validate(served.search(response_mode=mode, desktop_enhanced=True))


def test_the_typescript_types_have_every_field_of_the_models() -> None:
    text = typescript_types()
    for model in (answers.SearchResultFull, answers.ResponseMetadata, answers.ExecutionContext):
        block = text.partition(f"export interface {model.__name__} {{")[2].partition("}")[0]
        assert {line.split(":")[0].strip().rstrip("?") for line in block.strip().splitlines()} == set(
            model.model_fields
        )
    assert "export type SemanticSearchResponse = MCPResponseEnvelope<SemanticSearchResult[]>;" in text
    assert "_metadata: ResponseMetadata;" in text


def test_resources_give_chunks_and_documents_as_text(served: Served) -> None:
    [top] = served.search(top_k=1, response_mode="full")["results"]

    async def run() -> tuple[str, str]:
        async with Client(served.server) as client:
            [chunk] = await client.read_resource(f"trivium://chunk/{top['chunk_id']}")
            [document] = await client.read_resource(f"trivium://document/{top['source_file']}")
            return chunk.text, document.text  # type: ignore[union-attr]

    chunk, document = asyncio.run(run())
    assert chunk == top["chunk_text"]
    assert chunk in document
    assert document.startswith("# ")


def test_an_unknown_resource_is_an_error(served: Served) -> None:
    async def run(uri: str) -> None:
        async with Client(served.server) as client:
            await client.read_resource(uri)

    for uri in ("trivium://chunk/999999", "trivium://chunk/x", "trivium://document/no/such.md", "trivium://else/1"):
        with pytest.raises(Exception, match=r"(?i)not found|not a chunk|unknown"):
            asyncio.run(run(uri))


def test_the_research_prompt_says_scan_read_cite(served: Served) -> None:
    async def run() -> str:
        async with Client(served.server) as client:
            prompt = await client.get_prompt("research", {"question": "Who rotates keys?"})
            return prompt.messages[0].content.text  # type: ignore[union-attr]

    text = asyncio.run(run())
    assert "Who rotates keys?" in text
    assert text.index("Scan") < text.index("Read") < text.index("Cite")


def test_a_call_past_its_deadline_is_stopped_and_says_so(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(deadline_s=0.2)
    app, stopped = served.app(), threading.Event()

    def endless(*_: object) -> None:
        try:
            while True:
                pass
        finally:
            stopped.set()

    monkeypatch.setattr(type(app.search), "search", endless)
    body = served.search()
    assert body["error"]["code"] == "DEADLINE_EXCEEDED"
    assert stopped.wait(60)
    assert served.gate.guard.stores.audit.read(1)[0].outcome == "DEADLINE_EXCEEDED"


def test_a_failing_store_opens_the_breaker_which_answers_at_once(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(breaker_failures=2, breaker_reset_s=60)
    app = served.app()

    def fail(*_: object) -> None:
        raise BackendUnavailable("the disk is on fire at /secret/path", retry_after_s=5)

    monkeypatch.setattr(type(app.chunks), "generation", fail)
    answers_given = [served.search() for _ in range(4)]
    assert [body["error"]["code"] for body in answers_given] == ["DB_CONNECTION"] * 4
    waits = [body["error"]["retry_after_s"] for body in answers_given]
    assert waits[:2] == [5, 5]
    assert all(5 < wait <= 60 for wait in waits[2:])  # what is left of the minute
    assert "/secret/path" not in json.dumps(answers_given)


def test_search_goes_on_with_words_where_there_is_no_model(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    from trivium.backends.memory.embedder import HashingEmbedder
    from trivium.errors import ModelUnavailable

    def none(*_: object) -> None:
        raise ModelUnavailable("no weights are to be had")

    monkeypatch.setattr(HashingEmbedder, "embed_queries", none)
    body = serve().search("storage")
    assert body["results"]
    assert "DEGRADED_SEARCH" in [one["code"] for one in body["warnings"]]


def test_a_client_without_a_good_key_learns_why_nothing_is_listed(serve: Serve) -> None:
    served = serve(api_key="wrong")
    served.gate.guard.keys.create("someone")

    async def run() -> None:
        async with Client(served.server) as client:
            await client.list_tools()

    with pytest.raises(Exception, match="Invalid API key"):
        asyncio.run(run())
