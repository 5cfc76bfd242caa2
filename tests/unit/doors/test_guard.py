"""Keys, limits, conduct, audit, addresses, breaker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.doors.guard.addresses import Addresses
from trivium.doors.guard.audit import Audit, redacted
from trivium.doors.guard.breaker import Breaker
from trivium.doors.guard.caller import Caller, local_owner
from trivium.doors.guard.conduct import ConductNumbers, Watch
from trivium.doors.guard.keys import Keys
from trivium.doors.guard.limits import Exhausted, LimitNumbers, Limits
from trivium.doors.guard.metrics import Metrics
from trivium.errors import AuthInvalid, AuthRequired, BackendUnavailable, InvalidInput, NotFound
from trivium.guard_stores import GuardStores, open_guard
from trivium.ports.audit import AuditEntry
from trivium.ports.limits import Bucket
from trivium.settings import Settings


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[GuardStores]:
    opened = open_guard(Settings(data=tmp_path))
    yield opened
    opened.close()


def test_a_key_is_kept_as_a_hash_only(stores: GuardStores, tmp_path: Path) -> None:
    text, stored = Keys(stores.keys).create("laptop", ["write"])
    stores.close()
    secret = text.split("_", 2)[2]  # it may hold underscores itself
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert secret.encode() not in everything
    assert stored.last_four == text[-4:]


def test_a_key_identifies_its_owner_with_its_scopes(stores: GuardStores) -> None:
    keys = Keys(stores.keys)
    text, _ = keys.create("laptop", ["write"])
    caller = keys.identify(text, "http", "192.0.2.1")
    assert caller.name == "laptop"
    assert (caller.may("read"), caller.may("write"), caller.may("admin")) == (True, True, False)


def test_no_key_a_wrong_key_and_an_expired_key_are_refused(stores: GuardStores, clock: Clock) -> None:
    keys = Keys(stores.keys, clock)
    text, _ = keys.create("short", expires_in_s=60)
    with pytest.raises(AuthRequired):
        keys.identify(None, "http")
    for wrong in (text[:-1], text + "x", "trv_", "trv__", "x", "trv_ü_ü", "\ud800"):
        with pytest.raises(AuthInvalid):
            keys.identify(wrong, "http")
    clock.now += 61
    with pytest.raises(AuthInvalid):
        keys.identify(text, "http")


def test_a_rotated_key_works_through_its_grace_and_no_longer(stores: GuardStores, clock: Clock) -> None:
    keys = Keys(stores.keys, clock)
    old, _ = keys.create("laptop", ["admin"])
    new, stored = keys.rotate("laptop", grace_s=30)
    assert stored.scopes == ("admin",)
    assert keys.identify(old, "http").name == keys.identify(new, "http").name == "laptop"
    clock.now += 31
    with pytest.raises(AuthInvalid):
        keys.identify(old, "http")
    assert keys.identify(new, "http").may("admin")


def test_an_unknown_or_ambiguous_key_name_lists_the_keys(stores: GuardStores) -> None:
    keys = Keys(stores.keys)
    keys.create("twin")
    keys.create("twin")
    with pytest.raises(NotFound) as missing:
        keys.revoke("nobody")
    assert len(missing.value.nearest) == 2
    with pytest.raises(InvalidInput, match="use the id"):
        keys.revoke("twin")


def test_an_unknown_scope_is_refused(stores: GuardStores) -> None:
    with pytest.raises(InvalidInput, match="not a scope"):
        Keys(stores.keys).create("x", ["everything"])


def test_a_secret_is_the_same_in_every_process(stores: GuardStores, tmp_path: Path) -> None:
    other = open_guard(Settings(data=tmp_path))
    assert stores.keys.secret("cursors") == other.keys.secret("cursors")
    assert stores.keys.secret("cursors") != stores.keys.secret("else")
    other.close()


NUMBERS = LimitNumbers((3, 5), (3, 5), (1, 2), 6, 100, 2)


def caller(name: str = "a", transport: str = "http") -> Caller:
    return Caller(name, frozenset({"write"}), transport, f"key:{name}")  # type: ignore[arg-type]


def test_a_bucket_is_full_again_after_its_window(stores: GuardStores, clock: Clock) -> None:
    limits = Limits(stores.limits, NUMBERS, clock)
    for _ in range(3):
        limits.take(caller(), writes=False)
    with pytest.raises(Exhausted) as refused:
        limits.take(caller(), writes=False)
    assert refused.value.reset_in_seconds == 60
    assert refused.value.remaining == {"minute": 0, "hour": 2, "day": 3}
    clock.now += 60
    assert limits.take(caller(), writes=False) is not None


def test_the_hour_and_the_day_hold_across_minutes(stores: GuardStores, clock: Clock) -> None:
    limits = Limits(stores.limits, NUMBERS, clock)
    passed = 0
    for _ in range(20):
        clock.now += 61
        try:
            limits.take(caller(), writes=False)
            passed += 1
        except Exhausted:
            pass
    assert passed == 5


def test_reading_and_writing_have_their_own_buckets_over_http(stores: GuardStores, clock: Clock) -> None:
    limits = Limits(stores.limits, NUMBERS, clock)
    limits.take(caller(), writes=True)
    with pytest.raises(Exhausted):
        limits.take(caller(), writes=True)
    limits.take(caller(), writes=False)


def test_a_clock_set_back_does_not_lock_anyone_out(stores: GuardStores, clock: Clock) -> None:
    limits = Limits(stores.limits, NUMBERS, clock)
    for _ in range(3):
        limits.take(caller(), writes=False)
    clock.now -= 100_000
    assert limits.take(caller(), writes=False) is not None


def test_zero_switches_a_limit_off(stores: GuardStores) -> None:
    limits = Limits(stores.limits, LimitNumbers((0, 0), (0, 0), (0, 0), 0, 0, 0))
    assert limits.take(caller(), writes=True) is None
    assert limits.take_address("192.0.2.1") is None
    limits.auth_failed("192.0.2.1")
    limits.check_auth("192.0.2.1")


def test_full_buckets_are_forgotten(stores: GuardStores, clock: Clock) -> None:
    for number in range(50):
        stores.limits.take([Bucket(f"key:{number}", "minute", 5, 60)], clock.now)
    assert stores.limits.prune(clock.now + 30) == 0
    assert stores.limits.prune(clock.now + 61) == 50


def test_limits_are_exact_across_processes(tmp_path: Path) -> None:
    import subprocess
    import sys

    open_guard(Settings(data=tmp_path)).close()
    script = (
        "import sys, pathlib\n"
        "from trivium.guard_stores import open_guard\n"
        "from trivium.ports.limits import Bucket\n"
        "from trivium.settings import Settings\n"
        "stores = open_guard(Settings(data=pathlib.Path(sys.argv[1])))\n"
        "bucket = Bucket('key:x', 'minute', 150, 3600)\n"
        "print(sum(stores.limits.take([bucket], 1000.0).allowed for _ in range(80)))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    passed = [int(process.communicate(timeout=120)[0]) for process in running]
    assert sum(passed) == 150


def test_different_results_are_counted_and_equal_ones_not(stores: GuardStores, clock: Clock) -> None:
    watch = Watch(stores.conduct, ConductNumbers(500, 10, 0.5), clock)
    for _ in range(50):
        assert watch.note(caller(), range(100), failed=False) == ""
    for start in range(0, 600, 100):
        flag = watch.note(caller(), range(start, start + 100), failed=False)
    assert flag == "harvesting"
    assert watch.delay_s(caller()) == 0.5
    assert watch.delay_s(caller("other")) == 0.0
    clock.now += 3601
    assert watch.delay_s(caller()) == 0.0


def test_many_failures_are_probing(stores: GuardStores, clock: Clock) -> None:
    watch = Watch(stores.conduct, ConductNumbers(500, 10, 0.5), clock)
    flags = [watch.note(caller(), (), failed=True) for _ in range(12)]
    assert flags == [""] * 10 + ["probing"] * 2


@pytest.mark.parametrize("number", [100, 2_000, 20_000])
def test_the_count_of_different_results_is_close(stores: GuardStores, clock: Clock, number: int) -> None:
    [conduct] = stores.conduct.note(["key:x"], range(number), False, clock.now)
    assert abs(conduct.distinct_results - number) < 0.03 * number


def entry(at: float, **more: object) -> AuditEntry:
    fields: dict[str, object] = {
        "request_id": "req_1",
        "caller": "a",
        "key": "abcd",
        "address": "",
        "transport": "http",
        "tool": "t",
        "arguments": "{}",
        "outcome": "ok",
        "result_bytes": 1,
        "results": 1,
        "duration_ms": 1.0,
    }
    return AuditEntry(at=at, **(fields | more))  # type: ignore[arg-type]


def test_entries_older_than_90_days_are_dropped(stores: GuardStores, clock: Clock) -> None:
    audit = Audit(stores.audit, 90, clock)
    stores.audit.append([entry(clock.now - 91 * 86_400), entry(clock.now - 89 * 86_400)])
    audit.record(entry(clock.now))
    assert len(stores.audit.read(10)) == 2


def test_the_log_is_read_newest_first_and_filtered(stores: GuardStores) -> None:
    stores.audit.append([entry(1, tool="a"), entry(2, outcome="RATE_LIMIT"), entry(3, flag="harvesting")])
    assert [one.at for one in stores.audit.read(10)] == [3, 2, 1]
    assert [one.at for one in stores.audit.read(10, tool="a")] == [1]
    assert [one.at for one in stores.audit.read(10, outcome="failed")] == [2]
    assert [one.at for one in stores.audit.read(10, flagged=True)] == [3]
    assert [one.at for one in stores.audit.read(10, since=2.5)] == [3]
    assert [one.at for one in stores.audit.read(1)] == [3]


def test_secrets_never_reach_the_log() -> None:
    text = redacted(
        {
            "query": "curl -H 'Authorization: Bearer abcdefghijklmnop' trv_0123456789ab_secretsecretsecret",
            "url": "postgresql://user:hunter22@host/db",
            "password": "correct horse battery",
            "nested": {"api_key": "0123456789abcdef"},
            "hidden": "whatever",
            "long": "x" * 5000,
        },
        frozenset({"hidden"}),
    )
    for secret in ("abcdefghijklmnop", "secretsecret", "hunter22", "correct horse", "0123456789abcdef", "whatever"):
        assert secret not in text
    assert len(text) < 1500


def test_addresses_are_allowed_and_denied_by_network() -> None:
    rules = Addresses(allow=["10.0.0.0/8", "2001:db8::/32"], deny=["10.6.0.0/16"])
    assert rules.may_connect("10.1.2.3")
    assert rules.may_connect("2001:db8::7")
    assert rules.may_connect("::ffff:10.1.2.3")
    assert not rules.may_connect("10.6.0.1")
    assert not rules.may_connect("192.0.2.1")
    assert not rules.may_connect("nonsense")
    with pytest.raises(InvalidInput, match="deny_addresses"):
        Addresses(deny=["10.0.0.300"])


def test_forwarded_addresses_count_only_behind_trusted_proxies() -> None:
    rules = Addresses(proxies=["10.0.0.0/8"])
    assert rules.origin("10.0.0.1", "192.0.2.7") == "192.0.2.7"
    assert rules.origin("10.0.0.1", "198.51.100.1, 192.0.2.7, 10.0.0.2") == "192.0.2.7"
    assert rules.origin("192.0.2.9", "198.51.100.1") == "192.0.2.9"


def test_an_ipv6_network_is_one_subject() -> None:
    assert Addresses.subject("2001:db8::1") == Addresses.subject("2001:db8::ffff:2")
    assert Addresses.subject("192.0.2.1") != Addresses.subject("192.0.2.2")


def test_the_breaker_opens_lets_one_try_and_closes(clock: Clock) -> None:
    breaker = Breaker(2, 5, clock)
    breaker.failed()
    breaker.enter()
    breaker.failed()
    with pytest.raises(BackendUnavailable) as refused:
        breaker.enter()
    assert refused.value.retry_after_s == 5
    clock.now += 5
    breaker.enter()
    with pytest.raises(BackendUnavailable):
        breaker.enter()
    breaker.succeeded()
    breaker.enter()


def test_metrics_add_up_over_processes(stores: GuardStores, tmp_path: Path) -> None:
    other = open_guard(Settings(data=tmp_path))
    one, two = Metrics(stores.counters), Metrics(other.counters)
    one.call("semantic_search", "ok", 0.02)
    two.call("semantic_search", "ok", 0.2)
    two.flush()
    text = one.text()
    assert 'trivium_calls_total{tool="semantic_search",outcome="ok"} 2' in text
    assert 'trivium_call_seconds_bucket{tool="semantic_search",le="0.025"} 1' in text
    assert 'trivium_call_seconds_bucket{tool="semantic_search",le="+Inf"} 2' in text
    other.close()


def test_the_local_owner_may_everything() -> None:
    assert all(local_owner().may(scope) for scope in ("read", "write", "admin"))
