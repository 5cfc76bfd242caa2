"""Documents in, changed, moved and out again, through the app."""

from collections.abc import Callable
from pathlib import Path

import pytest

from trivium.app import App
from trivium.errors import NotFound

Write = Callable[[str, str | bytes], Path]


def chunk_ids(app: App) -> dict[str, int]:
    chunks = app.chunks.get(app.log.chunk_ids().tolist())
    return {chunk.text.strip(): chunk.chunk_id for chunk in chunks}


def agree(app: App) -> bool:
    return all(state.agrees for state in app.check())


def test_a_folder_becomes_documents_with_chunks_that_both_indexes_hold(app: App, write: Write) -> None:
    folder = write("guide.md", "# Guide\n\nAlpha beta.\n").parent
    write("deep/notes.txt", "Gamma delta.")
    report = app.documents.add([folder])
    app.embedding.run()
    assert (report.added, report.chunks_added, report.skipped) == (2, 2, [])
    assert agree(app)


def test_adding_again_changes_nothing(app: App, write: Write) -> None:
    folder = write("a.md", "# A\n\nText.\n").parent
    app.documents.add([folder])
    before = chunk_ids(app), app.log.head()
    report = app.documents.add([folder])
    assert (report.unchanged, report.added, report.updated) == (1, 0, 0)
    assert (chunk_ids(app), app.log.head()) == before


def test_a_changed_file_keeps_the_ids_of_text_that_stayed(app: App, write: Write) -> None:
    one, two = "# One\n\n" + "first words here. " * 120, "# Two\n\n" + "second words there. " * 120
    path = write("a.md", f"{one}\n\n{two}\n")
    app.documents.add([path])
    before = chunk_ids(app)
    write("a.md", f"# Zero\n\nnew start. {'zero ' * 300}\n\n{one}\n\n{two} and more.\n")
    report = app.documents.add([path])
    after = chunk_ids(app)
    kept = before.keys() & after.keys()
    assert report.updated == 1
    assert kept
    assert all(before[text] == after[text] for text in kept)
    assert not (set(after.values()) - set(before.values())) & set(before.values())


def test_a_removed_file_takes_its_chunks_with_it(app: App, write: Write) -> None:
    gone = write("gone.md", "Going.")
    write("stays.md", "Staying.")
    app.documents.add([gone.parent])
    app.embedding.run()
    gone.unlink()
    report = app.documents.add([gone.parent])
    assert report.removed == 1
    assert list(chunk_ids(app)) == ["Staying."]
    assert agree(app)


def test_a_moved_file_keeps_its_chunk_ids(app: App, write: Write) -> None:
    old = write("old.md", "Same words.")
    app.documents.add([old.parent])
    before = chunk_ids(app)
    old.rename(old.with_name("new.md"))
    report = app.documents.add([old.parent])
    assert (report.moved, report.removed, report.added) == (1, 0, 0)
    assert chunk_ids(app) == before
    assert [file.source_file for file in app.documents.files()] == ["new.md"]


def test_a_file_added_alone_and_with_its_folder_is_one_document(app: App, write: Write) -> None:
    inner = write("sub/a.md", "Inner text.")
    folder = inner.parent.parent
    app.documents.add([inner])
    before = chunk_ids(app)
    app.documents.add([folder])
    assert chunk_ids(app) == before
    assert [file.source_file for file in app.documents.files()] == ["sub/a.md"]
    app.documents.add([inner])
    assert [file.source_file for file in app.documents.files()] == ["sub/a.md"]


def test_a_broken_file_is_named_and_skipped_and_the_rest_goes_on(app: App, write: Write) -> None:
    bad = write("bad.pdf", b"%PDF-1.7 not really")
    write("good.md", "Good.")
    report = app.documents.add([bad.parent])
    assert report.added == 1
    assert [item.path.name for item in report.skipped] == ["bad.pdf"]


def test_a_file_that_breaks_later_keeps_what_was_read_from_it(app: App, write: Write) -> None:
    path = write("a.md", "Readable.")
    app.documents.add([path.parent])
    path.write_bytes(b"\x00\x01\x02\xff" * 1000)
    report = app.documents.add([path.parent])
    assert [item.path.name for item in report.skipped] == ["a.md"]
    assert list(chunk_ids(app)) == ["Readable."]


def test_removing_by_folder_takes_all_that_lies_in_it(app: App, write: Write) -> None:
    folder = write("x/a.md", "A.").parent.parent
    write("x/b.md", "B.")
    write("y/c.md", "C.")
    app.documents.add([folder])
    gone = app.documents.remove(["x"])
    assert sorted(file.source_file for file in gone) == ["x/a.md", "x/b.md"]
    assert list(chunk_ids(app)) == ["C."]


def test_removing_what_is_not_there_names_the_nearest_and_changes_nothing(app: App, write: Write) -> None:
    app.documents.add([write("handbook.md", "H.")])
    with pytest.raises(NotFound) as error:
        app.documents.remove(["handbok.md"])
    assert error.value.nearest == ["handbook.md"]
    assert list(chunk_ids(app)) == ["H."]


def test_chunk_ids_are_never_given_twice(app: App, write: Write) -> None:
    first = write("a.md", "First.")
    app.documents.add([first])
    used = set(chunk_ids(app).values())
    app.documents.remove(["a.md"])
    app.documents.add([write("b.md", "Second.")])
    assert not used & set(chunk_ids(app).values())


def test_what_waits_for_vectors_is_embedded_by_whichever_process_comes_next(
    app: App, data: Path, open_data: Callable[..., App], write: Write
) -> None:
    app.documents.add([write("a.md", "Later.")])
    assert app.embedding.pending() == 1
    app.close()
    again = open_data(data)
    assert again.embedding.run() == 1
    assert again.embedding.pending() == 0
    assert agree(again)


def test_equal_passages_are_embedded_once(app: App, write: Write) -> None:
    write("a.md", "# Same\n\nTwin words.")
    app.documents.add([write("b.md", "# Same\n\nTwin words.").parent])
    app.embedding.run()
    assert app.overview.counts()["vectors_cached"] == 1
