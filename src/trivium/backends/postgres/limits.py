"""LimitStore on PostgreSQL: exact across processes and machines, in one round trip.

The function locks the subjects it counts for, in order, and then looks: two calls of one caller wait for each other,
calls of different callers do not. The rows are those of the embedded store.
"""

from collections.abc import Sequence

from trivium.backends.postgres.database import PostgresDatabase
from trivium.ports.limits import Bucket, BucketState, Taken
from trivium.ports.sql import SqlConnection

SCHEMA = (
    """-- PostgreSQL
CREATE FUNCTION take_from_buckets(subjects TEXT[], tiers TEXT[], limits BIGINT[], windows DOUBLE PRECISION[],
  moment DOUBLE PRECISION, taking BOOLEAN, OUT remaining BIGINT[], OUT resets_at DOUBLE PRECISION[])
LANGUAGE plpgsql AS $body$
DECLARE
  one TEXT;
  bucket RECORD;
BEGIN
  IF taking THEN
    FOR one IN SELECT DISTINCT s FROM unnest(subjects) s ORDER BY s LOOP
      PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || '/bucket/' || one, 0));
    END LOOP;
  END IF;
  FOR i IN 1 .. cardinality(subjects) LOOP
    SELECT used, ends INTO bucket FROM buckets WHERE subject = subjects[i] AND tier = tiers[i];
    IF bucket.ends IS NULL OR NOT (moment < bucket.ends AND bucket.ends <= moment + windows[i]) THEN
      remaining[i] := limits[i];
      resets_at[i] := moment + windows[i];
    ELSE
      remaining[i] := GREATEST(0, limits[i] - bucket.used);
      resets_at[i] := bucket.ends;
    END IF;
  END LOOP;
  IF taking AND 0 < ALL (remaining) THEN
    FOR i IN 1 .. cardinality(subjects) LOOP
      INSERT INTO buckets VALUES (subjects[i], tiers[i], limits[i] - remaining[i] + 1, resets_at[i])
        ON CONFLICT (subject, tier) DO UPDATE SET used = excluded.used, ends = excluded.ends;
    END LOOP;
  END IF;
END $body$;
""",
)
_PRUNE_EVERY = 1000


def lock_subjects(db: SqlConnection, subjects: Sequence[str]) -> None:
    """Until the transaction ends, nobody else counts for these."""
    db.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/conduct/' || s, 0))"
        " FROM unnest(?::text[]) AS s ORDER BY s",
        (sorted(set(subjects)),),
    )


class PostgresLimitStore:
    """`database` has the tables of the embedded store and takes no lock of its own."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._calls = 0
        database.migrate("limits on PostgreSQL", SCHEMA)

    def take(self, buckets: Sequence[Bucket], now: float) -> Taken:
        self._calls += 1
        if self._calls % _PRUNE_EVERY == 0:
            self.prune(now)
        taken = self._asked(buckets, now, taking=True)
        if not taken.allowed:
            return taken
        return Taken(True, tuple(BucketState(state.remaining - 1, state.resets_at) for state in taken.states))

    def peek(self, buckets: Sequence[Bucket], now: float) -> Taken:
        return self._asked(buckets, now, taking=False)

    def prune(self, now: float) -> int:
        with self._database.transaction() as db:
            db.execute("DELETE FROM conduct WHERE ends <= ?", (now,))
            return db.execute("DELETE FROM buckets WHERE ends <= ?", (now,)).rowcount

    def _asked(self, buckets: Sequence[Bucket], now: float, *, taking: bool) -> Taken:
        if not buckets:
            return Taken(True, ())
        with self._database.statement() as db:
            row = db.execute(
                "SELECT remaining, resets_at FROM take_from_buckets(?, ?, ?, ?, ?, ? = 1)",
                (
                    [bucket.subject for bucket in buckets],
                    [bucket.tier for bucket in buckets],
                    [bucket.limit for bucket in buckets],
                    [float(bucket.window_s) for bucket in buckets],
                    float(now),
                    taking,
                ),
            ).fetchone()
        states = tuple(BucketState(int(left), float(at)) for left, at in zip(*row, strict=True))
        return Taken(all(state.remaining >= 1 for state in states), states)
