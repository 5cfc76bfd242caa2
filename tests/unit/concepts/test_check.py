"""The checker finds what differs from the log, and replay makes it the same again, bit for bit."""

from collections.abc import Callable

import pytest

from concept_rooms import Room
from trivium.concepts.replay import replay
from trivium.concepts.room import Concepts

Make = Callable[..., str]
TABLES = ("concepts", "concept_counts", "concept_relationships")


def dump(room: Room) -> dict[str, list[tuple[object, ...]]]:
    with room.database.read() as db:
        rows = {table: db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall() for table in TABLES}
        rows["chunks"] = db.execute("SELECT * FROM chunks ORDER BY chunk_id").fetchall()
        return rows


@pytest.fixture
def filled(room: Room, make: Make) -> Room:
    change = room.concepts.change
    a, b, c = make("A", area="X"), make("B", topic="Y"), make("C")
    change.unrelate(change.relate(a, b, "includes").relationship_id)
    change.relate(a, b, "includes")
    change.relate(b, c, "prerequisite", 0.5, "why")
    change.update(a, {"name": "AA", "area": "Z"})
    change.delete(c)
    change.delete(b)
    change.restore(b)
    return room


DAMAGE = [
    ("UPDATE concepts SET explanation = 'x' WHERE key = 1", "graph", "different"),
    ("UPDATE concepts SET deleted_at = NULL", "graph", "different"),
    ("DELETE FROM concepts WHERE key = 3", "graph", "missing"),
    ("DELETE FROM concept_relationships WHERE type = 'CONTAINS'", "graph", "missing"),
    ("UPDATE concept_relationships SET strength = 0", "graph", "different"),
    (
        "INSERT INTO concepts SELECT 99, 'stray', name, explanation, area, topic, subtopic, certainty_score, examples,"
        " prerequisites, created_at, last_modified, version, changed, deleted_at FROM concepts WHERE key = 1",
        "graph",
        "stray",
    ),
    ("UPDATE concept_counts SET concept_count = 7", "graph", "stray"),
    ("DELETE FROM concept_counts", "graph", "stray"),
    ("DELETE FROM documents WHERE source = 'concepts'", "text", "missing"),
    ("UPDATE chunks SET text = 'x'", "text", "different"),
    ("UPDATE documents SET source_file = 'stray' WHERE document_id = 1", "text", "stray"),
]


@pytest.mark.parametrize(("damage", "projection", "kind"), DAMAGE)
def test_damage_is_found_named_and_repaired(filled: Room, damage: str, projection: str, kind: str) -> None:
    before = dump(filled)
    with filled.database.transaction() as db:
        db.execute(damage)
    verdict = filled.concepts.check.verify()
    finding = next(one for one in verdict.findings if one.projection == projection)
    assert not verdict.consistent
    assert getattr(finding, kind)
    filled.concepts.check.rebuild(projection)
    assert filled.concepts.check.verify().consistent
    with filled.database.transaction() as db:
        db.execute(damage)
    assert filled.concepts.check.verify(repair=True).consistent
    after = dump(filled)
    assert [after[table] for table in TABLES] == [before[table] for table in TABLES]


def test_every_check_leaves_a_snapshot(filled: Room) -> None:
    filled.concepts.check.verify()
    with filled.database.transaction() as db:
        db.execute("UPDATE concepts SET name = 'x'")
    filled.concepts.check.verify()
    with filled.database.read() as db:
        assert db.execute("SELECT consistent FROM consistency_snapshots").fetchall() == [(1,), (0,)]


@pytest.mark.parametrize("name", ["graph", "text", None])
def test_a_replay_writes_the_same_rows_bit_for_bit_and_keeps_chunk_ids(filled: Room, name: str | None) -> None:
    before = dump(filled)
    filled.concepts.check.rebuild(name)
    assert dump(filled) == before


def test_a_replay_rebuilds_rows_from_nothing(filled: Room) -> None:
    before = dump(filled)
    with filled.database.transaction() as db:
        for table in ("concept_relationships", "concepts", "concept_counts"):
            db.execute(f"DELETE FROM {table}")
    filled.concepts.check.rebuild("graph")
    assert dump(filled) == before


def test_the_whole_state_can_be_seen_as_of_any_position(concepts: Concepts, make: Make) -> None:
    a, b = make("A"), make("B")
    link = concepts.change.relate(a, b, "includes")
    concepts.change.update(a, {"name": "AA"})
    concepts.change.unrelate(link.relationship_id)
    seen = [
        sorted(getattr(item, "name", "link") for item in replay(concepts.log, at).items.values()) for at in range(6)
    ]
    assert seen == [[], ["A"], ["A", "B"], ["A", "B", "link"], ["AA", "B", "link"], ["AA", "B"]]


def test_statistics_count_events_and_what_the_indexes_lack(room: Room, make: Make) -> None:
    assert room.concepts.stats().outbox_pending == 0
    make("A")
    stats = room.concepts.stats()
    assert (stats.event_count, stats.outbox_pending, stats.outbox_failed) == (1, 1, 0)
    room.catch_up()
    assert room.concepts.stats().outbox_pending == 0
