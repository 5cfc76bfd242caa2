"""Whole answers of a server that shares its cache and keeps vectors and graphs elsewhere, while those come and go."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import Server

from code_repository import FILES
from served import Serve, Served
from trivium.backends.chroma import connection as chroma_connection
from trivium.backends.chroma import index as chroma_index
from trivium.backends.neo4j import connection as neo4j_connection
from trivium.backends.redis import connection as redis_connection
from trivium.doors.cli.main import run


def codes(body: dict[str, Any]) -> list[str]:
    return [one["code"] for one in body["warnings"]]


def found(body: dict[str, Any]) -> list[int]:
    return [one["chunk_id"] for one in body["results"]]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was away is tried again with the next call."""
    monkeypatch.setattr(redis_connection, "RETRY_S", 0.0)
    monkeypatch.setattr(chroma_connection, "RETRY_S", 0.0)


def test_two_servers_share_what_one_of_them_found(serve: Serve, redis_url: str) -> None:
    one = serve(cache=redis_url)
    other = serve(one.data, cache=redis_url)
    first, second = one.search("backup keys"), other.search("backup keys")
    assert [body["execution_context"]["cache_hit"] for body in (first, second)] == [False, True]
    assert found(first) == found(second)
    assert [one["hybrid_score"] for one in first["results"]] == [one["hybrid_score"] for one in second["results"]]


def test_a_write_is_seen_through_the_other_server_at_once(
    serve: Serve, redis_url: str, write: Callable[[str, str], Any]
) -> None:
    one = serve(cache=redis_url)
    other = serve(one.data, cache=redis_url)
    assert not [r for r in other.search("zirconium ledger")["results"] if "zirconium" in r["source_file"]]
    one.app().documents.add([write("zirconium.md", "# Zirconium ledger\n\nThe zirconium ledger lists every batch.")])
    answer = other.search("zirconium ledger")
    assert not answer["execution_context"]["cache_hit"]
    assert "zirconium" in answer["results"][0]["source_file"]


def test_limits_hold_over_both_servers(serve: Serve, redis_url: str) -> None:
    one = serve(cache=redis_url, rate_limit_minute=3)
    other = serve(one.data, cache=redis_url, rate_limit_minute=3)
    statuses = [server.search("billing")["_metadata"]["status"] for server in (one, other, one, other)]
    assert statuses == ["success", "success", "success", "error"]


def test_the_loss_of_the_cache_is_a_warning_and_nothing_else(serve: Serve, own_redis: Server, at_once: None) -> None:
    server = serve(cache=own_redis.url)
    before = server.search("monitoring reports")
    assert "CACHE_UNAVAILABLE" not in codes(before)
    own_redis.kill()
    lost = server.search("storage records")
    assert lost["_metadata"]["status"] == "success"
    assert "CACHE_UNAVAILABLE" in codes(lost)
    assert found(server.search("monitoring reports")) == found(before)
    own_redis.start()
    server.search("backup")
    assert "CACHE_UNAVAILABLE" not in codes(server.search("networking"))


def test_a_flushed_cache_only_forgets(serve: Serve, own_redis: Server) -> None:
    import redis

    server = serve(cache=own_redis.url)
    before = server.search("monitoring reports")
    with redis.Redis.from_url(own_redis.url) as client:
        client.flushall()
    assert found(serve(server.data, cache=own_redis.url).search("monitoring reports")) == found(before)


def answers(server: Served) -> list[dict[int, float]]:
    queries = ("authentication keys", "billing board", "team 7")
    results = [server.search(query, page_size=20)["results"] for query in queries]
    return [{one["chunk_id"]: one["hybrid_score"] for one in page} for page in results]


def test_vectors_on_chroma_give_the_answers_of_embedded_ones(serve: Serve, own_chroma: Server) -> None:
    """Embedded vectors are rounded to 16 bits: what is as good as equal may change places, nothing else."""
    remote, embedded = serve(vectors=own_chroma.url), serve()
    for here, there in zip(answers(remote), answers(embedded), strict=True):
        assert list(here.values()) == pytest.approx(list(there.values()), abs=1e-3)
        both = here.keys() & there.keys()
        assert [here[one] for one in both] == pytest.approx([there[one] for one in both], abs=1e-3)


def test_while_chroma_is_away_words_answer_and_afterwards_it_catches_up(
    serve: Serve, own_chroma: Server, at_once: None, write: Callable[[str, str], Any]
) -> None:
    server = serve(vectors=own_chroma.url)
    app = server.app()
    whole = server.search("authentication keys")
    own_chroma.kill()
    app.documents.add([write("zirconium.md", "# Zirconium\n\nThe zirconium ledger lists every batch.")])
    app.embedding.run()
    degraded = server.search("zirconium ledger")
    assert "zirconium" in degraded["results"][0]["source_file"]
    assert "DEGRADED_SEARCH" in codes(degraded)
    own_chroma.start()
    healed = server.search("zirconium ledger")
    assert "DEGRADED_SEARCH" not in codes(healed)
    assert "zirconium" in healed["results"][0]["source_file"]
    assert all(state.agrees for state in app.check())
    assert whole["_metadata"]["status"] == "success"


