"""What every DocumentStore, ChangeLog and EmbeddingQueue promises, run on each database."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sql_databases import KINDS, open_database

from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.sqlite.changes import SqliteChangeLog
from trivium.backends.sqlite.documents import SqliteDocumentStore
from trivium.backends.sqlite.embeddings import SqliteEmbeddingQueue, SqliteModelRegister
from trivium.model.chunk import Piece
from trivium.ports.changes import ChangeLog
from trivium.ports.documents import DocumentDraft, DocumentStore
from trivium.ports.embedding_queue import EmbeddingQueue

EMBEDDER = HashingEmbedder()
MODEL = EMBEDDER.model


@dataclass
class Stores:
    documents: DocumentStore
    log: ChangeLog
    queue: EmbeddingQueue
    models: SqliteModelRegister


@pytest.fixture(params=KINDS)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    database = open_database(request.param, tmp_path)
    documents = SqliteDocumentStore(database)
    yield Stores(documents, SqliteChangeLog(database), SqliteEmbeddingQueue(database), SqliteModelRegister(database))
    database.close()


def draft(name: str, *texts: str, header: str = "", **given: object) -> DocumentDraft:
    pieces = [Piece(text, 0, len(text), header, 3) for text in texts]
    values: dict[str, object] = {"title": "", "date": None, "metadata": {}} | given
    return DocumentDraft("documents", "r", name, None, content_hash=name, pieces=pieces, **values)  # type: ignore[arg-type]


def ids(stores: Stores) -> list[int]:
    return stores.log.chunk_ids().tolist()


def embed(stores: Stores, limit: int = 100) -> list[int]:
    waiting = stores.queue.take(MODEL, limit)
    digests = [hashlib.blake2b(item.text.encode(), digest_size=16).digest() for item in waiting]
    vectors = dict(zip(digests, EMBEDDER.embed_passages([item.text for item in waiting]), strict=True))
    stores.queue.store(MODEL, vectors, [(item, [digest]) for item, digest in zip(waiting, digests, strict=True)])
    return [item.chunk_id for item in waiting]


def test_text_that_stayed_keeps_its_id_and_only_the_rest_is_announced(stores: Stores) -> None:
    first = stores.documents.save([draft("a", "one", "two", "two", "three")])
    assert (first.chunks_added, ids(stores)) == (4, [1, 2, 3, 4])
    head = stores.log.head()
    again = stores.documents.save([draft("a", "zero", "two", "one", "two")])
    assert (again.document_ids, again.chunks_added, again.chunks_kept, again.chunks_removed) == (
        first.document_ids,
        1,
        3,
        1,
    )
    assert ids(stores) == [1, 2, 3, 5]
    changed = {(change.kind, change.chunk_id) for change in stores.log.read(head, 100) if change.chunk_id}
    assert changed == {("text", 5), ("removed", 4)}


def test_documents_swap_places_and_keep_everything(stores: Stores) -> None:
    one, two = stores.documents.save([draft("a", "one"), draft("b", "two")]).document_ids
    stores.documents.move({one: ("r", "b"), two: ("s", "a")})
    places = [(file.document_id, file.root, file.source_file) for file in stores.documents.files("documents")]
    assert places == [(one, "r", "b"), (two, "s", "a")]
    assert [file.document_id for file in stores.documents.files("documents", "s")] == [two]
    assert ids(stores) == [1, 2]


def test_what_was_saved_comes_back_in_the_order_asked_for(stores: Stores) -> None:
    metadata = {"tags": ["x", 5, True], "größe": 2.5}
    saved = stores.documents.save(
        [draft("a", "one", title="Ünï 数据"), draft("b", "two", date="2024-05-05", metadata=metadata)]
    ).document_ids
    found = stores.documents.get([saved[1], 999, saved[0]])
    assert [document.source_file for document in found] == ["b", "a"]
    assert (found[0].metadata, found[0].date, found[1].title) == (metadata, "2024-05-05", "Ünï 数据")


def test_an_id_that_was_given_away_is_never_given_again(stores: Stores) -> None:
    (document,) = stores.documents.save([draft("a", "one", "two")]).document_ids
    assert stores.documents.remove([document]) == 2
    stores.documents.save([draft("a", "one")])
    assert ids(stores) == [3]


def test_the_log_is_read_from_any_position_and_its_head_only_grows(stores: Stores) -> None:
    heads = [stores.log.head()]
    for name in ("a", "b"):
        stores.documents.save([draft(name, f"text {name}")])
        heads.append(stores.log.head())
    assert heads == sorted(set(heads))
    everything = stores.log.read(0, 100)
    assert [change.position for change in everything] == sorted({change.position for change in everything})
    assert stores.log.read(everything[1].position, 1) == everything[2:3]
    rows = stores.log.rows([2, 99, 1])
    assert sorted((row.chunk_id, row.text) for row in rows) == [(1, "text a"), (2, "text b")]


def test_what_is_saved_waits_for_its_vectors_until_it_has_them(stores: Stores) -> None:
    stores.models.activate(MODEL)
    stores.documents.save([draft("a", "one", "two"), draft("b", "three")])
    assert stores.queue.pending(MODEL) == 3
    assert embed(stores, 2) == [1, 2]
    assert embed(stores) == [3]
    assert (stores.queue.pending(MODEL), stores.log.chunk_ids(MODEL).tolist()) == (0, [1, 2, 3])
    ((chunk, vectors),) = stores.log.vectors([2], MODEL)
    assert chunk == 2
    assert vectors == pytest.approx(EMBEDDER.embed_passages(["two"]), abs=1e-3)


def test_a_text_that_was_embedded_once_is_known(stores: Stores) -> None:
    stores.models.activate(MODEL)
    stores.documents.save([draft("a", "one")])
    embed(stores)
    digest = hashlib.blake2b(b"one", digest_size=16).digest()
    known = stores.queue.cached(MODEL, [digest, b"\0" * 16])
    assert list(known) == [digest]
    assert known[digest] == pytest.approx(EMBEDDER.embed_passages(["one"])[0], abs=1e-3)


def test_a_chunk_that_changed_while_it_was_embedded_waits_again(stores: Stores) -> None:
    stores.models.activate(MODEL)
    stores.documents.save([draft("a", "one", header="before")])
    waiting = stores.queue.take(MODEL, 10)
    stores.documents.save([draft("a", "one", header="after")])
    stores.queue.store(MODEL, {b"x" * 16: EMBEDDER.embed_passages(["one"])[0]}, [(waiting[0], [b"x" * 16])])
    assert [item.header for item in stores.queue.take(MODEL, 10)] == ["after"]
    assert stores.log.chunk_ids(MODEL).tolist() == []


def test_a_removed_chunk_takes_its_vectors_and_its_place_in_the_queue_along(stores: Stores) -> None:
    stores.models.activate(MODEL)
    saved: Sequence[int] = stores.documents.save([draft("a", "one"), draft("b", "two")]).document_ids
    embed(stores, 1)
    stores.documents.remove(saved)
    assert (stores.queue.pending(MODEL), stores.log.chunk_ids(MODEL).tolist(), list(stores.log.rows([1, 2]))) == (
        0,
        [],
        [],
    )


def test_another_model_has_everything_before_it(stores: Stores) -> None:
    stores.documents.save([draft("a", "one", "two")])
    assert stores.models.active() is None
    assert stores.queue.enqueue_all(MODEL) == 2
    stores.models.activate(MODEL)
    assert stores.models.active() == (MODEL.name, MODEL.dimension)
    embed(stores)
    assert stores.queue.enqueue_all(MODEL) == 0
    assert np.array_equal(stores.log.chunk_ids(MODEL), stores.log.chunk_ids())
