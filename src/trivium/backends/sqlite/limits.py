"""LimitStore and ConductStore on SQLite: a row a bucket, a row a subject.

SQLite's own locking makes the counts exact across processes of one machine. A call costs about 30 µs of CPU; a table in
shared memory would cost 6 µs, but needs its own format, locks and recovery (docs/decisions/limits.md).
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence

from trivium.ports.limits import Bucket, BucketState, Conduct, Taken
from trivium.ports.sql import SqlConnection, SqlDatabase

SCHEMA = (
    """
CREATE TABLE buckets (
  subject TEXT NOT NULL,
  tier TEXT NOT NULL,
  used INTEGER NOT NULL,
  ends REAL NOT NULL,
  PRIMARY KEY (subject, tier)
) WITHOUT ROWID;
CREATE TABLE conduct (
  subject TEXT PRIMARY KEY,
  ends REAL NOT NULL,
  failures INTEGER NOT NULL,
  seen BLOB NOT NULL
) WITHOUT ROWID;
""",
)
CONDUCT_WINDOW_S = 3600.0
_BITS = 1 << 15  # 4 KiB a subject; counts within 2 % up to 30 000 different results
_PRUNE_EVERY = 1000


class SqliteLimitStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self._calls = 0
        database.migrate("limits", SCHEMA)

    def take(self, buckets: Sequence[Bucket], now: float) -> Taken:
        self._calls += 1
        if self._calls % _PRUNE_EVERY == 0:
            self.prune(now)
        with self._database.transaction() as db:
            states = [_state(db, bucket, now) for bucket in buckets]
            if any(state.remaining < 1 for state in states):
                return Taken(False, tuple(states))
            db.executemany(
                "INSERT INTO buckets VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET used = excluded.used,"
                " ends = excluded.ends",
                [
                    (bucket.subject, bucket.tier, bucket.limit - state.remaining + 1, state.resets_at)
                    for bucket, state in zip(buckets, states, strict=True)
                ],
            )
        return Taken(True, tuple(BucketState(state.remaining - 1, state.resets_at) for state in states))

    def peek(self, buckets: Sequence[Bucket], now: float) -> Taken:
        with self._database.read() as db:
            states = tuple(_state(db, bucket, now) for bucket in buckets)
        return Taken(all(state.remaining >= 1 for state in states), states)

    def prune(self, now: float) -> int:
        with self._database.transaction() as db:
            db.execute("DELETE FROM conduct WHERE ends <= ?", (now,))
            return db.execute("DELETE FROM buckets WHERE ends <= ?", (now,)).rowcount


def _state(db: SqlConnection, bucket: Bucket, now: float) -> BucketState:
    row = db.execute(
        "SELECT used, ends FROM buckets WHERE subject = ? AND tier = ?", (bucket.subject, bucket.tier)
    ).fetchone()
    # An end further away than the window means the clock was set back: the bucket starts anew.
    if row is None or not now < row[1] <= now + bucket.window_s:
        return BucketState(bucket.limit, now + bucket.window_s)
    return BucketState(max(0, bucket.limit - row[0]), row[1])


LockSubjects = Callable[[SqlConnection, Sequence[str]], None]


def _alone_anyway(db: SqlConnection, subjects: Sequence[str]) -> None:
    """SQLite has one writer."""


class SqliteConductStore:
    """Different results are counted by a bitmap of hashes (linear counting), so a subject costs the same however much
    it collects."""

    def __init__(self, database: SqlDatabase, lock: LockSubjects = _alone_anyway) -> None:
        """`lock` keeps others from counting for the same subjects, where the database has more than one writer."""
        self._database, self._lock = database, lock
        database.migrate("limits", SCHEMA)

    def note(self, subjects: Sequence[str], results: Iterable[int | str], failed: bool, now: float) -> list[Conduct]:
        positions = {_position(result) for result in results}
        with self._database.transaction() as db:
            self._lock(db, subjects)
            return [_note(db, subject, positions, failed, now) for subject in subjects]

    def look(self, subjects: Sequence[str], now: float) -> list[Conduct]:
        with self._database.read() as db:
            return [_conduct(*_row(db, subject, now)[1:]) for subject in subjects]


def _position(result: int | str) -> int:
    # Not a checksum: ids in a row would fall too evenly, and the count would come out too high.
    return int.from_bytes(hashlib.blake2b(str(result).encode(), digest_size=4).digest()) % _BITS


def _row(db: SqlConnection, subject: str, now: float) -> tuple[float, int, bytes]:
    row = db.execute("SELECT ends, failures, seen FROM conduct WHERE subject = ?", (subject,)).fetchone()
    if row is None or not now < row[0] <= now + CONDUCT_WINDOW_S:
        return now + CONDUCT_WINDOW_S, 0, b""
    return row[0], row[1], bytes(row[2])


def _note(db: SqlConnection, subject: str, positions: set[int], failed: bool, now: float) -> Conduct:
    ends, failures, seen = _row(db, subject, now)
    bitmap = bytearray(seen) if seen else bytearray(_BITS // 8)
    for position in positions:
        bitmap[position >> 3] |= 1 << (position & 7)
    failures += failed
    fresh = bytes(bitmap) if positions or seen else b""
    if failed or fresh != seen:
        db.execute("INSERT OR REPLACE INTO conduct VALUES (?, ?, ?, ?)", (subject, ends, failures, fresh))
    return _conduct(failures, fresh)


def _conduct(failures: int, seen: bytes) -> Conduct:
    if not seen:
        return Conduct(0, failures)
    free = _BITS - int.from_bytes(seen, "little").bit_count()
    return Conduct(round(_BITS * math.log(_BITS / max(free, 1))), failures)
