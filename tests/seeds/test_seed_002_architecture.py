"""Seed 002, the architecture: what of it is a promise to users of the server."""

import asyncio
from pathlib import Path

import pytest

import trivium
from served import Serve, Served, open_small
from trivium.doors.mcp import server as mcp_server
from trivium.settings import Settings


def test_filter_ids_takes_numbers_and_chunk_names(served: Served) -> None:
    ids = [one["chunk_id"] for one in served.search(page_size=3)["results"]]
    for given in (ids, [f"chunk_{number}" for number in ids], [ids[0], f"chunk_{ids[1]}", str(ids[2])]):
        found = served.search(filter_ids=given, response_mode="full")["results"]
        assert {one["chunk_id"] for one in found} == set(ids)


def test_a_wrong_filter_id_is_refused_by_name(served: Served) -> None:
    body = served.search(filter_ids=["chunk_x"])
    assert body["error"]["field"] == "filter_ids"


def test_no_filter_ids_means_no_results(served: Served) -> None:
    assert served.search(filter_ids=[])["results"] == []


def test_min_score_ends_the_ranking(served: Served) -> None:
    results = served.search(page_size=50, response_mode="ids_only")["results"]
    bar = results[9]["hybrid_score"]
    found = served.search(page_size=50, min_score=bar)
    assert all(one["hybrid_score"] >= bar for one in found["results"])
    assert found["pagination"]["total_available"] < 50


def test_vendor_filter_keeps_the_vendors_documents(served: Served) -> None:
    found = served.search("keys", vendor_filter="vendor1", page_size=50)["results"]
    assert found
    assert all(int(one["source_file"].rsplit("-", 1)[1].removesuffix(".md")) % 4 == 1 for one in found)
    assert served.search("keys", vendor_filter="nobody")["results"] == []


def test_category_filter_keeps_the_category(served: Served) -> None:
    found = served.search("keys", category_filter="guides", page_size=50)["results"]
    assert {one["source_category"] for one in found} == {"guides"}


def test_sources_restrict_the_search(served: Served) -> None:
    assert served.search(sources=["documents"])["results"]
    assert served.search(sources=["code", "concepts"])["results"] == []
    assert served.search(sources=["pictures"])["error"]["code"] == "INVALID_PARAMS"


def test_relationships_come_with_every_result_that_asks_for_them(served: Served) -> None:
    assert all(one["relationships"] == [] for one in served.search(include_relationships=True)["results"])
    assert all("relationships" not in one for one in served.search()["results"])


def test_metadata_first_then_full_text_of_the_chosen_ones(served: Served) -> None:
    chosen = [one["chunk_id"] for one in served.search("storage records", top_k=50)["results"]][:3]
    full = served.search("storage records", response_mode="full", filter_ids=chosen)["results"]
    assert len(full) == 3
    assert all(one["chunk_text"] for one in full)


def test_the_in_memory_client_awaits_tools_by_name(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.app.open_app", open_small)

    async def run() -> None:
        async with trivium.Client(settings=Settings(data=corpus, toolsets="knowledge")) as client:
            first = await client.semantic_search(query="billing", top_k=2, response_mode="metadata")
            second = await client.semantic_search("billing", filter_ids=[first["results"][0]["chunk_id"]])
            assert second["results"][0]["chunk_id"] == first["results"][0]["chunk_id"]
            with pytest.raises(trivium.ToolFailed, match="between 1 and 50"):
                await client.semantic_search(query="billing", top_k=99)

    asyncio.run(run())


def test_the_in_memory_client_answers_as_the_server_does(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.app.open_app", open_small)
    settings = Settings(data=served.data, toolsets="knowledge", low_quality_threshold=0)
    with trivium.Client(settings=settings, raise_on_error=False) as client:
        for arguments in ({"query": "billing"}, {"query": ""}, {"query": "x", "fields": ["nope"]}):
            mine, theirs = client.call("semantic_search", **arguments), served.body("semantic_search", **arguments)
            assert mine["results"] == theirs["results"]
            assert mine.get("error") == theirs.get("error")


def test_a_document_update_reaches_the_next_answer(served: Served, tmp_path: Path) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "walrus.md").write_text("# Walrus\n\nThe walrus has tusks.")
    app = served.app()
    app.documents.add([folder])
    assert served.search("walrus tusks")["results"][0]["source_file"] == "walrus.md"
    (folder / "walrus.md").unlink()
    app.documents.add([folder])
    assert all(one["source_file"] != "walrus.md" for one in served.search("walrus tusks")["results"])


def test_a_request_has_at_most_10_mb_and_a_call_30_seconds() -> None:
    settings = Settings()
    assert (settings.max_request_mb, settings.deadline_s, settings.audit_days) == (10, 30, 90)


def test_toolsets_are_loaded_by_name(serve: Serve) -> None:
    knowledge = {tool.name for tool in mcp_server.load_tools(Settings(toolsets="knowledge"))}
    assert {"semantic_search", "get_chunk"} <= knowledge
