"""Seed 004, promise by promise: the 16 concept tools with their parameters, defaults, limits, orders and errors."""

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from concept_rooms import Room, Toolbox, open_room
from trivium.model.concept import Event

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(tmp_path: Path, clock: Clock) -> Iterator[Room]:
    room = open_room(tmp_path, clock=clock)
    yield room
    room.close()


@pytest.fixture
def call(room: Room) -> Toolbox:
    return Toolbox(room.concepts)


def create(call: Toolbox, name: str, explanation: str = "", **more: Any) -> str:
    return str(call("create_concept", name=name, explanation=explanation or f"about {name}", **more)["concept_id"])


def relate(call: Toolbox, source: str, target: str, kind: str = "prerequisite", **more: Any) -> str:
    body = call(
        "create_relationship", source_concept_id=source, target_concept_id=target, relationship_type=kind, **more
    )
    return str(body["relationship_id"])


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for row in rows]


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


# Relationships


def test_a_relationship_id_is_rel_and_twelve_characters(call: Toolbox) -> None:
    assert re.fullmatch(r"rel-[0-9a-z]{12}", relate(call, create(call, "A"), create(call, "B")))


@pytest.mark.parametrize(
    ("kind", "stored"), [("prerequisite", "PREREQUISITE"), ("relates_to", "RELATES_TO"), ("includes", "CONTAINS")]
)
def test_the_three_types_are_stored_under_their_names(call: Toolbox, room: Room, kind: str, stored: str) -> None:
    a, b = create(call, "A"), create(call, "B")
    relate(call, a, b, kind, strength=0.25, description="why")
    with room.database.read() as db:
        assert db.execute("SELECT type, strength, description FROM concept_relationships").fetchall() == [
            (stored, 0.25, "why")
        ]
    (row,) = call("get_related_concepts", concept_id=a)["related"]
    assert (row["relationship_type"], row["strength"]) == (kind, 0.25)


def test_an_unknown_type_is_refused_with_the_three(call: Toolbox) -> None:
    error = call.error(
        "create_relationship",
        source_concept_id=create(call, "A"),
        target_concept_id=create(call, "B"),
        relationship_type="CONTAINS",
    )
    assert error["field"] == "relationship_type"
    assert all(kind in error["message"] for kind in ("prerequisite", "relates_to", "includes"))


def test_strength_lies_between_0_and_1(call: Toolbox) -> None:
    a, b = create(call, "A"), create(call, "B")
    for bad in (-0.1, 1.1):
        error = call.error(
            "create_relationship",
            source_concept_id=a,
            target_concept_id=b,
            relationship_type="includes",
            strength=bad,
        )
        assert error["field"] == "strength"


def test_both_ends_must_exist_and_not_be_deleted(call: Toolbox) -> None:
    a, b = create(call, "A"), create(call, "B")
    call("delete_concept", concept_id=b)
    for source, target in ((a, str(uuid.uuid4())), (str(uuid.uuid4()), a), (a, b), (b, a)):
        error = call.error(
            "create_relationship", source_concept_id=source, target_concept_id=target, relationship_type="includes"
        )
        assert error["type"] == "CONCEPT_NOT_FOUND"


def test_the_same_source_target_and_type_twice_is_refused(call: Toolbox) -> None:
    a, b = create(call, "A"), create(call, "B")
    first = relate(call, a, b)
    error = call.error(
        "create_relationship", source_concept_id=a, target_concept_id=b, relationship_type="prerequisite"
    )
    assert (error["type"], error["details"]["relationship_id"]) == ("DUPLICATE_RELATIONSHIP", first)
    relate(call, a, b, "relates_to")


def test_delete_relationship_removes_the_edge_and_keeps_the_event(call: Toolbox, room: Room) -> None:
    a, b = create(call, "A"), create(call, "B")
    made = relate(call, a, b)
    assert call("delete_relationship", relationship_id=made)["relationship_id"] == made
    assert call("get_related_concepts", concept_id=a)["related"] == []
    assert len(room.concepts.log.stream(made)) == 2
    call("delete_relationship", relationship_id=made)  # safe to repeat
    assert call.error("delete_relationship", relationship_id="rel-000000000000")["type"] == "RELATIONSHIP_NOT_FOUND"


@pytest.fixture
def course(call: Toolbox) -> dict[str, str]:
    ids = {name: create(call, name) for name in ("basics", "functions", "decorators", "island")}
    relate(call, ids["basics"], ids["functions"])
    relate(call, ids["functions"], ids["decorators"])
    return ids


