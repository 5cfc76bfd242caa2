"""What every ResultCache promises, run on each backend."""

import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from servers import Server, server_url

from trivium.backends.memory.results import MemoryResults
from trivium.backends.redis.connection import RedisConnection
from trivium.backends.redis.results import RedisResults
from trivium.ports.results import Codec, ResultCache

NUMBERS: Codec[int] = Codec(
    lambda value: str(value).encode(),
    lambda _, stored: int(stored) if stored.isdigit() else None,
    keeps=lambda value: value >= 0,
)
Opener = Callable[[], "ResultCache[int]"]


def on_redis(connection: RedisConnection, scope: str = "", ttl_s: float = 3600.0) -> RedisResults[int]:
    local: MemoryResults[tuple[int, bool]] = MemoryResults(10, ttl_s, keeps=lambda kept: NUMBERS.keeps(kept[0]))
    return RedisResults(connection, scope, ttl_s, NUMBERS, local)


@pytest.fixture
def connect() -> Iterator[Callable[[], RedisConnection]]:
    """Connections of one installation, as each of its processes would have."""
    secret, opened = uuid.uuid4().bytes, list[RedisConnection]()

    def connected() -> RedisConnection:
        opened.append(RedisConnection(server_url("redis"), secret))
        return opened[-1]

    yield connected
    for connection in opened:
        connection.close()


@pytest.fixture(params=["memory", "redis"])
def cache(request: pytest.FixtureRequest, connect: Callable[[], RedisConnection]) -> "ResultCache[int]":
    if request.param == "memory":
        return MemoryResults(10, 3600, keeps=NUMBERS.keeps)
    return on_redis(connect())


def test_a_value_is_computed_once_and_then_found(cache: "ResultCache[int]") -> None:
    assert cache.get(("q", 1), lambda: 7) == (7, False)
    assert cache.get(("q", 1), lambda: 8) == (7, True)
    assert cache.get(("q", 2), lambda: 9) == (9, False)


def test_what_is_cleared_is_computed_again(cache: "ResultCache[int]") -> None:
    cache.get("a", lambda: 1)
    cache.get("b", lambda: 2)
    assert cache.clear() == 2
    assert cache.get("a", lambda: 3) == (3, False)


def test_a_value_that_is_not_for_keeping_is_handed_out_and_forgotten(cache: "ResultCache[int]") -> None:
    assert cache.get("a", lambda: -1) == (-1, False)
    assert cache.get("a", lambda: 2) == (2, False)


def test_a_failure_is_raised_and_not_kept(cache: "ResultCache[int]") -> None:
    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get("a", fail)
    assert cache.get("a", lambda: 1) == (1, False)


def test_whoever_comes_meanwhile_waits_for_the_one_run(cache: "ResultCache[int]") -> None:
    started, go = threading.Event(), threading.Event()

    def slow() -> int:
        started.set()
        go.wait(60)
        return 5

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(cache.get, "a", slow)
        started.wait(60)
        with pytest.raises(TimeoutError):
            cache.get("a", lambda: 6, wait_s=0.01)
        others = [pool.submit(cache.get, "a", lambda: 6) for _ in range(3)]
        go.set()
        assert {future.result()[0] for future in [first, *others]} == {5}


def test_what_one_process_computed_another_finds(connect: Callable[[], RedisConnection]) -> None:
    one, other = on_redis(connect()), on_redis(connect())
    assert one.get("a", lambda: 1) == (1, False)
    assert other.get("a", lambda: 2) == (1, True)


def test_servers_with_other_settings_share_nothing(connect: Callable[[], RedisConnection]) -> None:
    one, other = on_redis(connect(), "rrf"), on_redis(connect(), "adaptive")
    one.get("a", lambda: 1)
    assert other.get("a", lambda: 2) == (2, False)


def test_processes_wait_for_the_one_that_computes(connect: Callable[[], RedisConnection]) -> None:
    one, other = on_redis(connect()), on_redis(connect())
    started, go = threading.Event(), threading.Event()

    def slow() -> int:
        started.set()
        go.wait(60)
        return 5

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(one.get, "a", slow)
        started.wait(60)
        with pytest.raises(TimeoutError):
            other.get("a", lambda: 6, wait_s=0.01)
        second = pool.submit(other.get, "a", lambda: 6)
        go.set()
        assert (first.result(), second.result()) == ((5, False), (5, True))


def test_bytes_that_someone_else_wrote_are_computed_again(connect: Callable[[], RedisConnection]) -> None:
    connection = connect()
    on_redis(connection).get("a", lambda: 1)
    name = connection.name("result", " 'a'")
    assert connection.run(lambda client: client.set(name, b"nonsense", xx=True))
    assert on_redis(connection).get("a", lambda: 2) == (2, False)


_DIES = """
import os, signal, sys
from test_results import on_redis
from trivium.backends.redis.connection import RedisConnection
on_redis(RedisConnection(sys.argv[1], b"one")).get("a", lambda: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_claim_of_a_killed_process_ends(own_redis: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    import redis

    environment = {"PYTHONPATH": str(Path(__file__).parent)}
    assert subprocess.run([sys.executable, "-c", _DIES, own_redis.url], env=environment).returncode < 0
    cache = on_redis(RedisConnection(own_redis.url, b"one"))
    with pytest.raises(TimeoutError):
        cache.get("a", lambda: 1, wait_s=0.01)
    with redis.Redis.from_url(own_redis.url) as client:
        [claim] = client.keys("*:claim")
        assert 0 < client.pttl(claim) <= 10_000
        client.pexpire(claim, 1)  # as if the lease had run out
    assert cache.get("a", lambda: 2) == (2, False)


def test_without_redis_a_process_caches_by_itself(own_redis: Server) -> None:
    clock = [0.0]
    connection = RedisConnection(own_redis.url, b"one", clock=lambda: clock[0])
    cache = on_redis(connection)
    cache.get("before", lambda: 1)
    own_redis.kill()
    assert cache.get("before", lambda: 2) == (1, True)
    assert cache.get("during", lambda: 3) == (3, False)
    assert cache.get("during", lambda: 4) == (3, True)
    assert connection.trouble
    assert cache.clear() == 2
    own_redis.start()
    clock[0] += 10
    assert cache.get("after", lambda: 5) == (5, False)
    assert connection.ping() is None
    assert on_redis(connection).get("after", lambda: 6) == (5, True)


def test_a_server_lost_in_the_middle_of_a_run_costs_nothing_but_the_sharing(own_redis: Server) -> None:
    cache = on_redis(RedisConnection(own_redis.url, b"one"))

    def lost() -> int:
        own_redis.kill()
        return 1

    assert cache.get("a", lost) == (1, False)
    assert cache.get("a", lambda: 2) == (1, True)
