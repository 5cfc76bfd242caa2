"""The command line as a person or a script meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shell import Shell
from trivium.doors.cli.main import data_first

Write = Callable[[str, str | bytes], Path]


def test_add_search_status_remove(shell: Shell, write: Write) -> None:
    folder = write("guides/zebra.md", "# Zebra\n\nStripes in the savanna.\n").parent.parent
    write("notes.txt", "Nothing of interest.")
    report = shell.json("add", folder)
    assert (report["added"], report["embedded"], report["skipped"]) == (2, 2, [])
    found = shell.json("search", "zebra stripes")
    assert found["results"][0]["source_file"] == "guides/zebra.md"
    assert found["results"][0]["source_category"] == "guides"
    assert shell.json("status")["documents"] == 2
    assert shell.json("remove", "notes.txt") == {"removed": ["notes.txt"], "chunks": 1}
    assert shell.json("status")["chunks"] == 1


def test_each_mode_has_the_fields_of_the_contract(shell: Shell, write: Write) -> None:
    shell("add", write("a.md", "# Title\n\nWords to find."))
    ids = {"chunk_id", "hybrid_score", "rank"}
    metadata = ids | {"source_file", "source_category", "chunk_index", "total_chunks"}
    expected = {
        "ids_only": ids,
        "metadata": metadata,
        "preview": metadata | {"chunk_snippet", "context_header"},
        "full": metadata
        | {"context_header", "chunk_text", "similarity_score", "bm25_score", "score_type", "chunk_token_count"},
    }
    for mode, fields in expected.items():
        (row,) = shell.json("search", "words", "--mode", mode)["results"]
        assert set(row) == fields


def test_filters_narrow_the_search(shell: Shell, write: Write) -> None:
    write("old/a.md", "---\ndate: 2020-01-01\n---\nApples here.")
    folder = write("new/b.md", "---\ndate: 2025-01-01\n---\nApples there.").parent.parent
    shell("add", folder)
    rows = shell.json("search", "apples", "--filter", "date >= 2024-01-01")["results"]
    assert [row["source_file"] for row in rows] == ["new/b.md"]
    rows = shell.json("search", "apples", "--category", "old")["results"]
    assert [row["source_file"] for row in rows] == ["old/a.md"]


def test_a_wrong_filter_says_what_is_wrong_and_exits_with_2(shell: Shell) -> None:
    shell("search", "x", "--filter", "date >>> 5", code=2)
    assert "error:" in shell.errors


def test_the_data_option_may_stand_anywhere() -> None:
    assert data_first(["search", "x", "--data", "d"]) == ["--data", "d", "search", "x"]
    assert data_first(["search", "x", "--data=d"]) == ["--data=d", "search", "x"]
    assert data_first(["search", "--", "--data", "d"]) == ["search", "--", "--data", "d"]


def test_adding_what_does_not_exist_fails_and_names_it(shell: Shell, tmp_path: Path) -> None:
    shell("add", tmp_path / "nowhere.md", code=2)
    assert "nowhere.md" in shell.errors.replace("\n", "")


def test_one_bad_file_among_good_ones_is_no_failure(shell: Shell, write: Write) -> None:
    write("bad.pdf", b"%PDF-1.4 broken")
    shell("add", write("good.md", "Good.").parent)
    assert "bad.pdf" in shell.errors.replace("\n", "")


def test_an_unforeseen_error_shows_a_number_and_never_its_text(
    shell: Shell, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import trivium.app

    def explode(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(trivium.app, "open_app", explode)
    shell("status", code=70)
    assert "secret detail" not in shell.errors
    (log,) = (data / "logs").glob("error-*.txt")
    assert "secret detail" in log.read_text()


def test_export_and_import_carry_everything_over(shell: Shell, write: Write, tmp_path: Path) -> None:
    shell("add", write("a.md", "Carry me."))
    file = tmp_path / "all.jsonl.gz"
    shell("export", file)
    counts = json.loads(shell("--data", tmp_path / "other", "import", file, "--json"))
    assert counts["chunks"] == 1
    assert json.loads(shell("--data", tmp_path / "other", "search", "carry", "--json"))["results"]


def test_doctor_is_content_with_a_sound_folder(shell: Shell, write: Write) -> None:
    shell("add", write("a.md", "Sound."))
    assert {finding["level"] for finding in shell.json("doctor")} == {"ok"}


def test_doctor_says_what_to_do_about_a_damaged_store(shell: Shell, data: Path) -> None:
    data.mkdir()
    (data / "trivium.db").write_bytes(b"this is no database" * 100)
    shell("doctor", code=1)


def test_every_command_has_help_with_an_example(shell: Shell) -> None:
    for command in ("add", "remove", "search", "status", "reindex", "doctor", "export", "import", "demo"):
        assert "Example:" in shell(command, "--help")


def test_a_wrong_call_shows_the_usage_and_exits_with_2(shell: Shell) -> None:
    for words in (["nosuch"], ["search"], ["search", "x", "--top", "many"]):
        shell(*words, code=2)
        assert "internal error" not in shell.errors
        assert "Usage" in shell.errors or "No such" in shell.errors
