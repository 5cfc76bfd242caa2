"""What every store of the vendor graph promises, beside a model in plain Python."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sql_databases import KINDS, postgresql_url

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.model.chunk import Piece
from trivium.model.vendor import SYMMETRIC
from trivium.ports.documents import DocumentDraft
from trivium.ports.vendor_graph import FactBatch, LinkDraft, MentionDraft, NamedEntity
from trivium.settings import Settings

NAMES = ("alpha", "beta", "gamma", "delta")
TYPES = ("ACQUIRED", "PARTNERS_WITH")
Fact = tuple[int, int, str, int]  # head, tail, type, document

facts = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(TYPES), st.integers(0, 2)).filter(
        lambda fact: fact[0] != fact[1]
    ),
    max_size=12,
)


def draft(number: int) -> DocumentDraft:
    text = f"document {number}"
    return DocumentDraft("documents", "r", f"{number}.md", None, text, None, str(number), [Piece(text, 0, 10, "", 2)])


def record(app: App, chunks: list[int], rows: list[Fact]) -> None:
    entities = [NamedEntity(name.title(), "ORG", name) for name in NAMES]
    for head, tail, kind, document in rows:
        mentions = [MentionDraft(n, chunks[document], NAMES[n], 0, 1, 0.5) for n in (head, tail)]
        links = [LinkDraft(head, tail, kind, chunks[document], 0.5)]
        app.vendor_facts.record(FactBatch("import", entities, mentions, links))


def expected(rows: list[Fact]) -> dict[str, tuple[int, int]]:
    """Per name: how many neighbours, how many relationships."""
    links = {(*sorted((h, t)), k) if k in SYMMETRIC else (h, t, k) for h, t, k, _ in rows}
    return {
        name: (
            len({x for h, t, _ in links if n in (h, t) for x in (h, t)} - {n}),
            sum(n in (h, t) for h, t, _ in links),
        )
        for n, name in enumerate(NAMES)
        if any(n in row[:2] for row in rows)
    }


def actual(app: App) -> dict[str, tuple[int, int]]:
    found = {}
    for entity in app.vendors.entities(None, 10):
        near = app.vendors.around(entity)
        assert len(near.entities) == near.statistics.entity_count
        assert len(near.relationships) == near.statistics.relationship_count
        found[entity.name.casefold()] = (near.statistics.entity_count, near.statistics.relationship_count)
    return found


@pytest.fixture(scope="module", params=KINDS)
def fresh(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], App]:
    def make() -> App:
        folder: Path = tmp_path_factory.mktemp("graph")
        store = postgresql_url(folder) if request.param == "postgresql" else ""
        return open_app(Settings(data=folder, store=store), lambda name: HashingEmbedder())

    return make


@given(rows=facts, gone=st.sets(st.integers(0, 2)))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_counts_follow_the_documents_that_are_left(fresh: Callable[[], App], rows: list[Fact], gone: set[int]) -> None:
    app = fresh()
    saved = app.store.save([draft(number) for number in range(3)])
    chunks = app.log.chunk_ids().tolist()
    record(app, chunks, rows)
    assert actual(app) == expected(rows)
    app.store.remove([saved.document_ids[number] for number in gone])
    left = [row for row in rows if row[3] not in gone]
    assert actual(app) == expected(left)
    app.vendor_facts.recount()
    assert actual(app) == expected(left)
    app.close()


def test_a_fact_of_a_chunk_that_is_gone_leaves_nothing_behind(fresh: Callable[[], App]) -> None:
    app = fresh()
    record(app, [99, 99, 99], [(0, 1, "ACQUIRED", 0)])
    assert app.vendors.entities(None) == []
    app.close()
