"""Queues that workers on several machines share: nothing is lost, nothing is done twice visibly."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest
from sql_databases import KINDS, postgresql_url

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.postgres.database import PostgresDatabase
from trivium.backends.postgres.jobs import Leases
from trivium.model.embedding import Vectors
from trivium.settings import Settings

Open = Callable[[], App]
MODEL = HashingEmbedder().model


class Counting(HashingEmbedder):
    """Counts what it is asked; fails as often as it is told to."""

    asked: list[str]
    failures = 0

    def __init__(self) -> None:
        super().__init__()
        self.asked = []

    def embed_passages(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        if self.failures:
            self.failures -= 1
            raise RuntimeError("the model gave up")
        self.asked += texts
        return super().embed_passages(texts)


@pytest.fixture(params=KINDS)
def open_worker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Counting], App]]:
    store = postgresql_url(tmp_path) if request.param == "postgresql" else ""
    opened: list[App] = []

    def make(embedder: Counting) -> App:
        opened.append(open_app(Settings(data=tmp_path, store=store, extractor="rules"), lambda name: embedder))
        return opened[-1]

    yield make
    for app in opened:
        app.close()


def fill(app: App, number: int) -> None:
    app.documents.add_texts("jobs", ((f"{i}.md", "", f"Acme Inc. builds thing number {i}.") for i in range(number)))


def test_workers_side_by_side_do_everything_and_nothing_twice(open_worker: Callable[[Counting], App]) -> None:
    embedders = [Counting() for _ in range(3)]
    workers = [open_worker(embedder) for embedder in embedders]
    fill(workers[0], 1200)
    stop = threading.Event()
    threads = [threading.Thread(target=worker.work, args=(stop,), kwargs={"once": True}) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = [text for embedder in embedders for text in embedder.asked]
    assert len(asked) == len(set(asked)) == 1200
    assert (workers[0].embedding.pending(), workers[0].extraction.pending()) == (0, 0)
    assert all(state.agrees for state in workers[0].check())


def test_work_that_failed_is_done_by_whoever_comes_next(open_worker: Callable[[Counting], App]) -> None:
    broken, sound = Counting(), Counting()
    broken.failures = 1
    first, second = open_worker(broken), open_worker(sound)
    fill(first, 5)
    with pytest.raises(RuntimeError):
        first.embedding.run()
    assert second.embedding.pending() == 5
    assert second.embedding.run() == 5  # on a server: after a moment's wait
    assert first.embedding.pending() == 0


@pytest.fixture
def databases(tmp_path: Path) -> Iterator[list[PostgresDatabase]]:
    url = postgresql_url(tmp_path)
    app = open_app(Settings(data=tmp_path, store=url, extractor="rules"), lambda name: HashingEmbedder())
    fill(app, 20)
    app.embedding.pending()
    app.close()
    made = [PostgresDatabase(url) for _ in range(2)]
    yield made
    for database in made:
        database.close()


def taken(leases: Leases, limit: int) -> list[int]:
    return leases.take("test", "extraction_queue", "TRUE", (), limit)


def test_a_job_is_leased_to_one(databases: list[PostgresDatabase]) -> None:
    one, other = (Leases(database) for database in databases)
    first, second = taken(one, 8), taken(other, 100)
    assert len(first) == 8
    assert sorted(first + second) == list(range(1, 21))
    assert taken(one, 100) == []
    one.close()
    assert taken(other, 100) == first


def test_a_lease_whose_worker_died_is_taken_over(databases: list[PostgresDatabase]) -> None:
    dead, alive = (Leases(database) for database in databases)
    lost = taken(dead, 8)
    with psycopg.connect(databases[0].url, autocommit=True) as connection:  # no heartbeat came for a while
        connection.execute("UPDATE job_leases SET until = now() - interval '1 second'")
    assert taken(alive, 8) == lost
    assert alive.held() == {"test": 8}


def test_what_failed_waits_longer_each_time(databases: list[PostgresDatabase]) -> None:
    leases = Leases(databases[0])
    waits = []
    for _ in range(4):
        with leases.working():
            assert taken(leases, 1) == [1]
        with psycopg.connect(databases[0].url, autocommit=True) as connection:
            row = connection.execute("SELECT until - now(), attempts FROM job_leases WHERE job = 1").fetchone()
            assert row is not None
            waits.append(round(row[0].total_seconds() / 2 ** (row[1] - 1)))
            connection.execute("UPDATE job_leases SET until = now()")
    assert np.unique(waits).tolist() == [1]


def test_a_heartbeat_keeps_what_takes_long(databases: list[PostgresDatabase]) -> None:
    slow, other = Leases(databases[0], lease_s=0.3), Leases(databases[1])
    mine = taken(slow, 5)
    with psycopg.connect(databases[0].url, autocommit=True) as connection:
        first = connection.execute("SELECT MIN(until) FROM job_leases").fetchone()
        while connection.execute("SELECT MIN(until) FROM job_leases").fetchone() == first:
            """The heartbeat comes every tenth of a second, or later on a busy machine."""
    slow.close()
    assert taken(other, 5) == mine
