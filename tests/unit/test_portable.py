"""Export and import: everything, loss-free, all or nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trivium.app import App
from trivium.errors import Conflict, InvalidInput
from trivium.model.hits import SearchQuery

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def filled(app: App, write: Write) -> App:
    folder = write("a.md", "---\ncategory: guides\ntags: [x, y]\n---\n# A\n\nAlpha beta gamma.\n").parent
    write("b.md", "# B\n\nDelta epsilon.\n")
    write("gone.md", "Gone.")
    app.documents.add([folder])
    app.documents.remove(["gone.md"])
    app.embedding.run()
    return app


def knowledge(app: App) -> list[str]:
    _header, *rows = list(app.export_lines())
    return sorted(rows)


def test_a_store_survives_export_and_import_unchanged(
    filled: App, tmp_path: Path, open_data: Callable[..., App]
) -> None:
    copy = open_data(tmp_path / "copy")
    copy.import_lines(list(filled.export_lines()))
    assert knowledge(copy) == knowledge(filled)
    assert all(state.agrees for state in copy.check())
    assert copy.embedding.pending() == 0
    question = SearchQuery("alpha beta")
    assert [h.chunk_id for h in copy.search.search(question).hits] == [
        h.chunk_id for h in filled.search.search(question).hits
    ]


def test_without_vectors_they_are_computed_again(filled: App, tmp_path: Path, open_data: Callable[..., App]) -> None:
    copy = open_data(tmp_path / "copy")
    copy.import_lines(list(filled.export_lines(vectors=False)))
    assert copy.embedding.pending() == 2
    copy.embedding.run()
    assert all(state.agrees for state in copy.check())


def test_ids_that_were_given_away_are_not_given_again_in_the_copy(
    filled: App, tmp_path: Path, open_data: Callable[..., App], write: Write
) -> None:
    copy = open_data(tmp_path / "copy")
    copy.import_lines(list(filled.export_lines()))
    highest = 3  # three chunks were made, the last of them is gone
    copy.documents.add([write("new/c.md", "New words.")])
    assert max(copy.log.chunk_ids().tolist()) > highest


def test_an_import_into_a_used_folder_is_refused(filled: App) -> None:
    with pytest.raises(Conflict, match="not empty"):
        filled.import_lines(list(filled.export_lines()))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: lines[:-1],
        lambda lines: [*lines, "{not json"],
        lambda lines: [*lines, json.dumps({"type": "sqlite_master"})],
        lambda lines: [*lines, json.dumps({"type": "chunks", "nonsense": 1})],
        lambda lines: ["{}", *lines[1:]],
        lambda lines: [],
    ],
)
def test_a_damaged_export_changes_nothing(
    filled: App, tmp_path: Path, open_data: Callable[..., App], spoil: Callable[[list[str]], list[str]]
) -> None:
    copy = open_data(tmp_path / "copy")
    with pytest.raises(InvalidInput):
        copy.import_lines(spoil(list(filled.export_lines())))
    assert copy.overview.counts()["documents"] == 0


def test_an_export_of_a_newer_version_is_refused(filled: App, tmp_path: Path, open_data: Callable[..., App]) -> None:
    header, *rows = list(filled.export_lines())
    newer = json.loads(header)
    newer["parts"]["documents"] = 99
    copy = open_data(tmp_path / "copy")
    with pytest.raises(Conflict, match="newer"):
        copy.import_lines([json.dumps(newer), *rows])


def test_concepts_go_with_it_history_and_all(filled: App, tmp_path: Path, open_data: Callable[..., App]) -> None:
    concept = filled.concepts.change.create({"name": "Loop", "explanation": "Repeats.", "area": "Code"})
    filled.concepts.change.update(concept.concept_id, {"explanation": "Repeats a block."})
    copy = open_data(tmp_path / "copy")
    copy.import_lines(list(filled.export_lines()))
    assert knowledge(copy) == knowledge(filled)
    assert len(copy.concepts.read.history(concept.concept_id)) == 2
    assert copy.concepts.check.verify(repair=False).consistent
    copy.concepts.change.delete(concept.concept_id)
    assert copy.concepts.read.hierarchy() != filled.concepts.read.hierarchy()
