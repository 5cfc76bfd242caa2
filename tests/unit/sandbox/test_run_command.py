"""`trivium run`."""

import io
from pathlib import Path

import pytest

from shell import Shell
from trivium.doors.cli.context import chosen


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], data: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("TRIVIUM_MODEL", "hashing-64")
    monkeypatch.setattr(chosen, "data", None)
    return Shell(capsys, data)


def program(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_program_s_result_is_printed_and_its_output_kept_apart(shell: Shell, tmp_path: Path) -> None:
    out = shell("run", program(tmp_path, "print('beside')\nfound = await list_hierarchy()\nfound.total_concepts"))
    assert out == "0\n"
    assert "beside" in shell.errors


def test_text_is_printed_as_it_is(shell: Shell, tmp_path: Path) -> None:
    assert shell("run", program(tmp_path, "'a\\n\"b\"'")) == 'a\n"b"\n'


def test_a_program_can_come_from_standard_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("[1, 2]"))
    assert shell("run", "-") == "[\n  1,\n  2\n]\n"


def test_an_error_shows_the_line_and_fails(shell: Shell, tmp_path: Path) -> None:
    shell("run", program(tmp_path, "x = 1\nx / 0"), code=1)
    assert "line 2: ZeroDivisionError" in shell.errors
    assert "2: x / 0" in shell.errors


def test_writing_has_to_be_allowed(shell: Shell, tmp_path: Path) -> None:
    path = program(tmp_path, "(await create_concept('a', 'b')).success")
    shell("run", path, code=1)
    assert "WRITES_NOT_ALLOWED" in shell.errors
    assert shell("run", path, "--allow-writes") == "true\n"


def test_the_whole_answer_is_there_for_machines(shell: Shell, tmp_path: Path) -> None:
    body = shell.json("run", program(tmp_path, "40 + 2"))
    assert body["results"] == 42
    assert body["_metadata"]["operation"] == "execute_code"


def test_a_file_that_is_not_there_is_named(shell: Shell) -> None:
    shell("run", "nowhere.py", code=2)
    assert "nowhere.py" in shell.errors
