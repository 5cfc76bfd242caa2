"""Projections elsewhere: whatever they do, no write is lost, nothing is half visible, and all of it converges."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from concept_rooms import Room, open_room
from trivium.backends.memory.concepts import MemoryConceptProjection
from trivium.concepts.room import Concepts
from trivium.errors import BackendUnavailable, NotFound
from trivium.model.concept import Item, item_id


class Remote(MemoryConceptProjection):
    """A real projection that can be told to misbehave."""

    def __init__(self) -> None:
        super().__init__("remote")
        self.down = False
        self.refused: set[str] = set()  # ids it cannot take
        self.twice = False
        self.gate = threading.Event()
        self.gate.set()
        self.calls = 0

    def apply(self, put: Sequence[Item], drop: Sequence[str]) -> None:
        self.calls += 1
        self.gate.wait(20)
        if self.down:
            raise BackendUnavailable("connection refused")
        if self.refused & {item_id(item) for item in put}:
            raise ValueError("cannot take this one")
        for _ in range(2 if self.twice else 1):
            super().apply(put, drop)

    def lose_everything(self) -> None:
        self._items.clear()


@dataclass
class Clock:
    now: datetime = field(default_factory=lambda: datetime(2026, 3, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def remote() -> Remote:
    return Remote()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room(tmp_path: Path, remote: Remote, clock: Clock) -> Iterator[Room]:
    room = open_room(tmp_path, [remote], clock=clock, timeout_s=0.05)
    yield room
    remote.gate.set()
    room.close()


def outbox(concepts: Concepts) -> tuple[int, int]:
    stats = concepts.stats()
    return stats.projections["remote"].pending, stats.outbox_failed


def same(concepts: Concepts, remote: Remote) -> bool:
    finding = concepts.check.verify().findings[-1]
    return finding.projection == "remote" and finding.consistent and finding.pending == 0


Make = Callable[..., str]


def test_a_projection_follows_the_log(concepts: Concepts, make: Make, remote: Remote) -> None:
    a, b = make("A"), make("B")
    link = concepts.change.relate(a, b, "includes").relationship_id
    assert outbox(concepts) == (3, 0)
    assert concepts.runner.run_once() == 3
    assert {one for one, _ in remote.contents()} == {a, b, link}
    concepts.change.unrelate(link)
    concepts.change.delete(a)
    concepts.runner.run_once()
    assert outbox(concepts) == (0, 0)
    assert same(concepts, remote)


def test_a_projection_that_is_down_blocks_no_write_and_catches_up(
    concepts: Concepts, make: Make, remote: Remote, clock: Clock
) -> None:
    remote.down = True
    made = make("A")
    assert concepts.runner.run_once() == 0
    assert concepts.read.get(made).name == "A"
    stats = concepts.stats()
    assert (stats.event_count, stats.projections["remote"].pending, stats.outbox_failed) == (1, 1, 0)
    assert "connection refused" in (stats.projections["remote"].error or "")
    remote.down = False
    assert concepts.runner.run_once() == 0  # not before it is due
    clock.forward(1.1)
    assert concepts.runner.run_once() == 1
    assert same(concepts, remote)


def test_attempts_are_made_later_and_later_and_the_third_failure_parks_the_event(
    concepts: Concepts, make: Make, remote: Remote, clock: Clock
) -> None:
    remote.down = True
    make("A")
    make("B")
    waits = []
    for _ in range(6):
        concepts.runner.run_once()
        due = concepts.runner.next_due()
        assert due is not None or outbox(concepts) == (0, 2)
        waits.append(round((due or clock().timestamp()) - clock().timestamp()))
        clock.forward(waits[-1])
    # The batch fails first and counts for nobody; then event by event.
    assert waits[:5] == [1, 2, 4, 8, 16]
    assert outbox(concepts) == (0, 2)
    parked = concepts.ledger.parked()
    assert [entry.position for entry in parked] == [1, 2]
    assert all("connection refused" in entry.error for entry in parked)
    assert not concepts.check.verify().consistent


def test_retry_replays_what_was_parked(concepts: Concepts, make: Make, remote: Remote, clock: Clock) -> None:
    remote.down = True
    made = make("A")
    for _ in range(3):
        concepts.runner.run_once()
        clock.forward(300)
    assert outbox(concepts) == (0, 1)
    assert [entry.stream for entry in concepts.runner.retry()] == [made]
    remote.down = False
    assert concepts.runner.retry() == []
    assert outbox(concepts) == (0, 0)
    assert same(concepts, remote)


def test_one_bad_event_is_parked_and_the_others_go_through(
    concepts: Concepts, make: Make, remote: Remote, clock: Clock
) -> None:
    good, bad, last = make("A"), make("B"), make("C")
    remote.refused = {bad}
    for _ in range(4):
        concepts.runner.run_once()
        clock.forward(300)
    assert outbox(concepts) == (0, 1)
    assert {one for one, _ in remote.contents()} == {good, last}
    remote.refused = set()
    concepts.change.update(bad, {"name": "fine"})
    concepts.runner.run_once()
    assert concepts.runner.retry("remote") == []
    assert same(concepts, remote)


def test_a_projection_that_hangs_blocks_no_write_and_is_not_called_again_meanwhile(
    concepts: Concepts, make: Make, remote: Remote, clock: Clock
) -> None:
    remote.gate.clear()
    made = make("A")
    concepts.runner.run_once()
    assert "did not answer within" in (concepts.stats().projections["remote"].error or "")
    clock.forward(2)
    concepts.runner.run_once()
    assert remote.calls == 1
    assert concepts.read.get(made).version == 1
    make("B")
    remote.gate.set()
    while outbox(concepts) != (0, 0):
        clock.forward(300)
        concepts.runner.run_once()
        concepts.runner.retry()
    assert same(concepts, remote)


def test_a_projection_that_does_everything_twice_ends_the_same(concepts: Concepts, make: Make, remote: Remote) -> None:
    remote.twice = True
    a, b = make("A"), make("B")
    concepts.change.unrelate(concepts.change.relate(a, b, "includes").relationship_id)
    concepts.change.relate(a, b, "includes")
    concepts.runner.run_once()
    assert same(concepts, remote)


def test_a_projection_that_loses_its_data_is_found_out_and_repaired(
    concepts: Concepts, make: Make, remote: Remote
) -> None:
    a, b = make("A"), make("B")
    concepts.change.relate(a, b, "includes")
    concepts.runner.run_once()
    remote.lose_everything()
    found = concepts.check.verify()
    assert not found.consistent
    assert len(found.findings[-1].missing) == 3
    assert concepts.check.verify(repair=True).consistent
    remote.lose_everything()
    concepts.check.rebuild("remote")
    assert same(concepts, remote)


def test_the_position_survives_a_restart(tmp_path: Path, remote: Remote) -> None:
    first = open_room(tmp_path, [remote])
    first.concepts.change.create({"name": "A", "explanation": "a"})
    first.concepts.runner.run_once()
    first.close()
    second = open_room(tmp_path, [remote])
    assert second.concepts.runner.behind() == {"remote": 0}
    assert second.concepts.runner.run_once() == 0
    second.close()


def test_the_background_thread_brings_projections_along_by_itself(tmp_path: Path) -> None:
    reached = threading.Event()

    class Telling(MemoryConceptProjection):
        def apply(self, put: Sequence[Item], drop: Sequence[str]) -> None:
            super().apply(put, drop)
            reached.set()

    room = open_room(tmp_path, [Telling()])
    room.concepts.upkeep.start()
    room.concepts.change.create({"name": "A", "explanation": "a"})
    assert reached.wait(20)
    room.close()


def test_the_background_thread_checks_by_itself_and_records_what_it_found(tmp_path: Path) -> None:
    room = open_room(tmp_path, check_every_s=0.0)
    checked = threading.Event()
    record = room.concepts.ledger.record

    def telling(snapshot: dict[str, object]) -> None:
        record(snapshot)
        checked.set()

    room.concepts.ledger.record = telling  # type: ignore[method-assign]
    room.concepts.upkeep.start()
    assert checked.wait(20)
    room.concepts.upkeep.stop()
    with room.database.read() as db:
        assert db.execute("SELECT MIN(consistent) FROM consistency_snapshots").fetchone() == (1,)
    room.close()


def test_an_unknown_projection_is_named_with_those_that_exist(concepts: Concepts) -> None:
    with pytest.raises(NotFound) as refused:
        concepts.runner.retry("nothing")
    assert refused.value.nearest == ["remote"]
    with pytest.raises(NotFound) as refused:
        concepts.check.rebuild("nothing")
    assert refused.value.nearest == ["graph", "text", "remote"]
