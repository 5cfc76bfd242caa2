"""LimitStore and ConductStore on Redis, exact across every process on every machine.

The server counts and keeps the time: a bucket is a number that expires, and a script takes from several of them or from
none. So neither a race nor a clock that jumps or differs between machines lets a caller through twice.
"""

from collections.abc import Iterable, Sequence

from trivium.backends.redis.connection import RedisConnection
from trivium.errors import BackendUnavailable
from trivium.ports.limits import Bucket, BucketState, Conduct, ConductStore, LimitStore, Taken

CONDUCT_WINDOW_S = 3600.0

# KEYS: the buckets. ARGV: "1" to take, then limit and window in ms of each. Answers whether all had one, then what each
# has left before and the ms until it is full again. A bucket that would last longer than its window (the setting was
# shortened) starts anew.
TAKE = """
local answer, allowed = {1}, true
for i, key in ipairs(KEYS) do
  local limit, window = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local used, ends = tonumber(redis.call('GET', key) or '0'), redis.call('PTTL', key)
  if ends < 0 or ends > window then
    if ends ~= -2 then redis.call('DEL', key) end
    used, ends = 0, window
  end
  if used >= limit then allowed = false end
  answer[2 * i], answer[2 * i + 1] = math.max(0, limit - used), ends
end
if not allowed then answer[1] = 0 return answer end
if ARGV[1] == '1' then
  for i, key in ipairs(KEYS) do
    if redis.call('INCR', key) == 1 then redis.call('PEXPIRE', key, ARGV[2 * i + 1]) end
  end
end
return answer
"""

# KEYS: of each subject a set of the results it saw and the number of its failures. ARGV: the window in ms, "1" if the
# call failed, the results.
NOTE = """
local answer = {}
for i = 1, #KEYS, 2 do
  if #ARGV > 2 then redis.call('PFADD', KEYS[i], unpack(ARGV, 3)) end
  if ARGV[2] == '1' then redis.call('INCR', KEYS[i + 1]) end
  for j = i, i + 1 do
    if redis.call('PTTL', KEYS[j]) == -1 then redis.call('PEXPIRE', KEYS[j], ARGV[1]) end
  end
  answer[i] = redis.call('PFCOUNT', KEYS[i])
  answer[i + 1] = tonumber(redis.call('GET', KEYS[i + 1]) or '0')
end
return answer
"""


class RedisLimitStore:
    """While Redis is away, `otherwise` counts."""

    def __init__(self, connection: RedisConnection, otherwise: LimitStore) -> None:
        self._connection, self._otherwise = connection, otherwise

    def take(self, buckets: Sequence[Bucket], now: float) -> Taken:
        try:
            return self._taken(buckets, now, takes=True)
        except BackendUnavailable:
            return self._otherwise.take(buckets, now)

    def peek(self, buckets: Sequence[Bucket], now: float) -> Taken:
        try:
            return self._taken(buckets, now, takes=False)
        except BackendUnavailable:
            return self._otherwise.peek(buckets, now)

    def prune(self, now: float) -> int:
        """Redis forgets by itself."""
        return self._otherwise.prune(now)

    def _taken(self, buckets: Sequence[Bucket], now: float, *, takes: bool) -> Taken:
        if not buckets:
            return Taken(True, ())
        names = [self._connection.name("limit", f"{bucket.subject} {bucket.tier}") for bucket in buckets]
        arguments: list[str | int] = ["1" if takes else "0"]
        for bucket in buckets:
            arguments += [bucket.limit, max(1, round(bucket.window_s * 1000))]
        allowed, *numbers = self._connection.script(TAKE, names, arguments)
        spent = 1 if takes and allowed else 0
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        return Taken(bool(allowed), tuple(BucketState(left - spent, now + ends / 1000) for left, ends in pairs))


class RedisConductStore:
    """Different results are counted by Redis' own estimate (HyperLogLog, within 1 %), 12 KiB a subject at most."""

    def __init__(self, connection: RedisConnection, otherwise: ConductStore) -> None:
        self._connection, self._otherwise = connection, otherwise

    def note(self, subjects: Sequence[str], results: Iterable[int | str], failed: bool, now: float) -> list[Conduct]:
        seen = list(results)
        try:
            return self._noted(subjects, seen, failed)
        except BackendUnavailable:
            return self._otherwise.note(subjects, seen, failed, now)

    def look(self, subjects: Sequence[str], now: float) -> list[Conduct]:
        try:
            return self._noted(subjects, (), False)
        except BackendUnavailable:
            return self._otherwise.look(subjects, now)

    def _noted(self, subjects: Sequence[str], results: Sequence[int | str], failed: bool) -> list[Conduct]:
        if not subjects:
            return []
        name = self._connection.name
        names = [name(kind, subject) for subject in subjects for kind in ("seen", "failures")]
        arguments = [round(CONDUCT_WINDOW_S * 1000), "1" if failed else "0", *map(str, results)]
        numbers = self._connection.script(NOTE, names, arguments)
        return [Conduct(seen, failures) for seen, failures in zip(numbers[::2], numbers[1::2], strict=True)]
