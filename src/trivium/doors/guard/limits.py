"""Which limits apply to a call, and what a refusal says."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trivium.doors.guard.caller import Caller
from trivium.errors import RateLimited
from trivium.ports.limits import Bucket, LimitStore, Taken

MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class LimitNumbers:
    """Zero switches a limit off."""

    stdio: tuple[int, int]  # a minute, an hour
    http_read: tuple[int, int]
    http_write: tuple[int, int]
    day: int
    address_minute: int
    auth_minute: int
    admin_bypass: bool = False


@dataclass(frozen=True, slots=True)
class Quota:
    """What a caller has left, for headers and error bodies. `limit` and `resets_at` are the tightest bucket's."""

    limit: int
    remaining: Mapping[str, int]
    resets_at: float

    @property
    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(min(self.remaining.values(), default=0)),
            "X-RateLimit-Reset": str(math.ceil(self.resets_at)),
        }


class Exhausted(RateLimited):
    """A refusal with what a web server says about it."""

    def __init__(self, quota: Quota, wait_s: int) -> None:
        super().__init__(quota.remaining, wait_s)
        self.headers = quota.headers | {"Retry-After": str(wait_s)}


class Limits:
    def __init__(self, store: LimitStore, numbers: LimitNumbers, clock: Callable[[], float] = time.time) -> None:
        self._store, self._numbers, self._clock = store, numbers, clock

    def take(self, caller: Caller, writes: bool) -> Quota | None:
        """Counts one call; Exhausted where a bucket is empty. None: the caller is not limited."""
        if self._numbers.admin_bypass and caller.may("admin"):
            return None
        return self._take(self._buckets(caller, writes))

    def take_address(self, address: str) -> Quota | None:
        """Counts one request from an address, whatever it wants."""
        return self._take([Bucket(f"address:{address}", "minute", self._numbers.address_minute, MINUTE_S)])

    def check_auth(self, address: str) -> None:
        """RateLimited where this address has failed to authenticate too often."""
        buckets = self._auth(address)
        taken = self._store.peek(buckets, self._clock())
        if not taken.allowed:
            raise self._refusal(buckets, taken)

    def auth_failed(self, address: str) -> None:
        self._store.take(self._auth(address), self._clock())

    def _auth(self, address: str) -> list[Bucket]:
        number = self._numbers.auth_minute
        return [Bucket(f"address:{address}", "auth", number, MINUTE_S)] if number else []

    def _buckets(self, caller: Caller, writes: bool) -> list[Bucket]:
        if caller.transport == "http":
            minute, hour = self._numbers.http_write if writes else self._numbers.http_read
            kind = "write-" if writes else "read-"
        else:
            (minute, hour), kind = self._numbers.stdio, ""
        return [
            Bucket(caller.subject, f"{kind}minute", minute, MINUTE_S),
            Bucket(caller.subject, f"{kind}hour", hour, HOUR_S),
            Bucket(caller.subject, "day", self._numbers.day, DAY_S),
        ]

    def _take(self, buckets: Sequence[Bucket]) -> Quota | None:
        buckets = [bucket for bucket in buckets if bucket.limit > 0]
        if not buckets:
            return None
        taken = self._store.take(buckets, self._clock())
        if not taken.allowed:
            raise self._refusal(buckets, taken)
        return _quota(buckets, taken)

    def _refusal(self, buckets: Sequence[Bucket], taken: Taken) -> Exhausted:
        quota = _quota(buckets, taken)
        wait = max(1, math.ceil(quota.resets_at - self._clock()))
        return Exhausted(quota, wait)


def _quota(buckets: Sequence[Bucket], taken: Taken) -> Quota:
    pairs = list(zip(buckets, taken.states, strict=True))
    # Of several empty buckets the last to fill decides when the next call can pass.
    tightest, state = min(pairs, key=lambda pair: (pair[1].remaining, -pair[1].resets_at))
    names = {bucket.tier.rpartition("-")[2]: one.remaining for bucket, one in pairs}
    return Quota(tightest.limit, names, state.resets_at)
