"""What every LimitStore and ConductStore promises, run on each backend.

Windows are so long that no machine is too slow for them, or so short that everyone outlives them.
"""

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import VARIABLE, Server, server_url
from sql_databases import postgresql_url

from trivium.backends.redis.connection import RedisConnection
from trivium.backends.redis.limits import RedisConductStore, RedisLimitStore
from trivium.backends.sqlite.database import Database
from trivium.backends.sqlite.limits import SqliteConductStore, SqliteLimitStore
from trivium.ports.limits import Bucket, ConductStore, LimitStore

NOW = 1_000_000_000.0
LONG_S = 3600.0


@dataclass
class Stores:
    limits: LimitStore
    conduct: ConductStore
    waits: Callable[[Bucket], float]  # the moment at which the bucket's window is over


def on_sqlite(folder: Path) -> tuple[SqliteLimitStore, SqliteConductStore]:
    database = Database(folder / "guard.db", durable=False)
    return SqliteLimitStore(database), SqliteConductStore(database)


def on_redis(url: str, folder: Path, secret: bytes) -> tuple[RedisLimitStore, RedisConductStore]:
    limits, conduct = on_sqlite(folder)
    connection = RedisConnection(url, secret)
    return RedisLimitStore(connection, limits), RedisConductStore(connection, conduct)


def on_postgresql(folder: Path) -> tuple[LimitStore, ConductStore]:
    from trivium.guard_stores import open_guard
    from trivium.settings import Settings

    opened = open_guard(Settings(data=folder, store=postgresql_url(folder)))
    return opened.limits, opened.conduct


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    if request.param != "redis":
        made = on_sqlite if request.param == "sqlite" else on_postgresql
        yield Stores(*made(tmp_path), waits=lambda bucket: NOW + bucket.window_s)
        return
    limits, conduct = on_redis(server_url("redis"), tmp_path, uuid.uuid4().bytes)

    def waits(bucket: Bucket) -> float:
        while not limits.peek([bucket], NOW).allowed:
            pass
        return NOW

    yield Stores(limits, conduct, waits)


def bucket(limit: int, subject: str = "key:a", tier: str = "minute", window_s: float = LONG_S) -> Bucket:
    return Bucket(subject, tier, limit, window_s)


def test_a_bucket_gives_as_many_tokens_as_it_holds(stores: Stores) -> None:
    taken = [stores.limits.take([bucket(3)], NOW) for _ in range(5)]
    assert [one.allowed for one in taken] == [True, True, True, False, False]
    assert [one.states[0].remaining for one in taken] == [2, 1, 0, 0, 0]
    assert all(NOW < one.states[0].resets_at <= NOW + LONG_S for one in taken)


def test_where_one_bucket_is_empty_none_gives(stores: Stores) -> None:
    small, large = bucket(1), bucket(5, tier="day")
    stores.limits.take([small, large], NOW)
    refused = stores.limits.take([large, small], NOW)
    assert not refused.allowed
    assert [state.remaining for state in refused.states] == [4, 0]
    assert stores.limits.peek([large], NOW).states[0].remaining == 4


def test_peeking_takes_nothing(stores: Stores) -> None:
    for _ in range(4):
        assert stores.limits.peek([bucket(1)], NOW).states[0].remaining == 1
    assert stores.limits.take([bucket(1)], NOW).allowed
    assert not stores.limits.peek([bucket(1)], NOW).allowed


def test_subjects_and_tiers_have_buckets_of_their_own(stores: Stores) -> None:
    assert stores.limits.take([bucket(1)], NOW).allowed
    assert stores.limits.take([bucket(1, subject="key:b")], NOW).allowed
    assert stores.limits.take([bucket(1, tier="hour")], NOW).allowed
    assert not stores.limits.take([bucket(1)], NOW).allowed


def test_a_bucket_is_full_again_after_its_window(stores: Stores) -> None:
    short = bucket(1, window_s=0.01)
    assert stores.limits.take([short], NOW).allowed
    assert stores.limits.take([short], stores.waits(short)).allowed


def test_a_bucket_that_would_outlast_its_window_starts_anew(stores: Stores) -> None:
    stores.limits.take([bucket(1, window_s=LONG_S)], NOW)
    assert stores.limits.take([bucket(1, window_s=60.0)], NOW).allowed


def test_no_buckets_limit_nobody(stores: Stores) -> None:
    assert stores.limits.take([], NOW).allowed