def test_a_chroma_server_that_lost_everything_is_filled_again(serve: Serve, own_chroma: Server, at_once: None) -> None:
    import shutil

    server = serve(vectors=own_chroma.url)
    before = answers(server)
    own_chroma.kill()
    shutil.rmtree(own_chroma.folder / "data")
    (own_chroma.folder / "data").mkdir()
    own_chroma.start()
    server.search("anything")  # finds that the collection is gone
    assert answers(server) == before


def test_servers_that_hang_keep_nobody_from_an_answer(
    serve: Serve, own_redis: Server, own_chroma: Server, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_connection, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(chroma_index, "ANSWER_S", 0.5)
    server = serve(cache=own_redis.url, vectors=own_chroma.url)
    server.search("backup keys")
    own_redis.freeze()
    own_chroma.freeze()
    hanging = server.search("billing board")
    assert hanging["results"]
    assert {"CACHE_UNAVAILABLE", "DEGRADED_SEARCH"} <= set(codes(hanging))
    own_redis.thaw()
    own_chroma.thaw()
    server.search("anything")
    assert not {"CACHE_UNAVAILABLE", "DEGRADED_SEARCH"} & set(codes(server.search("storage keys")))


def concepts_on(server: Served) -> None:
    """A small net of concepts, made by the tools."""
    names = ["arrays", "lists", "trees", "graphs", "paths"]
    ids = [
        server.body("create_concept", name=name, explanation=f"About {name}.", area="cs")["concept_id"]
        for name in names
    ]
    for source, target in itertools.pairwise(ids):
        made = server.body(
            "create_relationship",
            source_concept_id=source,
            target_concept_id=target,
            relationship_type="prerequisite",
        )
        assert made["success"]


def graph_answers(server: Served) -> list[Any]:
    found = server.body("search_concepts_exact", area="cs")["results"]
    ids = {one["name"]: one["concept_id"] for one in found}
    chain = server.body("get_concept_chain", start_concept_id=ids["arrays"], end_concept_id=ids["paths"])
    return [
        server.body("get_related_concepts", concept_id=ids["trees"], max_depth=3),
        server.body("get_prerequisites", concept_id=ids["paths"]),
        chain,
    ]


def test_concepts_and_code_are_copied_to_neo4j_and_read_from_there(
    serve: Serve, own_neo4j: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_connection, "RETRY_S", 0.0)
    server = serve(graph=own_neo4j.url, toolsets="knowledge,code,concepts")
    app = server.app()
    graph = app.graph_server
    assert graph is not None
    concepts_on(server)
    for path, text in FILES.items():
        (tmp_path / "repository" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repository" / path).write_text(text)
    server.body("index_repository", source=str(tmp_path / "repository"), name="shop")
    graph.catch_up(app.concepts)
    assert all(part.is_current for part in graph.parts(app.concepts))
    asked = {"entity_type": "file", "entity_path": "src/services/auth.ts", "repository": "shop", "depth": 3}
    there = [*graph_answers(server), server.body("get_dependents", **asked)["dependents"]]

    embedded = serve(server.data, toolsets="knowledge,code,concepts")
    assert [*graph_answers(embedded), embedded.body("get_dependents", **asked)["dependents"]] == there

    monkeypatch.setattr(neo4j_connection, "READ_S", 0.5)
    own_neo4j.freeze()
    assert [*graph_answers(server), server.body("get_dependents", **asked)["dependents"]] == there
    own_neo4j.thaw()
    monkeypatch.undo()
    monkeypatch.setattr(neo4j_connection, "RETRY_S", 0.0)
    own_neo4j.kill()
    assert [*graph_answers(server), server.body("get_dependents", **asked)["dependents"]] == there
    server.body("create_concept", name="matrices", explanation="About matrices.", area="cs")
    app.concepts.runner.run_once()
    assert app.concepts.ledger.parked("neo4j") == []
    assert app.concepts.runner.behind()["neo4j"] == 1
    own_neo4j.start()
    graph.catch_up(app.concepts)
    assert app.concepts.runner.behind()["neo4j"] == 0
    assert graph.counts()["Concept"] == 6
    assert app.concepts.check.verify().consistent


def test_a_neo4j_server_that_lost_everything_is_filled_again(serve: Serve, own_neo4j: Server) -> None:
    server = serve(graph=own_neo4j.url, toolsets="knowledge,code,concepts")
    app = server.app()
    graph = app.graph_server
    assert graph is not None
    concepts_on(server)
    graph.catch_up(app.concepts)
    before = graph_answers(server)
    graph.clear()
    assert graph_answers(server) == before
    graph.catch_up(app.concepts)
    assert graph.counts()["Concept"] == 5
    assert graph_answers(server) == before


def test_the_command_line_tells_how_the_copies_fare(
    serve: Serve, own_neo4j: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(toolsets="knowledge,code,concepts")
    concepts_on(server)
    monkeypatch.setenv("TRIVIUM_GRAPH", own_neo4j.url)
    monkeypatch.setenv("TRIVIUM_MODEL", "hashing-64")
    graph = ["--data", str(server.data), "graph"]
    assert run([*graph, "status", "--json"]) == 1
    assert run([*graph, "migrate"]) == 0
    capsys.readouterr()
    assert run([*graph, "status", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(one["current"] for one in told["graphs"])
    assert told["counts"]["Concept"] == 5
    assert run([*graph, "rebuild", "--all"]) == 0
    own_neo4j.kill()
    assert run([*graph, "status"]) == 1