@pytest.mark.parametrize(
    ("direction", "expected"),
    [("outgoing", ["decorators"]), ("incoming", ["basics"]), ("both", ["basics", "decorators"])],
)
def test_directions_mean_what_the_seed_says(
    call: Toolbox, course: dict[str, str], direction: str, expected: list[str]
) -> None:
    rows = call("get_related_concepts", concept_id=course["functions"], direction=direction)["related"]
    assert sorted(names(rows)) == expected


def test_related_concepts_carry_their_distance_in_hops(call: Toolbox, course: dict[str, str]) -> None:
    body = call("get_related_concepts", concept_id=course["basics"])
    assert [(row["name"], row["distance"]) for row in body["related"]] == [("functions", 1), ("decorators", 2)]
    body = call("get_related_concepts", concept_id=course["basics"], max_depth=1)
    assert names(body["related"]) == ["functions"]
    assert call.error("get_related_concepts", concept_id=course["basics"], direction="up")["field"] == "direction"


def test_related_concepts_can_be_of_one_type(call: Toolbox, course: dict[str, str]) -> None:
    relate(call, course["basics"], course["island"], "relates_to")
    rows = call("get_related_concepts", concept_id=course["basics"], relationship_type="relates_to")["related"]
    assert names(rows) == ["island"]


def test_prerequisites_come_deepest_first(call: Toolbox, course: dict[str, str]) -> None:
    body = call("get_prerequisites", concept_id=course["decorators"])
    assert [(row["name"], row["depth"]) for row in body["chain"]] == [("basics", 2), ("functions", 1)]
    assert names(call("get_prerequisites", concept_id=course["decorators"], max_depth=1)["chain"]) == ["functions"]
    assert call("get_prerequisites", concept_id=course["basics"])["chain"] == []


def test_a_chain_is_the_shortest_path_with_its_length(call: Toolbox, course: dict[str, str]) -> None:
    body = call("get_concept_chain", start_concept_id=course["basics"], end_concept_id=course["decorators"])
    assert (names(body["path"]), body["length"]) == (["basics", "functions", "decorators"], 2)
    body = call("get_concept_chain", start_concept_id=course["basics"], end_concept_id=course["island"])
    assert (body["path"], body["length"]) == ([], 0)
    body = call(
        "get_concept_chain",
        start_concept_id=course["basics"],
        end_concept_id=course["decorators"],
        relationship_type="relates_to",
    )
    assert body["path"] == []


# Analytics


def test_the_hierarchy_counts_at_every_level(call: Toolbox) -> None:
    create(call, "a", area="P", topic="T", subtopic="S")
    create(call, "b", area="P", topic="T", subtopic="R")
    create(call, "c", area="P", topic="T")
    create(call, "d", area="P")
    create(call, "e", area="A")
    create(call, "f")
    body = call("list_hierarchy")
    assert body["total_concepts"] == 6
    assert body["areas"] == [
        {"name": "A", "concept_count": 1},
        {
            "name": "P",
            "concept_count": 4,
            "topics": [
                {
                    "name": "T",
                    "concept_count": 3,
                    "subtopics": [{"name": "R", "concept_count": 1}, {"name": "S", "concept_count": 1}],
                }
            ],
        },
        {"name": "Uncategorized", "concept_count": 1},
    ]


def test_the_hierarchy_is_never_older_than_the_last_write(call: Toolbox) -> None:
    made = create(call, "a", area="P")
    assert call("list_hierarchy")["total_concepts"] == 1
    call("update_concept", concept_id=made, area="Q")
    assert names(call("list_hierarchy")["areas"]) == ["Q"]
    call("delete_concept", concept_id=made)
    assert call("list_hierarchy")["areas"] == []


def test_concepts_by_certainty_are_filtered_and_sorted(call: Toolbox) -> None:
    for score in (50, 10, 90):
        create(call, f"c{score}", certainty_score=score)
    create(call, "unrated")
    assert names(call("get_concepts_by_certainty")["results"]) == ["c10", "c50", "c90"]
    assert names(call("get_concepts_by_certainty", order="desc", min_certainty=20)["results"]) == ["c90", "c50"]
    assert names(call("get_concepts_by_certainty", max_certainty=50)["results"]) == ["c10", "c50"]
    assert call.error("get_concepts_by_certainty", order="up")["field"] == "order"


# Beyond the seed (contract, section 5)


