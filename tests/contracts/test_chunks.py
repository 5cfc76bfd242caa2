"""ChunkStore: what every store of chunks promises, filters above all."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sql_databases import open_database

from trivium.backends.sqlite.chunks import SqliteChunkStore
from trivium.backends.sqlite.documents import SqliteDocumentStore
from trivium.model.chunk import Piece
from trivium.model.filters import And, Contains, Equals, Exists, Filter, In, Not, Or, Range, fields_of, matches
from trivium.ports.chunks import ChunkStore
from trivium.ports.documents import DocumentDraft, DocumentStore

TEXTS = ["", "a", "guides", "guide", "5", "é", "2024-01-01", "2024-05-05", 'q"uo', "%_"]
SCALARS: list[str | int | float | bool] = [*TEXTS, 0, 1, 5, -3, 2.5, True, False]
KEYS = ["tags", "title", "n", 'we"ird.key']
FIELDS = ["source", "source_category", "file", "title", "date", "chunk_id", "chunk_index", "token_count", *KEYS]
FIELDS += ["metadata.title", "metadata.tags", "missing"]


def sqlite(folder: Path) -> tuple[DocumentStore, ChunkStore]:
    database = open_database("sqlite", folder)
    return SqliteDocumentStore(database), SqliteChunkStore(database)


def postgresql(folder: Path) -> tuple[DocumentStore, ChunkStore]:
    from trivium.backends.postgres.filters import where

    database = open_database("postgresql", folder)
    return SqliteDocumentStore(database), SqliteChunkStore(database, where)


BACKENDS = [sqlite, postgresql]


@pytest.fixture(scope="module", params=BACKENDS, ids=lambda make: make.__name__)
def stores(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DocumentStore, ChunkStore]:
    documents, chunks = request.param(tmp_path_factory.mktemp("store"))
    documents.save(list(_drafts()))
    return documents, chunks


def _drafts() -> Iterator[DocumentDraft]:
    metadata: list[dict[str, object]] = [
        {},
        {"tags": ["a", "guides", 5]},
        {"tags": "guides", "title": "a"},
        {"n": 5, "tags": []},
        {"n": 2.5, 'we"ird.key': True},
        {"n": "5", "tags": [True, 2.5]},
        {"n": None, "title": ["5", "é"]},
    ]
    for number, values in enumerate(metadata):
        category = [None, "guides", "guide", "5", ""][number % 5]
        date = [None, "2024-01-01", "2024-05-05"][number % 3]
        pieces = [Piece(f"text {number} {i}", i, i + 8, "", 5 * i) for i in range(number % 3 + 1)]
        yield DocumentDraft(
            "documents", "/r", f"{number}.md", category, ["", "a", "5"][number % 3], date, "h", pieces, values
        )


def leaves() -> st.SearchStrategy[Filter]:
    fields, values = st.sampled_from(FIELDS), st.sampled_from(SCALARS)
    bounds = st.sampled_from([s for s in SCALARS if not isinstance(s, bool)])
    return st.one_of(
        st.builds(Equals, fields, values),
        st.builds(In, fields, st.lists(values, max_size=3).map(tuple)),
        st.builds(Contains, fields, values),
        st.builds(Range, fields, bounds, st.none() | bounds, st.booleans(), st.booleans()),
        st.builds(Range, fields, st.none(), bounds, st.booleans(), st.booleans()),
        st.builds(Exists, fields),
    )


def trees(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    parts = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(st.builds(And, parts), st.builds(Or, parts), st.builds(Not, inner))


@settings(max_examples=400, deadline=None)
@given(condition=st.recursive(leaves(), trees, max_leaves=5))
def test_a_filter_selects_exactly_what_its_definition_says(
    stores: tuple[DocumentStore, ChunkStore], condition: Filter
) -> None:
    _, chunks = stores
    everything = chunks.get(list(range(1, 100)))
    expected = [chunk.chunk_id for chunk in everything if matches(condition, fields_of(chunk))]
    assert chunks.select(condition).tolist() == sorted(expected)


def test_get_keeps_the_order_asked_for_and_leaves_out_what_is_gone(stores: tuple[DocumentStore, ChunkStore]) -> None:
    _, chunks = stores
    assert [chunk.chunk_id for chunk in chunks.get([3, 999, 1])] == [3, 1]


def test_the_generation_grows_with_every_change_and_stays_without(
    tmp_path: Path, stores: tuple[DocumentStore, ChunkStore], request: pytest.FixtureRequest
) -> None:
    make: Callable[[Path], tuple[DocumentStore, ChunkStore]] = request.node.callspec.params["stores"]
    documents, chunks = make(tmp_path)
    seen = [chunks.generation()]
    draft = DocumentDraft("documents", "/r", "a.md", None, "A", None, "h", [Piece("one", 0, 3, "", 1)])
    (document_id,) = documents.save([draft]).document_ids
    seen.append(chunks.generation())
    documents.move({document_id: ("/r", "b.md")})
    seen.append(chunks.generation())
    documents.remove([document_id])
    seen.append(chunks.generation())
    assert seen == sorted(set(seen))
    assert chunks.generation() == seen[-1]
    assert chunks.count() == 0
