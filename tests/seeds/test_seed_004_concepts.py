"""Seed 004, promise by promise: the 16 concept tools with their parameters, defaults, limits, orders and errors."""

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest

from concept_rooms import Clock, Room, Toolbox, create, names, relate, seed_call, seed_clock, seed_room  # noqa: F401 -- fixtures
from trivium.model.concept import Event

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


# The tools


def test_the_sixteen_tools_are_there_under_their_names(call: Toolbox) -> None:
    assert set(call.tools) >= {
        "ping",
        "get_server_stats",
        "create_concept",
        "get_concept",
        "update_concept",
        "delete_concept",
        "search_concepts_semantic",
        "search_concepts_exact",
        "get_recent_concepts",
        "create_relationship",
        "delete_relationship",
        "get_related_concepts",
        "get_prerequisites",
        "get_concept_chain",
        "list_hierarchy",
        "get_concepts_by_certainty",
    }


@pytest.mark.parametrize(
    ("tool", "required", "optional"),
    [
        ("ping", [], []),
        ("get_server_stats", [], []),
        (
            "create_concept",
            ["name", "explanation"],
            ["area", "topic", "subtopic", "certainty_score", "examples", "prerequisites"],
        ),
        ("get_concept", ["concept_id"], ["include_history"]),
        (
            "update_concept",
            ["concept_id"],
            ["name", "explanation", "area", "topic", "subtopic", "certainty_score", "examples", "prerequisites"],
        ),
        ("delete_concept", ["concept_id"], []),
        ("search_concepts_semantic", ["query"], ["limit", "min_certainty", "area", "topic", "subtopic"]),
        (
            "search_concepts_exact",
            [],
            ["name", "area", "topic", "subtopic", "min_certainty", "max_certainty", "limit"],
        ),
        ("get_recent_concepts", [], ["days", "limit"]),
        (
            "create_relationship",
            ["source_concept_id", "target_concept_id", "relationship_type"],
            ["strength", "description"],
        ),
        ("delete_relationship", ["relationship_id"], []),
        ("get_related_concepts", ["concept_id"], ["direction", "relationship_type", "max_depth", "limit"]),
        ("get_prerequisites", ["concept_id"], ["max_depth"]),
        ("get_concept_chain", ["start_concept_id", "end_concept_id"], ["relationship_type"]),
        ("list_hierarchy", [], []),
        ("get_concepts_by_certainty", [], ["min_certainty", "max_certainty", "limit", "order"]),
    ],
)
def test_every_tool_takes_the_parameters_of_the_seed(
    call: Toolbox, tool: str, required: list[str], optional: list[str]
) -> None:
    schema = call.tools[tool].input_schema
    assert sorted(schema.get("required", [])) == sorted(required)
    assert set(schema["properties"]) >= {*required, *optional}


@pytest.mark.parametrize(
    ("tool", "parameter", "default"),
    [
        ("search_concepts_semantic", "limit", 10),
        ("search_concepts_exact", "limit", 20),
        ("get_recent_concepts", "days", 7),
        ("get_recent_concepts", "limit", 10),
        ("create_relationship", "strength", 1.0),
        ("get_related_concepts", "direction", "both"),
        ("get_related_concepts", "max_depth", 2),
        ("get_prerequisites", "max_depth", 5),
        ("get_concepts_by_certainty", "min_certainty", 0),
        ("get_concepts_by_certainty", "max_certainty", 100),
        ("get_concepts_by_certainty", "limit", 50),
        ("get_concepts_by_certainty", "order", "asc"),
    ],
)
def test_every_default_is_that_of_the_seed(call: Toolbox, tool: str, parameter: str, default: object) -> None:
    assert call.tools[tool].input_schema["properties"][parameter]["default"] == default


