"""One data folder, several processes, one model at a time."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.errors import Conflict, ModelMismatch
from trivium.model.hits import SearchQuery
from trivium.settings import Settings

Write = Callable[[str, str | bytes], Path]


def by_name(name: str) -> HashingEmbedder:
    return HashingEmbedder(dimension=int(name.rpartition("-")[2]))


@pytest.fixture
def open_sized(data: Path) -> Callable[..., App]:
    def open_with(**given: object) -> App:
        return open_app(Settings(data=data, **given), by_name)

    return open_with


def test_a_model_other_than_the_index_s_is_an_error_that_names_the_command(
    open_sized: Callable[..., App], write: Write
) -> None:
    first = open_sized(model="hashing-64")
    first.documents.add([write("a.md", "Words.")])
    first.embedding.run()
    first.close()
    second = open_sized(model="hashing-32")
    with pytest.raises(ModelMismatch) as error:
        second.search.search(SearchQuery("words"))
    assert "trivium reindex --model hashing-32" in str(error.value.hint)
    second.close()


def test_reindexing_to_another_model_reaches_a_running_process_too(
    open_sized: Callable[..., App], data: Path, write: Write
) -> None:
    first = open_sized(model="hashing-64")
    first.documents.add([write("a.md", "Apples and pears.")])
    first.embedding.run()
    first.close()
    running = open_app(Settings(data=data), by_name)  # names no model: serves with the index's own
    assert running.embedder.model.name == "hashing-64"
    mover = open_app(Settings(data=data), by_name)
    mover.reindex("hashing-32")
    assert running.embedder.model.name == "hashing-32"
    hits = running.search.search(SearchQuery("apples", mode="vector")).hits
    assert len(hits) == 1
    assert all(state.agrees for state in running.check())
    running.close()
    mover.close()


def test_a_write_in_one_process_is_found_by_another_at_once(
    data: Path, open_data: Callable[..., App], write: Write
) -> None:
    reader, writer = open_data(data), open_data(data)
    assert reader.search.search(SearchQuery("zebra")).hits == ()
    writer.documents.add([write("a.md", "A zebra.")])
    assert len(reader.search.search(SearchQuery("zebra")).hits) == 1
    writer.documents.remove(["a.md"])
    assert reader.search.search(SearchQuery("zebra")).hits == ()


def test_search_works_before_there_are_vectors_and_says_what_lacks_them(app: App, write: Write) -> None:
    app.documents.add([write("a.md", "A zebra in the garden.")])
    ranking = app.search.search(SearchQuery("zebra"))
    assert (len(ranking.hits), ranking.missing_vectors) == (1, 1)
    app.embedding.run()
    assert app.search.search(SearchQuery("zebra")).missing_vectors == 0


def test_lost_indexes_are_built_again_from_the_store(data: Path, open_data: Callable[..., App], write: Write) -> None:
    first = open_data(data)
    first.documents.add([write("a.md", "A zebra.")])
    first.embedding.run()
    first.close()
    shutil.rmtree(data / "keywords")
    shutil.rmtree(data / "vectors")
    again = open_data(data)
    assert len(again.search.search(SearchQuery("zebra")).hits) == 1
    assert all(state.agrees for state in again.check())


def test_a_folder_of_a_newer_trivium_is_refused(data: Path, open_data: Callable[..., App]) -> None:
    app = open_data(data)
    with app.database.transaction() as db:
        db.execute("UPDATE migrations SET version = 99 WHERE part = 'documents'")
    with pytest.raises(Conflict, match="newer"):
        open_data(data)


def test_a_server_gives_vectors_to_what_another_process_added(
    data: Path, open_data: Callable[..., App], write: Write
) -> None:
    server, writer = open_data(data), open_data(data)
    server.start_background()
    writer.documents.add([write("a.md", "A zebra.")])
    until = time.monotonic() + 60
    while writer.embedding.pending() and time.monotonic() < until:
        time.sleep(0.05)
    assert writer.embedding.pending() == 0
