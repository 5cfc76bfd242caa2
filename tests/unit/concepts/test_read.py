"""Reading: filters, orders, walks and the past."""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from concept_rooms import Room, open_room
from trivium.backends.sqlite import concept_catalogue
from trivium.concepts.room import Concepts
from trivium.concepts.walk import around, before, shortest
from trivium.errors import InvalidInput, NotFound
from trivium.ports.concept_catalogue import Selection
from trivium.ports.concept_graph import Edge

Make = Callable[..., str]


def names(found: list[object]) -> list[str]:
    return [one.name for one in found]


@pytest.fixture
def shelf(make: Make) -> None:
    make("Python loops", area="Code", topic="Python", subtopic="Flow", certainty_score=90)
    make("Python lists", area="Code", topic="Python", subtopic="Data", certainty_score=40)
    make("Rust loops", area="Code", topic="Rust", certainty_score=70)
    make("Loops of Henle", area="Biology", topic="Kidney", certainty_score=70)
    make("Python (snake)", area="Biology", topic="Python")
    make("STRASSE und Straße")


SELECTIONS = [
    (
        Selection(),
        ["STRASSE und Straße", "Python (snake)", "Loops of Henle", "Rust loops", "Python lists", "Python loops"],
    ),
    (Selection(name="LOOP"), ["Loops of Henle", "Rust loops", "Python loops"]),
    (Selection(name="straße"), ["STRASSE und Straße"]),
    (Selection(name="n l"), ["Python lists", "Python loops"]),
    (Selection(name="%"), []),
    (Selection(area="Code"), ["Rust loops", "Python lists", "Python loops"]),
    (Selection(area="code"), []),
    (Selection(topic="Python"), ["Python (snake)", "Python lists", "Python loops"]),
    (Selection(area="Code", topic="Python"), ["Python lists", "Python loops"]),
    (Selection(subtopic="Flow"), ["Python loops"]),
    (Selection(area="Code", topic="Python", min_certainty=50), ["Python loops"]),
    (Selection(min_certainty=70), ["Loops of Henle", "Rust loops", "Python loops"]),
    (Selection(max_certainty=70), ["Loops of Henle", "Rust loops", "Python lists"]),
    (Selection(min_certainty=70, max_certainty=70), ["Loops of Henle", "Rust loops"]),
    (Selection(name="loops", area="Code", min_certainty=80), ["Python loops"]),
    (Selection(name="loops", max_certainty=70), ["Loops of Henle", "Rust loops"]),
]


