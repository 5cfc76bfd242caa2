"""Everything moves from any store into any other, is the same there, and a move that was cut off goes on."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sql_databases import KINDS, postgresql_url

from code_repository import write_repository
from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.sqlite.keys import SqliteKeyStore
from trivium.errors import Conflict
from trivium.model.hits import SearchQuery
from trivium.ports.keys import StoredKey
from trivium.settings import Settings

Open = Callable[[str, str], App]


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    opened: list[App] = []

    def make(kind: str, name: str) -> App:
        store = postgresql_url(tmp_path / name) if kind == "postgresql" else ""
        settings = Settings(data=tmp_path / name, store=store, extractor="rules")
        opened.append(open_app(settings, lambda _: HashingEmbedder()))
        return opened[-1]

    yield make
    for app in opened:
        app.close()


def fill(app: App, folder: Path) -> None:
    app.documents.add_texts(
        "moved",
        ((f"{i}.md", f"Title {i}", f"Acme Inc. acquired Globex {i} in Berlin. Übergröße {i}.") for i in range(30)),
    )
    for i in range(5):
        app.concepts.change.create({"name": f"concept {i}", "explanation": f"text {i}"})
    app.code.repositories.index(str(write_repository(folder / "repository")))
    app.embedding.run()
    app.extraction.run()
    app.documents.add_texts("gone", [("gone.md", "", "an id that must not come again")])
    (last,) = [file.document_id for file in app.store.files("documents") if file.source_file == "gone.md"]
    app.store.remove([last])
    SqliteKeyStore(app.database).add(StoredKey("k1", "name", ("read",), b"digest", "1234", 1.0, None, None))


def knowledge(app: App) -> list[str]:
    return list(app.export_lines())[1:]


def silent(table: str, rows: int) -> None: ...


@pytest.mark.parametrize("there", KINDS)
def test_there_and_back_again_nothing_has_changed(open_store: Open, tmp_path: Path, there: str) -> None:
    home, abroad, back = open_store("sqlite", "home"), open_store(there, "abroad"), open_store("sqlite", "back")
    fill(home, tmp_path)
    home.move_to(abroad, silent)
    abroad.move_to(back, silent)
    assert knowledge(home) == knowledge(abroad) == knowledge(back)
    assert all(state.agrees for app in (abroad, back) for state in app.check())
    assert [app.embedding.pending() for app in (abroad, back)] == [0, 0]
    found = [[hit.chunk_id for hit in app.search.search(SearchQuery("globex 7")).hits] for app in (home, abroad, back)]
    assert found[0] == found[1] == found[2]
    assert [key.key_id for key in SqliteKeyStore(back.database).all()] == ["k1"]
    abroad.documents.add_texts("later", [("new.md", "", "new words")])
    assert max(abroad.log.chunk_ids()) > max(home.log.chunk_ids()) + 1  # the id that was given away stays so


@pytest.mark.parametrize("there", KINDS)
def test_a_move_that_was_cut_off_goes_on_where_it_stopped(open_store: Open, tmp_path: Path, there: str) -> None:
    home, abroad = open_store("sqlite", "home"), open_store(there, "abroad")
    fill(home, tmp_path)
    copied: list[str] = []

    def cut(table: str, rows: int) -> None:
        copied.append(table)
        if len(copied) == 4:
            raise ConnectionError("cut")

    with pytest.raises(ConnectionError):
        home.move_to(abroad, cut)
    again: list[str] = []
    home.move_to(abroad, lambda table, rows: again.append(table))
    assert set(copied) & set(again) == set()
    assert knowledge(home) == knowledge(abroad)


def test_a_store_in_use_is_not_moved_into(open_store: Open, tmp_path: Path) -> None:
    home, used = open_store("sqlite", "home"), open_store("sqlite", "used")
    fill(home, tmp_path)
    used.documents.add_texts("own", [("own.md", "", "words")])
    with pytest.raises(Conflict, match="not empty"):
        home.move_to(used, silent)


@pytest.mark.parametrize("there", KINDS)
def test_what_is_written_meanwhile_comes_along(open_store: Open, tmp_path: Path, there: str) -> None:
    home, abroad = open_store("sqlite", "home"), open_store(there, "abroad")
    fill(home, tmp_path)
    written: list[str] = []

    def write(table: str, rows: int) -> None:
        if table == "passages" and not written:
            written.append(table)
            home.documents.add_texts("late", [("late.md", "", "written while everything was moved")])

    home.move_to(abroad, write)
    assert knowledge(home) == knowledge(abroad)
