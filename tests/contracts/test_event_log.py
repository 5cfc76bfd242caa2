"""What every event log promises."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sql_databases import KINDS, open_database

from trivium.backends.sqlite.concept_events import SqliteEventLog
from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.errors import Conflict, TriviumError
from trivium.model.concept import (
    ConceptCreated,
    ConceptDeleted,
    ConceptUpdated,
    Pending,
    RelationshipCreated,
    RelationshipDeleted,
)
from trivium.ports.events import EventLog
from trivium.ports.sql import SqlDatabase

MADE = ConceptCreated({"name": "A", "explanation": "größer → 1"})
EVENTS = [
    Pending("c1", 1, MADE),
    Pending("c1", 2, ConceptUpdated({"name": "B", "area": None, "certainty_score": 1.5})),
    Pending("rel-1", 1, RelationshipCreated("c1", "c2", "includes", 0.25, "why")),
    Pending("c1", 3, ConceptDeleted()),
    Pending("c1", 4, ConceptUpdated({}, restored=True)),
    Pending("rel-1", 2, RelationshipDeleted()),
]


class Clock:
    """Goes where it is told, backwards too."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(params=KINDS)
def open_log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Clock], EventLog]]:
    opened: list[SqlDatabase] = []

    def open_one(clock: Clock) -> EventLog:
        opened.append(open_database(request.param, tmp_path))
        return SqliteEventLog(ConceptTables(opened[-1]), clock)

    yield open_one
    for database in opened:
        database.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(open_log: Callable[[Clock], EventLog], clock: Clock) -> EventLog:
    return open_log(clock)


def test_positions_start_at_one_and_have_no_gaps(log: EventLog) -> None:
    assert log.head() == 0
    assert [event.position for event in log.append(EVENTS)] == [1, 2, 3, 4, 5, 6]
    assert log.append([Pending("c2", 1, MADE)])[0].position == 7
    assert log.head() == 7


def test_events_read_back_as_they_were_written(log: EventLog, open_log: Callable[[Clock], EventLog]) -> None:
    written = log.append(EVENTS)
    assert log.read(0, 100) == written
    assert open_log(Clock()).read(0, 100) == written
    assert [event.event for event in written] == [event.event for event in EVENTS]


def test_reading_goes_on_after_a_position(log: EventLog) -> None:
    written = log.append(EVENTS)
    assert log.read(2, 3) == written[2:5]
    assert log.read(6, 3) == []


def test_a_stream_is_the_history_of_one_thing(log: EventLog) -> None:
    written = log.append(EVENTS)
    assert log.stream("c1") == [written[0], written[1], written[3], written[4]]
    assert log.stream("nobody") == []


def test_a_version_that_is_taken_is_a_conflict_and_nothing_of_the_batch_stays(log: EventLog) -> None:
    log.append(EVENTS[:2])
    with pytest.raises(Conflict) as refused:
        log.append([Pending("c9", 1, MADE), Pending("c1", 2, ConceptDeleted())])
    assert refused.value.code == "VERSION_CONFLICT"
    assert (log.head(), log.stream("c9")) == (2, [])


def test_what_is_raised_inside_exclusive_takes_everything_back(log: EventLog) -> None:
    def fail() -> None:
        with log.exclusive():
            log.append(EVENTS[:1])
            assert log.head() == 1  # inside, one's own writes are seen
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert log.head() == 0


def test_other_readers_see_nothing_before_the_end(log: EventLog, open_log: Callable[[Clock], EventLog]) -> None:
    other = open_log(Clock())
    with log.exclusive(), log.exclusive():
        log.append(EVENTS)
        assert other.head() == 0
    assert other.head() == 6


def test_two_writers_take_turns(log: EventLog, open_log: Callable[[Clock], EventLog]) -> None:
    logs = [log, open_log(Clock())]

    def write(number: int) -> None:
        for _ in range(20):
            with logs[number].exclusive():
                version = len(logs[number].stream("shared")) + 1
                logs[number].append([Pending("shared", version, MADE)])

    threads = [threading.Thread(target=write, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.version for event in log.stream("shared")] == list(range(1, 41))


def test_time_never_runs_backwards_in_the_log(log: EventLog, clock: Clock) -> None:
    (first,) = log.append(EVENTS[:1])
    clock.now -= timedelta(days=1)
    (second,) = log.append(EVENTS[1:2])
    clock.now += timedelta(days=2)
    (third,) = log.append(EVENTS[2:3])
    assert first.at == second.at == "2026-03-01T12:00:00.000Z"
    assert third.at == "2026-03-02T12:00:00.000Z"


@pytest.mark.parametrize("kind", KINDS)
def test_events_are_immutable(kind: str, tmp_path: Path) -> None:
    database = open_database(kind, tmp_path)
    SqliteEventLog(ConceptTables(database)).append(EVENTS)
    for statement in ("UPDATE concept_events SET body = '{}'", "DELETE FROM concept_events"):
        with pytest.raises(TriviumError, match="immutable"), database.transaction() as db:
            db.execute(statement)
    database.close()