@pytest.mark.parametrize("seldom", [0, 5_000], ids=["walking down", "from the index"])
@pytest.mark.parametrize(("wanted", "expected"), SELECTIONS)
def test_every_combination_of_filters_holds_and_the_newest_comes_first(
    concepts: Concepts,
    shelf: None,
    wanted: Selection,
    expected: list[str],
    seldom: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(concept_catalogue, "SELDOM", seldom)
    assert names(concepts.read.exact(wanted)) == expected
    assert names(concepts.read.exact(wanted, limit=1)) == expected[:1]


@pytest.mark.parametrize(("wanted", "expected"), [pair for pair in SELECTIONS if pair[0].name is None])
def test_semantic_search_takes_every_combination_of_filters(
    concepts: Concepts, shelf: None, wanted: Selection, expected: list[str]
) -> None:
    found = concepts.find.semantic("python loops in code", wanted)
    assert sorted(names([hit.concept for hit in found])) == sorted(expected)
    scores = [hit.similarity for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert all(score is not None and 0 <= score <= 1 and score == round(score, 4) for score in scores)


def test_a_renamed_concept_is_found_by_its_new_name_alone(concepts: Concepts, shelf: None) -> None:
    (loops,) = concepts.read.exact(Selection(name="Rust"))
    assert names(concepts.read.exact(Selection(name="loops"))) == ["Loops of Henle", "Rust loops", "Python loops"]
    concepts.change.update(loops.concept_id, {"name": "Iterators"})
    assert names(concepts.read.exact(Selection(name="loops"))) == ["Loops of Henle", "Python loops"]
    assert names(concepts.read.exact(Selection(name="iter"))) == ["Iterators"]
    concepts.change.delete(loops.concept_id)
    assert names(concepts.read.exact(Selection(name="iter"))) == []
    concepts.change.restore(loops.concept_id)
    assert names(concepts.read.exact(Selection(name="iter"))) == ["Iterators"]


def test_recent_concepts_are_those_changed_lately_last_change_first(tmp_path: Path) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    room = open_room(tmp_path, clock=lambda: now)
    made = []
    for number in range(3):
        made.append(room.concepts.change.create({"name": f"n{number}", "explanation": "e"}).concept_id)
        now += timedelta(days=3)
    assert names(room.concepts.read.recent(days=1)) == []
    assert names(room.concepts.read.recent(days=3)) == ["n2"]
    assert names(room.concepts.read.recent()) == ["n2", "n1"]
    room.concepts.change.update(made[0], {"name": "again"})
    assert names(room.concepts.read.recent()) == ["again", "n2", "n1"]
    assert names(room.concepts.read.recent(limit=1)) == ["again"]
    room.close()


def test_certainty_sorts_both_ways_and_leaves_out_the_unrated(concepts: Concepts, shelf: None) -> None:
    assert names(concepts.read.by_certainty()) == ["Python lists", "Rust loops", "Loops of Henle", "Python loops"]
    assert names(concepts.read.by_certainty(order="desc")) == [
        "Python loops",
        "Loops of Henle",
        "Rust loops",
        "Python lists",
    ]
    assert names(concepts.read.by_certainty(80, 60)) == ["Rust loops", "Loops of Henle"]


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda c, i: c.read.exact(Selection(), 0), "limit"),
        (lambda c, i: c.read.exact(Selection(), 101), "limit"),
        (lambda c, i: c.read.exact(Selection(min_certainty=101)), "min_certainty"),
        (lambda c, i: c.read.recent(0), "days"),
        (lambda c, i: c.read.recent(366), "days"),
        (lambda c, i: c.read.recent(1, 101), "limit"),
        (lambda c, i: c.read.by_certainty(-1), "min_certainty"),
        (lambda c, i: c.read.by_certainty(0, 100, 101), "limit"),
        (lambda c, i: c.read.by_certainty(order="up"), "order"),
        (lambda c, i: c.read.related(i, "sideways"), "direction"),
        (lambda c, i: c.read.related(i, max_depth=6), "max_depth"),
        (lambda c, i: c.read.related(i, limit=51), "limit"),
        (lambda c, i: c.read.related(i, relationship_type="likes"), "relationship_type"),
        (lambda c, i: c.read.prerequisites(i, 11), "max_depth"),
        (lambda c, i: c.read.chain(i, i, "likes"), "relationship_type"),
        (lambda c, i: c.find.semantic("x", limit=51), "limit"),
        (lambda c, i: c.find.semantic("  "), "query"),
        (lambda c, i: c.read.get(i, as_of="yesterday"), "as_of"),
    ],
)
def test_limits_are_errors_that_name_the_field(
    concepts: Concepts, make: Make, call: Callable[..., object], field: str
) -> None:
    made = make("A")
    with pytest.raises(InvalidInput) as refused:
        call(concepts, made)
    assert refused.value.field == field


def test_the_past_is_read_by_version_and_by_date(tmp_path: Path) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    room = open_room(tmp_path, clock=lambda: now)
    made = room.concepts.change.create({"name": "first", "explanation": "e"}).concept_id
    now += timedelta(days=1)
    room.concepts.change.update(made, {"name": "second"})
    now += timedelta(days=1)
    room.concepts.change.delete(made)
    read = room.concepts.read
    assert read.get(made, as_of=1).name == read.get(made, as_of="1").name == "first"
    assert read.get(made, as_of="2026-03-01").name == "first"
    assert read.get(made, as_of="2026-03-02T11:59:00Z").name == "first"
    assert read.get(made, as_of="2026-03-02T13:00:00+01:00").name == "second"
    for then in (3, "2026-03-03", "2026-02-28", 9):
        with pytest.raises(NotFound):
            read.get(made, as_of=then)
    assert [event.version for event in read.history(made)] == [1, 2, 3]
    room.close()


@pytest.fixture
def course(concepts: Concepts, make: Make) -> dict[str, str]:
    """a → b → d, a → d, c → d; e includes a; f stands alone."""
    ids = {name: make(name) for name in "abcdef"}
    for source, target in ("ab", "bd", "ad", "cd"):
        concepts.change.relate(ids[source], ids[target], "prerequisite", strength=0.9 if source == "c" else 0.5)
    concepts.change.relate(ids["e"], ids["a"], "includes")
    return ids


def test_prerequisites_come_deepest_first_and_never_before_what_they_need(
    concepts: Concepts, course: dict[str, str]
) -> None:
    found = concepts.read.prerequisites(course["d"]).steps
    assert [(one.concept.name, one.depth) for one in found] == [("a", 2), ("b", 1), ("c", 1)]
    shallow = concepts.read.prerequisites(course["d"], max_depth=1).steps
    assert [(one.concept.name, one.depth) for one in shallow] == [("a", 1), ("b", 1), ("c", 1)]
    assert concepts.read.prerequisites(course["f"]).steps == []


def test_one_learning_order_serves_several_targets(concepts: Concepts, course: dict[str, str], make: Make) -> None:
    other = make("g")
    concepts.change.relate(course["c"], other, "prerequisite")
    concepts.change.relate(course["b"], other, "prerequisite")
    order = [one.concept.name for one in concepts.read.prerequisites(other, also=[course["d"], course["b"]]).steps]
    assert order == ["a", "b", "c"]


