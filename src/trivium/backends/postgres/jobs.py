"""Work that waits in the database, shared out among any number of workers on any number of machines.

A worker leases what it takes: `SKIP LOCKED` lets workers that come at once pass each other, the key of the lease lets
one of them have a job, and a heartbeat renews the lease while its worker lives. A job leaves its queue in the
transaction that stores its result. A lease that ran out (its worker died, or was cut off) is taken over; of two results
for one job only the first is stored. A job that failed waits before it is tried again, longer each time. All by the
server's clock.
"""

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from trivium.backends.postgres.database import PostgresDatabase
from trivium.errors import TriviumError
from trivium.model.embedding import EmbeddingModel, Vector
from trivium.model.vendor import Extraction
from trivium.ports.embedding_queue import EmbeddingQueue, Waiting
from trivium.ports.vendor_graph import ExtractionQueue, FactBatch, WaitingChunk

SCHEMA = (
    """-- PostgreSQL
CREATE TABLE job_leases (
  kind TEXT COLLATE "C" NOT NULL,
  job BIGINT NOT NULL,
  worker TEXT COLLATE "C" NOT NULL,
  until TIMESTAMPTZ NOT NULL,
  attempts INTEGER NOT NULL,
  PRIMARY KEY (kind, job)
);
CREATE INDEX job_leases_by_worker ON job_leases (worker);
""",
)
LEASE_S = 60.0
FIRST_RETRY_S = 1.0
LONGEST_RETRY_S = 300.0


class Leases:
    """Those of one process; each of its threads is a worker."""

    def __init__(self, database: PostgresDatabase, lease_s: float = LEASE_S) -> None:
        self._database, self._lease_s = database.without_turns(), lease_s
        self._process = uuid.uuid4().hex
        self._beating = threading.Lock()
        self._stop: threading.Event | None = None
        database.migrate("jobs", SCHEMA)

    def take(self, kind: str, table: str, condition: str, values: Sequence[object], limit: int) -> list[int]:
        """Up to `limit` chunks of those in `table`, lowest first, which nobody else has."""
        with self._database.transaction() as db:
            rows = db.execute(
                f"SELECT chunk_id FROM {table} WHERE {condition} AND NOT EXISTS (SELECT 1 FROM job_leases l"
                f" WHERE l.kind = ? AND l.job = {table}.chunk_id AND l.until > now())"
                f" ORDER BY chunk_id LIMIT ? FOR UPDATE OF {table} SKIP LOCKED",
                (*values, kind, limit),
            )
            leased = db.execute(
                "INSERT INTO job_leases SELECT ?, job, ?, now() + make_interval(secs => ?), 1"
                " FROM unnest(?::bigint[]) AS job ON CONFLICT (kind, job) DO UPDATE SET worker = excluded.worker,"
                " until = excluded.until, attempts = job_leases.attempts + 1 WHERE job_leases.until <= now()"
                " RETURNING job",
                (kind, self._worker, self._lease_s, [row[0] for row in rows]),
            )
            jobs = sorted(row[0] for row in leased)
        if jobs:
            self._keep_alive()
        return jobs

    def done(self, kind: str, jobs: Sequence[int]) -> None:
        """Joins the transaction that stores their results."""
        with self._database.transaction() as db:
            db.execute("DELETE FROM job_leases WHERE kind = ? AND job = ANY(?)", (kind, list(jobs)))

    @contextmanager
    def working(self) -> Iterator[bool]:
        """What this thread still holds at the end has failed: it waits before anybody tries again."""
        try:
            yield True
        finally:
            with suppress(TriviumError), self._database.transaction() as db:
                db.execute(
                    "UPDATE job_leases SET worker = '', until = now() + make_interval(secs =>"
                    " LEAST(?, ? * pow(2, LEAST(attempts, 20) - 1))) WHERE worker = ?",
                    (LONGEST_RETRY_S, FIRST_RETRY_S, self._worker),
                )

    def held(self) -> dict[str, int]:
        """How many jobs of each kind some worker has now."""
        with self._database.read() as db:
            rows = db.execute("SELECT kind, COUNT(*) FROM job_leases WHERE until > now() GROUP BY kind ORDER BY kind")
            return dict(rows.fetchall())

    def close(self) -> None:
        """Lets go of everything this process has."""
        with self._beating:
            if self._stop is None:
                return
            self._stop.set()
        with suppress(TriviumError), self._database.transaction() as db:
            db.execute("DELETE FROM job_leases WHERE worker LIKE ?", (f"{self._process}-%",))

    @property
    def _worker(self) -> str:
        return f"{self._process}-{threading.get_ident()}"

    def _keep_alive(self) -> None:
        with self._beating:
            if self._stop is None:
                self._stop = threading.Event()
                threading.Thread(target=self._beat, args=(self._stop,), name="heartbeat", daemon=True).start()

    def _beat(self, stop: threading.Event) -> None:
        while not stop.wait(self._lease_s / 3):
            with suppress(TriviumError), self._database.transaction() as db:  # a beat that is missed is made up for
                db.execute(
                    "UPDATE job_leases SET until = now() + make_interval(secs => ?) WHERE worker LIKE ?",
                    (self._lease_s, f"{self._process}-%"),
                )