@pytest.mark.parametrize(
    ("tool", "parameter", "low", "high"),
    [
        ("search_concepts_semantic", "limit", 1, 50),
        ("search_concepts_semantic", "min_certainty", 0, 100),
        ("search_concepts_exact", "limit", 1, 100),
        ("search_concepts_exact", "min_certainty", 0, 100),
        ("search_concepts_exact", "max_certainty", 0, 100),
        ("get_recent_concepts", "days", 1, 365),
        ("get_recent_concepts", "limit", 1, 100),
        ("get_related_concepts", "max_depth", 1, 5),
        ("get_related_concepts", "limit", 1, 50),
        ("get_prerequisites", "max_depth", 1, 10),
        ("get_concepts_by_certainty", "min_certainty", 0, 100),
        ("get_concepts_by_certainty", "max_certainty", 0, 100),
        ("get_concepts_by_certainty", "limit", 1, 100),
    ],
)
def test_a_number_out_of_range_is_an_error_that_names_the_range(
    call: Toolbox, tool: str, parameter: str, low: int, high: int
) -> None:
    made = create(call, "A")
    given: dict[str, Any] = {"query": "x"} if "query" in call.tools[tool].input_schema["properties"] else {}
    if "concept_id" in call.tools[tool].input_schema["properties"]:
        given["concept_id"] = made
    for value in (low, high):
        call(tool, **given, **{parameter: value})
    for value in (low - 1, high + 1):
        error = call.error(tool, **given, **{parameter: value})
        assert error["field"] == parameter
        assert f"between {low} and {high}" in error["message"]


# Server operations


def test_ping_answers_health_and_a_timestamp(call: Toolbox) -> None:
    body = call("ping")
    assert body["status"] == "healthy"
    assert ISO.fullmatch(body["timestamp"])


def test_server_stats_count_events_and_the_outbox(call: Toolbox, room: Room) -> None:
    assert call("get_server_stats")["event_count"] == 0
    create(call, "A")
    room.catch_up()
    body = call("get_server_stats")
    assert (body["event_count"], body["outbox_pending"], body["outbox_failed"]) == (1, 0, 0)


# Concepts


def test_create_concept_answers_a_uuid(call: Toolbox) -> None:
    assert uuid.UUID(create(call, "A")).version == 4


def test_a_concept_reads_back_with_everything_it_was_given(call: Toolbox) -> None:
    given = {
        "name": "For loop",
        "explanation": "Repeats a block.",
        "area": "Programming",
        "topic": "Python",
        "subtopic": "Flow",
        "certainty_score": 92.5,
        "examples": "for x in y",
        "prerequisites": "variables",
    }
    made = call("create_concept", **given)["concept_id"]
    concept = call("get_concept", concept_id=made)["concept"]
    assert {name: concept[name] for name in given} == given
    assert (concept["concept_id"], concept["version"]) == (made, 1)
    assert ISO.fullmatch(concept["created_at"])
    assert concept["created_at"] == concept["last_modified"]


@pytest.mark.parametrize("field", ["area", "topic", "subtopic"])
def test_places_take_a_hundred_characters_and_no_more(call: Toolbox, field: str) -> None:
    create(call, "A", **{field: "x" * 100})
    error = call.error("create_concept", name="A", explanation="e", **{field: "x" * 101})
    assert error["field"] == field
    assert "100" in error["message"]


def test_a_name_takes_one_to_two_hundred_characters_after_trimming(call: Toolbox) -> None:
    made = create(call, "  " + "x" * 200 + "  ")
    assert call("get_concept", concept_id=made)["concept"]["name"] == "x" * 200
    for bad in ("", "   ", "x" * 201):
        assert call.error("create_concept", name=bad, explanation="e")["field"] == "name"


def test_an_explanation_takes_one_character_or_more(call: Toolbox) -> None:
    create(call, "A", "x")
    create(call, "B", "x" * 50_000)
    for bad in ("", "  "):
        assert call.error("create_concept", name="n", explanation=bad)["field"] == "explanation"


