"""Writing: what is acknowledged is seen at once, what is refused leaves nothing behind."""

import uuid
from collections.abc import Callable

import pytest

from concept_rooms import Room
from trivium.concepts.room import Concepts
from trivium.errors import Conflict, InvalidInput, NotFound
from trivium.ports.concept_catalogue import Selection

Make = Callable[..., str]


def names(found: list[object]) -> list[str]:
    return [one.name for one in found]


def test_a_new_concept_is_read_searched_and_counted_at_once(concepts: Concepts, make: Make) -> None:
    made = make("For loop", "repeats a block for every item", area="Programming", topic="Python")
    assert concepts.read.get(made).version == 1
    assert names(concepts.read.exact(Selection(name="LOOP"))) == ["For loop"]
    assert [hit.concept.concept_id for hit in concepts.find.semantic("repeats a block")] == [made]
    assert [tuple(place) for place in concepts.read.hierarchy()] == [("Programming", "Python", None, 1)]


def test_an_id_is_a_uuid4(make: Make) -> None:
    for number in range(50):
        parsed = uuid.UUID(made := make(f"n{number}"))
        assert (parsed.version, parsed.variant, str(parsed)) == (4, uuid.RFC_4122, made)


def test_text_is_trimmed_and_blank_optional_text_is_absent(concepts: Concepts, make: Make) -> None:
    concept = concepts.read.get(make("  Loop  ", " text ", area="  ", topic=" Python "))
    assert (concept.name, concept.explanation, concept.area, concept.topic) == ("Loop", "text", None, "Python")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "   "),
        ("name", "x" * 201),
        ("name", None),
        ("name", "a\0b"),
        ("explanation", " "),
        ("explanation", "half \ud800"),
        ("area", "x" * 101),
        ("topic", "x" * 101),
        ("subtopic", "x" * 101),
        ("certainty_score", -1),
        ("certainty_score", 100.5),
        ("certainty_score", float("nan")),
        ("colour", "red"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_name_and_leaves_nothing(
    concepts: Concepts, field: str, value: object
) -> None:
    with pytest.raises(InvalidInput) as refused:
        concepts.change.create({"name": "n", "explanation": "e", field: value})
    assert refused.value.field == field
    assert concepts.log.head() == 0


def test_an_update_changes_only_what_is_given_and_says_what(concepts: Concepts, make: Make) -> None:
    made = make("Loop", "text", area="A", certainty_score=10)
    done = concepts.change.update(made, {"certainty_score": 90, "area": "", "name": "Loop"})
    assert done.updated_fields == ("certainty_score", "area")
    now = concepts.read.get(made)
    assert (now.name, now.area, now.certainty_score, now.version) == ("Loop", None, 90, 2)


def test_an_update_that_changes_nothing_writes_no_event(concepts: Concepts, make: Make) -> None:
    made = make("Loop", "text")
    assert concepts.change.update(made, {"name": "Loop"}).updated_fields == ()
    assert concepts.log.head() == 1
    with pytest.raises(InvalidInput, match="at least one field"):
        concepts.change.update(made, {"name": None})


def test_a_stale_expected_version_is_a_conflict_that_names_the_current_one(concepts: Concepts, make: Make) -> None:
    made = make("Loop")
    concepts.change.update(made, {"name": "While"}, expected_version=1)
    for attempt in (
        lambda: concepts.change.update(made, {"name": "For"}, expected_version=1),
        lambda: concepts.change.delete(made, expected_version=1),
    ):
        with pytest.raises(Conflict, match="current version is 2") as refused:
            attempt()
        assert refused.value.code == "VERSION_CONFLICT"
        assert refused.value.details == {"expected_version": 1, "current_version": 2}
    assert concepts.read.get(made).name == "While"


def test_a_deleted_concept_leaves_every_search_and_comes_back_with_its_links(concepts: Concepts, make: Make) -> None:
    a, b, c = make("A", "alpha beta", certainty_score=5), make("B", "beta gamma", certainty_score=6), make("C")
    concepts.change.relate(a, b, "prerequisite")
    concepts.change.relate(b, c, "prerequisite")
    concepts.change.delete(b)
    assert names(concepts.read.exact(Selection())) == ["C", "A"]
    assert names([hit.concept for hit in concepts.find.semantic("beta gamma")]) == ["A", "C"]
    assert names(concepts.read.by_certainty()) == ["A"]
    assert names(concepts.read.recent()) == ["C", "A"]
    assert concepts.read.related(a) == []
    assert concepts.read.chain(a, c) == []
    with pytest.raises(NotFound, match="deleted at"):
        concepts.read.get(b)
    assert concepts.read.get(b, as_of=1).name == "B"
    assert concepts.change.delete(b).version == 2  # again: nothing happens
    assert concepts.change.restore(b).version == 3
    assert names(concepts.read.chain(a, c)) == ["A", "B", "C"]
    assert names([hit.concept for hit in concepts.find.semantic("beta gamma")])[0] == "B"


def test_a_deleted_concept_takes_no_changes_and_no_links(concepts: Concepts, make: Make) -> None:
    a, b = make("A"), make("B")
    concepts.change.delete(a)
    for attempt in (
        lambda: concepts.change.update(a, {"name": "x"}),
        lambda: concepts.change.relate(a, b, "relates_to"),
        lambda: concepts.change.relate(b, a, "relates_to"),
    ):
        with pytest.raises(NotFound):
            attempt()


def test_an_unknown_concept_is_not_found_and_a_name_in_its_place_shows_the_id(concepts: Concepts, make: Make) -> None:
    made = make("Loop")
    with pytest.raises(NotFound) as refused:
        concepts.read.get("loop")
    assert refused.value.nearest == [f"{made} (Loop)"]


def test_the_same_relationship_twice_is_refused_with_the_one_that_exists(concepts: Concepts, make: Make) -> None:
    a, b = make("A"), make("B")
    first = concepts.change.relate(a, b, "includes", 0.5, "because")
    assert (first.relationship_id[:4], len(first.relationship_id)) == ("rel-", 16)
    with pytest.raises(Conflict) as refused:
        concepts.change.relate(a, b, "includes")
    assert refused.value.code == "DUPLICATE_RELATIONSHIP"
    assert refused.value.details == {"relationship_id": first.relationship_id}
    concepts.change.relate(b, a, "includes")
    concepts.change.relate(a, b, "relates_to")
    assert concepts.change.unrelate(first.relationship_id)
    assert not concepts.change.unrelate(first.relationship_id)
    assert concepts.change.relate(a, b, "includes").relationship_id != first.relationship_id


def test_includes_is_stored_as_contains_and_shown_as_includes(concepts: Concepts, make: Make, room: Room) -> None:
    a, b = make("A"), make("B")
    made = concepts.change.relate(a, b, "includes")
    assert made.relationship_type == "includes"
    assert concepts.read.related(a)[0].relationship.relationship_type == "includes"
    with room.database.read() as db:
        assert db.execute("SELECT type FROM concept_relationships").fetchall() == [("CONTAINS",)]
        assert '"type":"CONTAINS"' in db.execute("SELECT body FROM concept_events WHERE position = 3").fetchone()[0]


def test_a_concept_cannot_be_linked_to_itself(concepts: Concepts, make: Make) -> None:
    a = make("A")
    with pytest.raises(InvalidInput) as refused:
        concepts.change.relate(a, a, "relates_to")
    assert refused.value.code == "SELF_RELATIONSHIP"


def test_circular_prerequisites_are_refused_and_the_cycle_is_shown(concepts: Concepts, make: Make) -> None:
    a, b, c = make("A"), make("B"), make("C")
    concepts.change.relate(a, b, "prerequisite")
    concepts.change.relate(b, c, "prerequisite")
    with pytest.raises(Conflict, match="A → B → C → A") as refused:
        concepts.change.relate(c, a, "prerequisite")
    assert refused.value.details == {"cycle": [a, b, c, a]}
    concepts.change.relate(c, a, "relates_to")
    concepts.change.relate(c, a, "includes")
    concepts.change.delete(b)  # it may come back, so the cycle still counts
    with pytest.raises(Conflict):
        concepts.change.relate(c, a, "prerequisite")


def test_relationships_refuse_unknown_types_and_strengths(concepts: Concepts, make: Make) -> None:
    a, b = make("A"), make("B")
    with pytest.raises(InvalidInput, match="must be one of: prerequisite, relates_to, includes"):
        concepts.change.relate(a, b, "CONTAINS")
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        concepts.change.relate(a, b, "includes", 1.5)
    with pytest.raises(NotFound, match="Relationship not found"):
        concepts.change.unrelate("rel-000000000000")


def test_a_batch_is_stored_whole_or_not_at_all(concepts: Concepts) -> None:
    good = {"name": "A", "explanation": "a"}
    with pytest.raises(InvalidInput, match=r"concepts\[1\]: name") as refused:
        concepts.change.create_many([good, {"name": "", "explanation": "b"}])
    assert refused.value.field == "concepts.1.name"
    assert concepts.log.head() == 0
    made = concepts.change.create_many([good, {"name": "B", "explanation": "b"}])
    assert names(made) == ["A", "B"]


def test_an_idempotency_key_makes_a_repeated_batch_harmless(concepts: Concepts) -> None:
    batch = [{"name": "A", "explanation": "a"}, {"name": "B", "explanation": "b"}]
    first = concepts.change.create_many(batch, "key-1")
    assert concepts.change.create_many(batch, "key-1") == first
    assert concepts.log.head() == 2
    with pytest.raises(Conflict) as refused:
        concepts.change.create_many(batch[:1], "key-1")
    assert refused.value.code == "IDEMPOTENCY_CONFLICT"


def test_a_projection_that_fails_inside_the_write_takes_the_whole_write_back(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = room.concepts.change.create({"name": "A", "explanation": "a"})
    with room.database.transaction() as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON chunks BEGIN SELECT RAISE(FAIL, 'no room'); END")
    with pytest.raises(Conflict):
        room.concepts.change.create({"name": "B", "explanation": "b"})
    assert (room.concepts.log.head(), names(room.concepts.read.exact(Selection()))) == (1, ["A"])
    with room.database.transaction() as db:
        db.execute("DROP TRIGGER full")
    room.concepts.change.create({"name": "C", "explanation": "c"})
    assert room.concepts.check.verify().consistent
    assert room.concepts.read.get(kept.concept_id).name == "A"


def test_only_new_text_is_embedded(tmp_path: object, room: Room, make: Make) -> None:
    made = make("Loop", "repeats")
    room.catch_up()
    with room.database.read() as db:
        before = db.execute("SELECT COUNT(*) FROM embeddings").fetchone()
    room.concepts.change.update(made, {"certainty_score": 3, "area": "A", "examples": "for"})
    with room.database.read() as db:
        assert db.execute("SELECT COUNT(*) FROM embedding_queue").fetchone() == (0,)
    room.concepts.change.update(made, {"explanation": "repeats often"})
    with room.database.read() as db:
        assert db.execute("SELECT COUNT(*) FROM embedding_queue").fetchone() == (1,)
    room.concepts.change.update(made, {"explanation": "repeats"})
    room.catch_up()
    with room.database.read() as db:
        assert db.execute("SELECT COUNT(*) FROM embeddings").fetchone() == before  # the cache knew it


def test_the_embedded_text_is_name_and_explanation(room: Room, make: Make) -> None:
    make("For loop", "Repeats a block.", area="Programming")
    (hit,) = room.concepts.find.semantic("For loop. Repeats a block.")
    assert hit.similarity is not None
    assert hit.similarity >= 0.999


def test_a_near_duplicate_is_noticed_by_meaning_and_by_name(concepts: Concepts, make: Make) -> None:
    make("For loop", "repeats a block for every item of a list")
    make("Loops")
    alike = concepts.find.duplicates("For loop", "repeats the block for every item of a list")
    assert [(hit.concept.name, hit.similarity is not None) for hit in alike] == [("For loop", True)]
    assert [(hit.concept.name, hit.similarity) for hit in concepts.find.duplicates("LOOPS", "entirely else")] == [
        ("Loops", None)
    ]
    assert concepts.find.duplicates("Bread", "flour and water") == []