class SharedEmbeddingQueue:
    """An EmbeddingQueue whose chunks several workers share out; `inner` keeps everything but the leases."""

    def __init__(
        self,
        inner: EmbeddingQueue,
        waiting: Callable[[EmbeddingModel, Sequence[int]], list[Waiting]],
        database: PostgresDatabase,
        leases: Leases,
    ) -> None:
        self._inner, self._waiting, self._database, self._leases = inner, waiting, database, leases

    def pending(self, model: EmbeddingModel) -> int:
        return self._inner.pending(model)

    def take(self, model: EmbeddingModel, limit: int) -> list[Waiting]:
        number = "model_id = (SELECT model_id FROM models WHERE name = ? AND dimension = ?)"
        jobs = self._leases.take(_kind(model), "embedding_queue", number, (model.name, model.dimension), limit)
        return self._waiting(model, jobs) if jobs else []

    def cached(self, model: EmbeddingModel, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
        return self._inner.cached(model, hashes)

    def store(
        self,
        model: EmbeddingModel,
        vectors: Mapping[bytes, Vector],
        passages: Sequence[tuple[Waiting, Sequence[bytes]]],
    ) -> None:
        with self._database.transaction():
            self._inner.store(model, vectors, passages)
            self._leases.done(_kind(model), [waiting.chunk_id for waiting, _ in passages])

    def enqueue_all(self, model: EmbeddingModel) -> int:
        return self._inner.enqueue_all(model)


class SharedExtractionQueue:
    """An ExtractionQueue whose chunks several workers share out. `requeue` puts back what another extractor read."""

    def __init__(
        self,
        inner: ExtractionQueue,
        requeue: Callable[[str], None],
        waiting: Callable[[Sequence[int]], list[WaitingChunk]],
        database: PostgresDatabase,
        leases: Leases,
    ) -> None:
        self._inner, self._requeue, self._waiting = inner, requeue, waiting
        self._database, self._leases = database, leases

    def pending(self, extractor: str) -> int:
        return self._inner.pending(extractor)

    def take(self, extractor: str, limit: int) -> list[WaitingChunk]:
        self._requeue(extractor)
        jobs = self._leases.take(f"extract {extractor}", "extraction_queue", "TRUE", (), limit)
        return self._waiting(jobs) if jobs else []

    def cached(self, extractor: str, hashes: Sequence[bytes]) -> dict[bytes, Extraction]:
        return self._inner.cached(extractor, hashes)

    def store(
        self,
        extractor: str,
        extractions: Mapping[bytes, Extraction],
        done: Sequence[int],
        batches: Sequence[FactBatch],
    ) -> None:
        with self._database.transaction():
            self._inner.store(extractor, extractions, done, batches)
            self._leases.done(f"extract {extractor}", done)


def _kind(model: EmbeddingModel) -> str:
    return f"embed {model.name} {model.dimension}"
