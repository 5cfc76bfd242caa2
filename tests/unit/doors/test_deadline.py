"""A deadline stops the work itself."""

import threading
import time

import pytest

from trivium.doors.guard.deadline import Deadline, Reaper, Stoppable
from trivium.errors import DeadlineExceeded


def test_work_that_never_ends_is_stopped() -> None:
    counted = [0]

    def forever() -> None:
        while True:
            counted[0] += 1

    deadline, work = Deadline(0.05), Stoppable()
    Reaper().watch(work, deadline)
    with pytest.raises(DeadlineExceeded, match=r"longer than 0\.05 s"):
        work.run(forever, deadline)
    reached = counted[0]
    assert reached > 0
    assert counted[0] == reached


def test_work_that_swallows_every_exception_is_stopped_too() -> None:
    def stubborn() -> None:
        while True:
            try:
                sum(range(100))
            except Exception:
                continue

    deadline, work = Deadline(0.05), Stoppable()
    Reaper().watch(work, deadline)
    with pytest.raises(DeadlineExceeded):
        work.run(stubborn, deadline)


def test_work_in_time_is_left_alone_and_so_is_what_the_thread_does_next() -> None:
    reaper = Reaper()
    for number in range(200):
        deadline, work = Deadline(30), Stoppable()
        reaper.watch(work, deadline)
        assert work.run(lambda value=number: value, deadline) == number
        work.stop()
    assert sum(range(1000)) == 499_500


def test_stopping_at_the_last_moment_never_leaks_into_later_work() -> None:
    """Races the end of the work against the stop, many times: either outcome is fine, a late exception is not."""
    for _ in range(300):
        deadline, work = Deadline(30), Stoppable()
        stopper = threading.Thread(target=work.stop)
        try:
            work.run(lambda one=stopper: one.start() or sum(range(200)), deadline)
        except DeadlineExceeded:
            pass
        stopper.join()
        assert [number * 2 for number in range(50)][-1] == 98


def test_check_raises_only_after_the_deadline() -> None:
    Deadline(60).check()
    late = Deadline(0.0)
    with pytest.raises(DeadlineExceeded):
        late.check()
    assert late.left_s == 0
    assert Deadline(60).left_s <= 60


def test_many_deadlines_are_kept_in_order() -> None:
    reaper, works = Reaper(), [Stoppable() for _ in range(5)]
    for number, work in enumerate(works):
        reaper.watch(work, Deadline(60 - number if number < 4 else 0.01))
    patience = time.monotonic() + 5
    while not works[4]._stopped and time.monotonic() < patience:
        threading.Event().wait(0.005)
    assert [work._stopped for work in works] == [False] * 4 + [True]