def test_certainty_lies_between_0_and_100(call: Toolbox) -> None:
    for good in (0, 100, 55.5):
        create(call, "A", certainty_score=good)
    for bad in (-0.1, 100.1, "sure"):
        assert (
            call.error("create_concept", name="n", explanation="e", certainty_score=bad)["field"] == "certainty_score"
        )


def test_a_missing_required_parameter_is_named(call: Toolbox) -> None:
    error = call.error("create_concept", name="n")
    assert (error["field"], error["message"]) == ("explanation", "explanation is required")


def test_update_changes_the_given_fields_and_lists_them(call: Toolbox) -> None:
    made = create(call, "A", area="X", certainty_score=1)
    body = call("update_concept", concept_id=made, certainty_score=99, name="B")
    assert sorted(body["updated_fields"]) == ["certainty_score", "name"]
    concept = call("get_concept", concept_id=made)["concept"]
    assert (concept["name"], concept["area"], concept["certainty_score"], concept["version"]) == ("B", "X", 99, 2)
    assert concept["last_modified"] > concept["created_at"]


def test_the_embedding_follows_name_and_explanation(call: Toolbox) -> None:
    made = create(call, "Bread", "flour and water")
    call("update_concept", concept_id=made, explanation="yeast and salt")
    (hit,) = call("search_concepts_semantic", query="Bread. yeast and salt")["results"]
    assert hit["similarity"] >= 0.999


def test_metadata_is_not_embedded(call: Toolbox) -> None:
    create(call, "Bread", "flour and water", area="Baking", topic="Loaves")
    (hit,) = call("search_concepts_semantic", query="Bread. flour and water")["results"]
    assert hit["similarity"] >= 0.999


def test_delete_is_soft_history_is_kept_and_search_forgets(call: Toolbox, room: Room) -> None:
    made = create(call, "Bread", "flour")
    assert call("delete_concept", concept_id=made)["concept_id"] == made
    assert call.error("get_concept", concept_id=made)["type"] == "CONCEPT_NOT_FOUND"
    assert call("search_concepts_exact", name="Bread")["results"] == []
    assert call("search_concepts_semantic", query="Bread")["results"] == []
    assert [event.version for event in room.concepts.log.stream(made)] == [1, 2]
    with room.database.read() as db:
        assert db.execute("SELECT name, deleted_at IS NOT NULL FROM concepts").fetchall() == [("Bread", 1)]


def test_deleting_again_is_safe(call: Toolbox) -> None:
    made = create(call, "Bread")
    call("delete_concept", concept_id=made)
    call("delete_concept", concept_id=made)


@pytest.mark.parametrize("tool", ["get_concept", "delete_concept", "get_related_concepts", "get_prerequisites"])
def test_an_unknown_concept_is_an_error(call: Toolbox, tool: str) -> None:
    error = call.error(tool, concept_id=str(uuid.uuid4()))
    assert error["type"] == "CONCEPT_NOT_FOUND"
    assert "Concept not found" in error["message"]


def test_all_changes_are_five_kinds_of_immutable_events(call: Toolbox, room: Room) -> None:
    a, b = create(call, "A"), create(call, "B")
    call("update_concept", concept_id=a, name="AA")
    call("delete_relationship", relationship_id=relate(call, a, b))
    call("delete_concept", concept_id=a)
    kinds = [type(event.event).__name__ for event in room.concepts.log.read(0, 100)]
    assert kinds == [
        "ConceptCreated",
        "ConceptCreated",
        "ConceptUpdated",
        "RelationshipCreated",
        "RelationshipDeleted",
        "ConceptDeleted",
    ]
    assert set(kinds) == {kind.__name__ for kind in Event.__args__}


def test_include_history_returns_the_events(call: Toolbox) -> None:
    made = create(call, "A")
    call("update_concept", concept_id=made, name="B")
    assert "history" not in call("get_concept", concept_id=made)
    history = call("get_concept", concept_id=made, include_history=True)["history"]
    assert [(row["version"], row["type"]) for row in history] == [(1, "ConceptCreated"), (2, "ConceptUpdated")]
    assert history[1]["data"] == {"changes": {"name": "B"}}


