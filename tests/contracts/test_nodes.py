"""Several servers over one PostgreSQL, each with a data folder of its own: what one writes the others find at once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from servers import server_url
from sql_databases import postgresql_url

from trivium.app import App, open_app
from trivium.backends.bits import BitsVectorIndex
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.postgres.keywords import PgKeywordIndex
from trivium.backends.postgres.vectors import PgVectorIndex
from trivium.backends.tantivy import TantivyKeywordIndex
from trivium.doors.mcp.server import open_gate
from trivium.model.hits import SearchQuery
from trivium.settings import Settings

Nodes = Callable[[int], list[App]]
FRUITS = ("apple", "banana", "cherry", "damson")


def plain_url(folder: Path) -> str:
    """A database without extensions, and a role that may not create any."""
    url, name = server_url("postgresql"), f"plain_{abs(hash(str(folder))) % 10**10}"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN")
        admin.execute(f"CREATE DATABASE {name}")
    own = url.replace("/postgres", f"/{name}")
    with psycopg.connect(own, autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {name} AUTHORIZATION {name}")
    return own.replace("trivium@", f"{name}@")


KINDS = {
    "plain": (plain_url, BitsVectorIndex, TantivyKeywordIndex),
    "pgvector": (postgresql_url, PgVectorIndex, TantivyKeywordIndex),
    "pg_textsearch": (lambda folder: postgresql_url(folder, bm25=True), PgVectorIndex, PgKeywordIndex),
}


@pytest.fixture(params=KINDS)
def nodes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Nodes]:
    make, vectors, keywords = KINDS[request.param]
    opened: list[App] = []

    def start(number: int) -> list[App]:
        url = make(tmp_path)
        for node in range(number):
            settings = Settings(data=tmp_path / str(node), store=url, extractor="rules")
            opened.append(open_app(settings, lambda name: HashingEmbedder()))
            parts = opened[-1]._current(), opened[-1]._keywords
            assert (type(parts[0].vectors), type(parts[1])) == (vectors, keywords)
        return opened

    yield start
    for app in opened:
        app.close()


def found(app: App, text: str, mode: str = "hybrid") -> list[str]:
    chunks = app.chunks.get([hit.chunk_id for hit in app.search.search(SearchQuery(text, mode=mode)).hits])  # type: ignore[arg-type]
    return [chunk.source_file for chunk in chunks]


def test_what_one_node_writes_every_other_finds_at_once(nodes: Nodes) -> None:
    one, two, three = nodes(3)
    for fruit in FRUITS:
        one.documents.add_texts("r", [(fruit, "", f"zebra crossing {fruit}")])
        for other in (two, three):
            assert found(other, fruit, "bm25") == [fruit]
    two.embedding.run()
    assert found(three, "zebra crossing cherry", "vector")[0] == "cherry"
    assert [app.chunks.generation() for app in (one, two, three)] == [one.chunks.generation()] * 3
    (gone,) = [file.document_id for file in three.store.files("documents") if file.source_file == "cherry"]
    three.store.remove([gone])
    for other in (one, two):
        assert "cherry" not in found(other, "zebra crossing cherry")
        assert all(state.agrees for state in other.check())


def test_a_node_that_comes_later_or_lost_its_folder_knows_everything(nodes: Nodes) -> None:
    one, late = nodes(2)
    one.documents.add_texts("r", [(fruit, "", f"{fruit} zebra") for fruit in FRUITS])
    one.embedding.run()
    assert found(late, "damson", "bm25") == ["damson"]
    assert all(state.agrees for state in late.check())


def test_concepts_of_one_node_are_those_of_all(nodes: Nodes) -> None:
    one, two = nodes(2)
    made = one.concepts.change.create({"name": "zebra", "explanation": "stripes"})
    assert two.concepts.read.get(made.concept_id) == made
    changed = two.concepts.change.update(made.concept_id, {"explanation": "more stripes"}, expected_version=1)
    assert one.concepts.read.get(made.concept_id).version == 2
    assert changed
    assert [similar.concept.name for similar in one.concepts.find.semantic("zebra. more stripes")] == ["zebra"]
    assert one.concepts.check.verify().consistent


def test_a_key_made_on_one_node_opens_the_other(tmp_path: Path) -> None:
    url = postgresql_url(tmp_path)
    settings = [Settings(data=tmp_path / str(node), store=url) for node in range(2)]
    gates = [open_gate(each, lambda each=each: open_app(each, lambda name: HashingEmbedder())) for each in settings]
    try:
        text, _ = gates[0].guard.keys.create("shared", ["read"])
        assert gates[1].guard.keys.exist()
        assert gates[1].guard.keys.identify(text, "http").scopes == {"read"}
    finally:
        for gate in gates:
            gate.close()
