"""Who runs next."""

import threading
from collections.abc import Callable

import pytest

from trivium.sandbox.failures import SandboxBusy
from trivium.sandbox.turns import Turns


def queue_up(turns: Turns, callers: list[str], served: list[str]) -> list[threading.Thread]:
    """Lets callers queue in this order; each notes itself when its turn comes."""

    def ask(who: str) -> None:
        with turns.take(who, 60):
            served.append(who)

    threads = []
    for count, who in enumerate(callers, 1):
        thread = threading.Thread(target=ask, args=(who,))
        thread.start()
        until(lambda count=count: turns.waiting == count)  # type: ignore[misc]
        threads.append(thread)
    return threads


def until(holds: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(10_000):
        if holds():
            return
        pause.wait(0.005)
    raise AssertionError("it never came to be")


def test_callers_take_turns_however_many_one_of_them_sends() -> None:
    turns = Turns(1)
    served: list[str] = []
    with turns.take("holder", 1):
        threads = queue_up(turns, ["a", "a", "a", "a", "b", "c", "b"], served)
    for thread in threads:
        thread.join(60)
    assert served == ["a", "b", "c", "a", "b", "a", "a"]


def test_no_more_run_at_once_than_there_are_places() -> None:
    turns = Turns(3)
    inside, most = 0, 0
    lock = threading.Lock()

    def work(who: str) -> None:
        nonlocal inside, most
        for _ in range(20):
            with turns.take(who, 60):
                with lock:
                    inside += 1
                    most = max(most, inside)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=work, args=(str(number % 4),)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert 1 <= most <= 3
    assert turns.waiting == 0


def test_who_waits_too_long_is_told_and_takes_nobody_s_turn() -> None:
    turns = Turns(1)
    with turns.take("a", 1):
        with pytest.raises(SandboxBusy, match="no worker became free"), turns.take("b", 0.01):
            pass
        assert turns.waiting == 0
    with turns.take("b", 0.01) as waited:
        assert waited == 0


def test_a_full_queue_refuses_at_once() -> None:
    turns = Turns(1, most_waiting=0)
    with turns.take("a", 1), pytest.raises(SandboxBusy, match="are waiting already"), turns.take("b", 60):
        pass