# Search


def test_semantic_search_ranks_by_similarity_with_four_decimals(call: Toolbox) -> None:
    create(call, "Loops", "repeat a block of code for every item")
    create(call, "Bread", "flour water salt yeast")
    rows = call("search_concepts_semantic", query="repeat code for every item")["results"]
    assert names(rows) == ["Loops", "Bread"]
    assert all(0 <= row["similarity"] <= 1 and row["similarity"] == round(row["similarity"], 4) for row in rows)
    assert rows[0]["similarity"] > rows[1]["similarity"]


def test_semantic_search_takes_several_filters_at_once(call: Toolbox) -> None:
    create(call, "one", "loops", area="P", topic="T", subtopic="S", certainty_score=90)
    create(call, "two", "loops", area="P", topic="T", certainty_score=90)
    create(call, "three", "loops", area="P", topic="U", certainty_score=90)
    create(call, "four", "loops", area="P", topic="T", subtopic="S", certainty_score=10)
    found = call("search_concepts_semantic", query="loops", area="P", topic="T")["results"]
    assert sorted(names(found)) == ["four", "one", "two"]
    found = call("search_concepts_semantic", query="loops", area="P", topic="T", subtopic="S", min_certainty=80)
    assert names(found["results"]) == ["one"]


def test_semantic_search_refuses_a_blank_query(call: Toolbox) -> None:
    assert call.error("search_concepts_semantic", query="  ")["field"] == "query"


def test_exact_search_needs_no_parameter_and_sorts_by_creation_newest_first(call: Toolbox) -> None:
    for name in ("first", "second", "third"):
        create(call, name)
    rows = call("search_concepts_exact")["results"]
    assert names(rows) == ["third", "second", "first"]
    assert [row["created_at"] for row in rows] == sorted((row["created_at"] for row in rows), reverse=True)


def test_exact_search_finds_part_of_a_name_in_any_case(call: Toolbox) -> None:
    create(call, "Python For Loop")
    create(call, "Bread")
    assert names(call("search_concepts_exact", name="for lo")["results"]) == ["Python For Loop"]


def test_exact_search_combines_its_filters(call: Toolbox) -> None:
    create(call, "one", area="P", topic="T", certainty_score=90)
    create(call, "two", area="P", topic="T", certainty_score=50)
    create(call, "three", area="P", topic="U", certainty_score=90)
    found = call("search_concepts_exact", area="P", topic="T", min_certainty=60, max_certainty=95, name="o")
    assert names(found["results"]) == ["one"]
    assert found["total"] == 1


def test_exact_search_answers_full_metadata(call: Toolbox) -> None:
    create(call, "one", area="P", topic="T", subtopic="S", certainty_score=90)
    (row,) = call("search_concepts_exact")["results"]
    assert {"concept_id", "name", "area", "topic", "subtopic", "certainty_score", "created_at", "last_modified"} <= set(
        row
    )


def test_limits_cut_the_results(call: Toolbox) -> None:
    for number in range(25):
        create(call, f"n{number}", "same words")
    assert len(call("search_concepts_exact")["results"]) == 20
    assert len(call("search_concepts_semantic", query="same words")["results"]) == 10
    assert len(call("get_recent_concepts")["results"]) == 10
    assert len(call("search_concepts_exact", limit=3)["results"]) == 3


def test_recent_concepts_are_sorted_by_last_change_latest_first(call: Toolbox, clock: Clock) -> None:
    old = create(call, "old")
    clock.now += timedelta(days=8)
    create(call, "new")
    assert names(call("get_recent_concepts")["results"]) == ["new"]
    assert names(call("get_recent_concepts", days=9)["results"]) == ["new", "old"]
    call("update_concept", concept_id=old, area="X")
    rows = call("get_recent_concepts")["results"]
    assert names(rows) == ["old", "new"]
    assert rows[0]["last_modified"] > rows[1]["last_modified"]