def test_related_concepts_are_nearest_first_with_distance_and_direction(
    concepts: Concepts, course: dict[str, str]
) -> None:
    def walk(name: str, **more: object) -> list[tuple[str, int]]:
        return [(hit.concept.name, hit.distance) for hit in concepts.read.related(course[name], **more)]

    assert walk("d", max_depth=1) == [("c", 1), ("a", 1), ("b", 1)]  # the strongest first
    assert walk("d") == [("c", 1), ("a", 1), ("b", 1), ("e", 2)]
    assert walk("a", direction="outgoing") == [("b", 1), ("d", 1)]
    assert walk("a", direction="incoming") == [("e", 1)]
    assert walk("e", relationship_type="includes", max_depth=5) == [("a", 1)]
    assert walk("d", limit=2) == [("c", 1), ("a", 1)]
    assert walk("f") == []


def test_a_chain_is_the_shortest_path_or_empty(concepts: Concepts, course: dict[str, str]) -> None:
    def chain(start: str, end: str, **more: object) -> str:
        return "".join(one.name for one in concepts.read.chain(course[start], course[end], **more))

    assert (chain("e", "d"), chain("d", "e")) == ("ead", "dae")
    assert chain("d", "e", direction="outgoing") == ""
    assert chain("e", "d", relationship_type="prerequisite") == ""
    assert (chain("a", "a"), chain("a", "f")) == ("a", "")
    with pytest.raises(NotFound):
        concepts.read.chain(course["a"], "nobody")


class Edges:
    """A graph port over a list."""

    def __init__(self, pairs: set[tuple[int, int]]) -> None:
        self.pairs = sorted(pairs)

    def edges(self, keys: list[int], direction: str, kind: object = None, *, deleted: bool = False) -> list[Edge]:
        out = [(s, t, n, 1.0) for n, (s, t) in enumerate(self.pairs) if s in keys and direction != "incoming"]
        return out + [(t, s, n, 1.0) for n, (s, t) in enumerate(self.pairs) if t in keys and direction != "outgoing"]


def distances(graph: Edges, start: int, direction: str) -> dict[int, int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        at = queue.popleft()
        for _, far, _, _ in graph.edges([at], direction):
            if far not in found:
                found[far] = found[at] + 1
                queue.append(far)
    return found


PAIRS = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] != pair[1]), max_size=25)


@given(PAIRS, st.sampled_from(["outgoing", "incoming", "both"]), st.integers(0, 9), st.integers(0, 9))
def test_walks_agree_with_a_plain_breadth_first_search(
    pairs: set[tuple[int, int]], direction: str, start: int, end: int
) -> None:
    graph = Edges(pairs)
    truth = distances(graph, start, direction)
    way = shortest(graph, start, end, direction, None)
    assert len(way) == (truth[end] + 1 if end in truth else 0)
    for one, other in pairwise(way):
        assert any(edge[1] == other for edge in graph.edges([one], direction))
    found = around(graph, start, direction, None, 3, 1_000)
    assert {step.key: step.distance for step in found} == {k: d for k, d in truth.items() if 0 < d <= 3}


@given(PAIRS, st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True))
def test_a_learning_order_respects_every_prerequisite(pairs: set[tuple[int, int]], targets: list[int]) -> None:
    graph = Edges({(min(pair), max(pair)) for pair in pairs})  # upwards only: no cycles
    needed, complete = before(graph, targets, 10, 100)
    assert complete
    assert set(needed) == {k for t in targets for k, d in distances(graph, t, "incoming").items() if d > 0}
    assert all(needed[s] > needed.get(t, 0) for s, t in graph.pairs if s in needed and (t in needed or t in targets))


def test_of_very_many_prerequisites_the_nearest_are_listed_and_said_to_be_some() -> None:
    graph = Edges(
        {(source, target) for target in range(90, 100) for source in range(90)} | {(n, 100) for n in range(90, 100)}
    )
    needed, complete = before(graph, [100], 10, 30)
    assert (len(needed), complete) == (30, False)
    assert set(range(90, 100)) <= set(needed)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=12))
def test_finding_names_agrees_with_looking_at_each(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bool]]
) -> None:
    room: Room = open_room(tmp_path_factory.mktemp("names"))
    known: dict[str, str] = {}
    for number, (letter, rename) in enumerate(steps):
        if rename and known:
            oldest = next(iter(known))
            known[oldest] = f"{letter}{number}"
            room.concepts.change.update(oldest, {"name": known[oldest]})
        else:
            made = room.concepts.change.create({"name": f"{letter}{number}", "explanation": "e"}).concept_id
            known[made] = f"{letter}{number}"
        for part in "abc1":
            expected = [name for name in reversed(known.values()) if part in name]
            assert names(room.concepts.read.exact(Selection(name=part))) == expected
    room.close()
