"""Seed 004 over a real MCP client: the concepts toolset alone, and concepts in the search over everything."""

import json
from pathlib import Path
from typing import Any

import pytest

from served import Serve, Served


@pytest.fixture
def alone(serve: Serve, tmp_path: Path) -> Served:
    return serve(data=tmp_path / "data", toolsets="concepts")


def create(served: Served, name: str, explanation: str, **more: Any) -> str:
    return str(served.body("create_concept", name=name, explanation=explanation, **more)["concept_id"])


def test_served_alone_it_offers_the_concept_tools_and_no_others(alone: Served) -> None:
    names = set(alone.gate.tools)
    assert len(names) == 18
    assert {"create_concept", "search_concepts_exact", "list_hierarchy", "restore_concept", "create_concepts"} <= names
    assert "semantic_search" not in names


def test_a_concept_goes_in_and_is_found_through_the_protocol(alone: Served) -> None:
    made = create(alone, "For loop", "repeats a block for every item", area="Programming", certainty_score=90)
    assert alone.body("get_concept", concept_id=made)["concept"]["name"] == "For loop"
    answer = alone.call("search_concepts_semantic", query="repeats a block")
    assert answer.structured_content is not None
    (full,) = answer.structured_content["results"]
    assert (full["concept_id"], full["area"], full["certainty_score"]) == (made, "Programming", 90)
    (brief,) = json.loads(answer.content[0].text)["results"]  # type: ignore[union-attr]
    assert set(brief) == {"concept_id", "name", "similarity"}
    asked = alone.call("search_concepts_semantic", query="repeats a block", include_metadata=True)
    assert json.loads(asked.content[0].text) == asked.structured_content  # type: ignore[union-attr]


def test_failures_are_marked_and_shaped(alone: Served) -> None:
    made = create(alone, "For loop", "repeats")
    for tool, given, kind, field in (
        ("get_concept", {"concept_id": "nobody"}, "CONCEPT_NOT_FOUND", None),
        ("get_recent_concepts", {"days": 0}, "INVALID_PARAMS", "days"),
        ("update_concept", {"concept_id": made, "name": "x", "expected_version": 5}, "VERSION_CONFLICT", None),
        ("create_concept", {"name": "x", "explanation": "y", "colour": "red"}, "INVALID_PARAMS", "colour"),
    ):
        answer = alone.call(tool, **given)
        assert answer.is_error
        assert answer.structured_content is not None
        assert answer.structured_content["success"] is False
        error = answer.structured_content["error"]
        assert (error["type"], error["field"]) == (kind, field)


def test_the_search_over_everything_finds_concepts_and_forgets_deleted_ones(serve: Serve) -> None:
    served = serve(toolsets="knowledge,concepts")
    made = create(served, "Quokka husbandry", "keeping small marsupials on islands")
    found = served.body("semantic_search", query="quokka marsupials", sources=["concepts"], response_mode="full")
    assert [row["source_file"] for row in found["results"]] == [made]
    assert served.body("semantic_search", query="quokka marsupials")["results"][0]["source_file"] == made
    served.body("delete_concept", concept_id=made)
    found = served.body("semantic_search", query="quokka marsupials", sources=["concepts"])
    assert found["results"] == []
