"""Whatever a driver raises becomes an error of ours at its border; a server that is away is left alone for a while."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import chromadb.errors
import httpx
import neo4j.exceptions
import pytest
import redis.exceptions

from trivium.backends.chroma.connection import ChromaCollection
from trivium.backends.neo4j.connection import Neo4jConnection
from trivium.backends.redis.connection import RedisConnection
from trivium.errors import BackendUnavailable, GraphUnavailable, InvalidInput, VectorsUnavailable


def errors_of(module: ModuleType) -> list[type[Exception]]:
    found = [one for _, one in inspect.getmembers(module, inspect.isclass) if issubclass(one, Exception)]
    return [
        one
        for one in found
        if not issubclass(one, Warning) and one.__module__.startswith(module.__name__.partition(".")[0])
    ]


def raising(error: type[Exception]) -> Callable[[Any], None]:
    def operation(_: Any) -> None:
        try:
            made = error("driver says no")
        except (TypeError, ValueError):  # wants more than a text, or another one
            made = error.__new__(error, "driver says no")
        raise made

    return operation


@pytest.mark.parametrize("error", errors_of(redis.exceptions), ids=lambda one: one.__name__)
def test_errors_of_redis_become_ours(error: type[Exception]) -> None:
    connection = RedisConnection("redis://127.0.0.1:1/0", b"secret")
    with pytest.raises(BackendUnavailable):
        connection.run(raising(error))
    assert connection.trouble
    connection.close()


@pytest.mark.parametrize(
    "error", [*errors_of(chromadb.errors), httpx.ReadTimeout, httpx.ConnectError], ids=lambda one: one.__name__
)
def test_errors_of_chroma_become_ours(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    if inspect.isabstract(error):
        return
    collection = ChromaCollection("chroma://127.0.0.1:1", "any", 1.0)
    monkeypatch.setattr(collection, "_opened", lambda: None)
    with pytest.raises(VectorsUnavailable):
        collection.run(raising(error))


@pytest.mark.parametrize("error", errors_of(neo4j.exceptions), ids=lambda one: one.__name__)
def test_errors_of_neo4j_become_ours(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Neo4jConnection("bolt://127.0.0.1:1")
    monkeypatch.setattr(connection, "_within", lambda _timeout_s, operation: operation(None))
    with pytest.raises(GraphUnavailable):
        connection._run(raising(error), 1.0)


def test_a_server_that_is_away_is_not_asked_again_at_once() -> None:
    clock, asked = [0.0], list[float]()
    connection = RedisConnection("redis://127.0.0.1:1/0", b"secret", clock=lambda: clock[0])

    def ask(_: Any) -> None:
        asked.append(clock[0])
        raise redis.exceptions.ConnectionError("refused")

    for moment in (0.0, 0.1, 0.5, 2.0, 2.5, 4.0):
        clock[0] = moment
        with pytest.raises(BackendUnavailable):
            connection.run(ask)
    assert asked == [0.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("open_it", "field"),
    [
        (lambda: RedisConnection("memcached://host", b""), "cache"),
        (lambda: ChromaCollection("http://host", "any", 1.0), "vectors"),
        (lambda: Neo4jConnection("http://user:secret@host"), "graph"),
    ],
)
def test_a_wrong_address_names_the_setting_and_what_is_allowed_but_no_password(
    open_it: Callable[[], object], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_it()
    assert refused.value.field == field
    assert refused.value.allowed
    assert "secret" not in str(refused.value)
