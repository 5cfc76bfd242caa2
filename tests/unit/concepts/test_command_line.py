"""`trivium concepts …` over a real room."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from concept_rooms import Room
from trivium.backends.memory.concepts import MemoryConceptProjection
from trivium.doors.cli import concepts as command
from trivium.errors import Conflict, InvalidInput, NotFound, TriviumError

Run = Callable[..., Any]


@pytest.fixture
def run(room: Room, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs one command; gives what it printed, as JSON where it was asked for; raises what it raised."""

    @contextmanager
    def opened() -> Iterator[object]:
        yield SimpleNamespace(concepts=room.concepts)

    monkeypatch.setattr(command, "opened", opened)

    def run_command(*words: object) -> Any:
        done = CliRunner().invoke(command.app, [str(word) for word in words])
        if isinstance(done.exception, TriviumError):
            raise done.exception
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout) if "--json" in words or "--until" in words else done.stdout

    return run_command


def test_a_concept_is_added_shown_edited_linked_and_its_history_printed(run: Run) -> None:
    made = run("add", "For loop", "repeats", "--area", "Code", "--certainty", 80).strip()
    run("add", "Variables", "names for values")
    assert run("show", "for LOOP", "--json")["certainty_score"] == 80
    assert run("edit", made, "--certainty", 95, "--json") == {"version": 2, "updated_fields": ["certainty_score"]}
    link = run("link", "Variables", "For loop", "prerequisite").strip()
    assert run("show", "Variables", "--json")["relationships"][0]["relationship_id"] == link
    assert "Variables → prerequisite → For loop" in run("show", "For loop")
    assert [row["type"] for row in run("history", "For loop", "--json")] == ["ConceptCreated", "ConceptUpdated"]
    assert run("show", made, "--as-of", "1", "--json")["certainty_score"] == 80
    assert run("link", "Variables", "For loop", "prerequisite", "--delete").strip() == link
    with pytest.raises(NotFound):
        run("link", "Variables", "For loop", "prerequisite", "--delete")


def test_a_concept_is_deleted_and_restored(run: Run) -> None:
    made = run("add", "A", "a").strip()
    assert run("edit", "A", "--delete", "--json") == {"deleted": 2}
    with pytest.raises(NotFound):
        run("show", "A")
    assert run("edit", made, "--restore", "--json") == {"restored": 3}
    assert "ConceptDeleted" in run("history", made)


def test_a_stale_edit_is_refused(run: Run) -> None:
    run("add", "A", "a")
    with pytest.raises(Conflict, match="current version is 1"):
        run("edit", "A", "--name", "B", "--expected-version", 7)


def test_a_name_that_several_bear_asks_for_an_id(run: Run) -> None:
    run("add", "A", "one")
    run("add", "A", "two")
    with pytest.raises(InvalidInput, match="2 concepts are called") as refused:
        run("show", "A")
    assert len(refused.value.allowed or ()) == 2


def test_notes_go_in_and_out(run: Run, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "A.md").write_text("first, before [[B]]")
    (vault / "B.md").write_text("second")
    report = run("import", vault, "--json")
    assert (report["created"], report["relationships"], report["unresolved"]) == (2, 1, [])
    assert run("export", tmp_path / "out", "--json")["concepts"] == 2
    assert "0 created, 0 updated, 2 unchanged" in run("import", tmp_path / "out")
    for name in ("out.csv", "out.jsonl"):
        run("export", tmp_path / name)
        assert "2 unchanged" in run("import", tmp_path / name)
    with pytest.raises(InvalidInput, match="not empty"):
        run("export", tmp_path / "out")
    with pytest.raises(NotFound, match="does not exist"):
        run("import", tmp_path / "nothing")
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(InvalidInput, match="unknown format"):
        run("import", tmp_path / "x.txt")


def test_views_are_verified_repaired_and_replayed(run: Run, room: Room) -> None:
    run("add", "A", "a")
    assert run("verify", "--json")["consistent"]
    with room.database.transaction() as db:
        db.execute("UPDATE concepts SET name = 'x'")
    with pytest.raises(Conflict, match="differ from the log"):
        run("verify")
    assert run("verify", "--repair", "--json")["consistent"]
    assert "1 events: 1 concepts, 0 relationships" in run("replay")
    assert run("replay", "graph", "--json") == {"position": 1, "concepts": 1, "relationships": 0}
    assert [row["name"] for row in run("replay", "--until", 1)] == ["A"]
    assert run("replay", "--until", 0) == []
    assert "nothing left to retry" in run("retry")
    with pytest.raises(NotFound):
        run("replay", MemoryConceptProjection().name)
