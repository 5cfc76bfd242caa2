"""What every KeyStore, AuditLog and Counters promise, run on each database."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sql_databases import KINDS, postgresql_url

from trivium.errors import Conflict
from trivium.guard_stores import GuardStores, open_guard
from trivium.ports.audit import AuditEntry
from trivium.ports.keys import StoredKey
from trivium.settings import Settings


@pytest.fixture(params=KINDS)
def guards(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[GuardStores]]:
    """Of two processes."""
    store = postgresql_url(tmp_path) if request.param == "postgresql" else ""
    opened = [open_guard(Settings(data=tmp_path, store=store)) for _ in range(2)]
    yield opened
    for guard in opened:
        guard.close()


def key(name: str, created: float = 1.0, expires: float | None = None) -> StoredKey:
    return StoredKey(name, f"name of {name}", ("read", "write"), b"\0digest\xff", "abcd", created, expires)


def entry(at: float, **given: object) -> AuditEntry:
    values: dict[str, object] = {
        "request_id": f"r{at}",
        "caller": "key:a",
        "key": "abcd",
        "address": "192.0.2.1",
        "transport": "http",
        "tool": "semantic_search",
        "arguments": '{"query": "ü"}',
        "outcome": "ok",
        "result_bytes": 10,
        "results": 2,
        "duration_ms": 1.5,
    }
    return AuditEntry(at, **(values | given))  # type: ignore[arg-type]


def test_a_key_that_one_adds_the_other_finds_at_once(guards: list[GuardStores]) -> None:
    one, other = (guard.keys for guard in guards)
    one.add(key("b", created=2.0))
    one.add(key("a", created=1.0, expires=9.5))
    assert other.get("a") == key("a", created=1.0, expires=9.5)
    assert other.get("nobody") is None
    assert [stored.key_id for stored in other.all()] == ["a", "b"]
    with pytest.raises(Conflict):
        other.add(key("a"))


def test_a_key_is_revoked_once_for_all(guards: list[GuardStores]) -> None:
    one, other = (guard.keys for guard in guards)
    one.add(key("a"))
    assert other.revoke("a", 5.0)
    assert not one.revoke("a", 6.0)
    assert not one.revoke("nobody", 5.0)
    found = one.get("a")
    assert found is not None
    assert (found.revoked_at, found.is_active(4.0), found.is_active(5.0)) == (5.0, True, False)


def test_a_secret_is_the_same_for_whoever_asks_first(guards: list[GuardStores]) -> None:
    seen: list[bytes] = []
    threads = [threading.Thread(target=lambda guard=guard: seen.append(guard.keys.secret("p"))) for guard in guards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1
    assert len(seen[0]) == 32
    assert guards[0].keys.secret("other") != seen[0]


def test_the_log_is_read_newest_first_by_whatever_is_asked(guards: list[GuardStores]) -> None:
    one, other = (guard.audit for guard in guards)
    one.append([entry(1.0), entry(2.0, caller="key:b", outcome="RATE_LIMIT"), entry(3.0, tool="get_chunk", flag="odd")])
    other.append([entry(3.0, request_id="later")])
    assert [(e.at, e.request_id) for e in one.read(10)] == [(3.0, "later"), (3.0, "r3.0"), (2.0, "r2.0"), (1.0, "r1.0")]
    assert [e.at for e in one.read(1, since=0.0)] == [3.0]
    assert [e.at for e in one.read(10, since=2.5)] == [3.0, 3.0]
    assert [e.at for e in one.read(10, caller="key:b")] == [2.0]
    assert [e.at for e in one.read(10, outcome="failed")] == [2.0]
    assert [e.flag for e in one.read(10, flagged=True)] == ["odd"]
    assert one.read(10, tool="get_chunk") == [entry(3.0, tool="get_chunk", flag="odd")]
    assert other.prune(2.5) == 2
    assert [e.at for e in one.read(10)] == [3.0, 3.0]


def test_counters_add_up_over_processes(guards: list[GuardStores]) -> None:
    def count(guard: GuardStores) -> None:
        for _ in range(50):
            guard.counters.add({"calls": 1.0, "bytes": 0.5})

    threads = [threading.Thread(target=count, args=(guard,)) for guard in guards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert guards[0].counters.all() == {"calls": 100.0, "bytes": 50.0}
    assert (guards[1].counters.value("calls"), guards[1].counters.value("nothing")) == (100.0, 0.0)