def test_expected_version_is_an_optimistic_lock(call: Toolbox) -> None:
    made = create(call, "A")
    assert call("update_concept", concept_id=made, name="B", expected_version=1)["version"] == 2
    for tool, more in (("update_concept", {"name": "C"}), ("delete_concept", {})):
        error = call.error(tool, concept_id=made, expected_version=1, **more)
        assert error["type"] == "VERSION_CONFLICT"
        assert error["details"]["current_version"] == 2
        assert "2" in error["message"]


def test_as_of_reads_the_past(call: Toolbox) -> None:
    made = create(call, "A")
    call("update_concept", concept_id=made, name="B")
    assert call("get_concept", concept_id=made, as_of=1)["concept"]["name"] == "A"
    assert call("get_concept", concept_id=made, as_of="2026-03-01")["concept"]["name"] == "B"
    assert call.error("get_concept", concept_id=made, as_of="2025-01-01")["type"] == "CONCEPT_NOT_FOUND"
    assert call.error("get_concept", concept_id=made, as_of="then")["field"] == "as_of"


def test_a_deleted_concept_can_be_restored(call: Toolbox) -> None:
    made = create(call, "A")
    call("delete_concept", concept_id=made)
    assert call("restore_concept", concept_id=made)["version"] == 3
    assert call("get_concept", concept_id=made)["concept"]["name"] == "A"


def test_a_near_duplicate_is_stored_with_a_warning_that_names_the_other(call: Toolbox) -> None:
    first = create(call, "For loop", "repeats a block for every item")
    body = call("create_concept", name="For loop", explanation="repeats a block for each item")
    assert body["concept_id"] != first
    assert body["similar"][0]["concept_id"] == first
    assert "warning" in body


def test_circular_prerequisites_are_refused_with_the_cycle(call: Toolbox, course: dict[str, str]) -> None:
    error = call.error(
        "create_relationship",
        source_concept_id=course["decorators"],
        target_concept_id=course["basics"],
        relationship_type="prerequisite",
    )
    assert error["type"] == "PREREQUISITE_CYCLE"
    assert "basics → functions → decorators → basics" in error["message"]


def test_many_concepts_are_created_all_or_none(call: Toolbox) -> None:
    rows = [{"name": f"n{number}", "explanation": "e"} for number in range(3)]
    ids = call("create_concepts", concepts=rows, idempotency_key="k")["concept_ids"]
    assert call("create_concepts", concepts=rows, idempotency_key="k")["concept_ids"] == ids
    assert call.error("create_concepts", concepts=[*rows, {"name": "x"}])["field"] == "concepts"
    assert call("get_server_stats")["event_count"] == 3


# What answers cost


def test_answers_are_compact(call: Toolbox) -> None:
    texts = {
        "Python for loop": "A for loop iterates over the items of a sequence and runs its block once for each of them.",
        "Async and await": "Coroutines give up control at every await, so that one thread serves many waiting tasks.",
        "Gradient descent": "Moves the parameters in small steps against the gradient of the loss until it stops.",
        "Binary search tree": "A tree with smaller values to the left and larger values to the right of every node.",
        "Bayes' theorem": "Relates the probability of a cause given an effect to that of the effect given the cause.",
    }
    areas = ("Programming", "Mathematics", "Physics", "Biology", "Chemistry", "History", "Economics", "Philosophy")
    areas += ("Psychology", "Design", "Law", "Music", "Languages")
    ids = [
        create(call, name, text, area=areas[0], topic="Basics", subtopic="Core", certainty_score=90)
        for name, text in texts.items()
    ]
    for target in ids[1:]:
        relate(call, ids[0], target)
    for area in areas:
        create(call, f"What {area} is", "An overview.", area=area, topic="Basics")
    assert call.tokens("create_concept", name="Fresh", explanation="entirely new") <= 50
    assert call.tokens("update_concept", concept_id=ids[0], certainty_score=80) <= 60
    assert call.tokens("delete_relationship", relationship_id=relate(call, ids[1], ids[2])) <= 50
    assert call.tokens("get_concept", concept_id=ids[0]) <= 300
    assert call.tokens("search_concepts_semantic", query="loops and trees", limit=5) <= 200
    assert call.tokens("search_concepts_exact", area="Programming", limit=5) <= 200
    assert call.tokens("get_concepts_by_certainty", limit=5) <= 200
    assert call.tokens("get_prerequisites", concept_id=ids[4]) <= 100
    assert call.tokens("list_hierarchy") <= 300