def test_different_results_are_counted_once_and_failures_each_time(stores: Stores) -> None:
    subjects = ["key:a", "address:192.0.2.1"]
    for _ in range(3):
        stores.conduct.note(subjects, range(100), False, NOW)
    noted = stores.conduct.note(["key:a"], ["x"], True, NOW)[0]
    assert noted.failures == 1
    assert noted.distinct_results == pytest.approx(101, rel=0.05)
    seen = stores.conduct.look([*subjects, "key:unknown"], NOW)
    assert [one.failures for one in seen] == [1, 0, 0]
    assert seen[1].distinct_results == pytest.approx(100, rel=0.05)
    assert seen[2].distinct_results == 0


_TAKES = """
import sys, pathlib
from test_limits import NOW, bucket, on_redis
limits, _ = on_redis(sys.argv[1], pathlib.Path(sys.argv[2]), bytes.fromhex(sys.argv[3]))
print(sum(limits.take([bucket(150), bucket(1000, tier="day")], NOW + float(sys.argv[4])).allowed for _ in range(80)))
"""


def test_limits_are_exact_across_processes_whose_clocks_differ(redis_url: str, tmp_path: Path) -> None:
    secret = uuid.uuid4().hex
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _TAKES, redis_url, str(tmp_path), secret, str(skew)],
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(Path(__file__).parent)},
        )
        for skew in (-100_000, 0, 100_000)
    ]
    assert sum(int(process.communicate(timeout=120)[0]) for process in running) == 150


_TAKES_FROM_POSTGRESQL = """
import sys, pathlib
from test_limits import NOW, bucket, on_postgresql
limits, _ = on_postgresql(pathlib.Path(sys.argv[1]))
print(sum(limits.take([bucket(150), bucket(1000, tier="day")], NOW).allowed for _ in range(80)))
"""


def test_limits_are_exact_across_processes_on_postgresql(tmp_path: Path) -> None:
    on_postgresql(tmp_path)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _TAKES_FROM_POSTGRESQL, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(Path(__file__).parent), VARIABLE: os.environ[VARIABLE]},
        )
        for _ in range(3)
    ]
    assert sum(int(process.communicate(timeout=120)[0]) for process in running) == 150


@settings(max_examples=10, deadline=None)
@given(asked=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=30), limit=st.integers(1, 4))
def test_redis_answers_as_sqlite_does(asked: list[tuple[int, bool]], limit: int) -> None:
    url = server_url("redis")
    with tempfile.TemporaryDirectory() as folder:
        embedded, _ = on_sqlite(Path(folder))
        shared, _ = on_redis(url, Path(folder), uuid.uuid4().bytes)
        for subject, takes in asked:
            both = [bucket(limit, subject=f"key:{subject}"), bucket(3 * limit, subject="all", tier="day")]
            one, other = [(store.take if takes else store.peek)(both, NOW) for store in (embedded, shared)]
            assert one.allowed == other.allowed
            assert [state.remaining for state in one.states] == [state.remaining for state in other.states]


def test_installations_on_one_server_do_not_meet(redis_url: str, tmp_path: Path) -> None:
    for number in range(2):
        limits, _ = on_redis(redis_url, tmp_path, f"secret {number} {tmp_path}".encode()[:64])
        assert limits.take([bucket(1)], NOW).allowed


def test_without_redis_each_process_counts_by_itself_and_with_it_all_count_together(
    own_redis: Server, tmp_path: Path
) -> None:
    connections = [RedisConnection(own_redis.url, b"one", clock=lambda: clock[0]) for _ in range(2)]
    clock = [0.0]
    stores = []
    for number, connection in enumerate(connections):
        (tmp_path / str(number)).mkdir()
        stores.append(RedisLimitStore(connection, on_sqlite(tmp_path / str(number))[0]))
    assert [store.take([bucket(1)], NOW).allowed for store in stores] == [True, False]
    own_redis.kill()
    assert [store.take([bucket(1)], NOW).allowed for store in stores] == [True, True]
    assert [store.take([bucket(1)], NOW).allowed for store in stores] == [False, False]
    assert all(connection.trouble for connection in connections)
    own_redis.start()
    clock[0] += 10
    assert [store.take([bucket(1)], NOW).allowed for store in stores] == [True, False]
    assert not any(connection.trouble for connection in connections)


def test_a_flushed_server_counts_from_nothing(own_redis: Server, tmp_path: Path) -> None:
    import redis

    limits, conduct = on_redis(own_redis.url, tmp_path, b"one")
    assert [limits.take([bucket(1)], NOW).allowed for _ in range(2)] == [True, False]
    with redis.Redis.from_url(own_redis.url) as client:
        client.flushall()
        client.script_flush()
    assert limits.take([bucket(1)], NOW).allowed
    assert conduct.look(["key:a"], NOW)[0].failures == 0
