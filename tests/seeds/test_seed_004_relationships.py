"""Seed 004, promise by promise: relationships, analytics, what the contract adds, and what answers cost."""

import re
import uuid

import pytest

from concept_rooms import Room, Toolbox, create, names, relate, seed_call, seed_clock, seed_room  # noqa: F401 -- fixtures

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
