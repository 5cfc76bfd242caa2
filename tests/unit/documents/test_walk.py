"""Which files are found, in which order, and what is said about the others."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from trivium.documents.walk import FoundFile, Skipped, walk


def make(root: Path, *names: str, text: str = "words") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(*paths: Path, exclude: Sequence[str] = ()) -> list[str]:
    return [item.source_file for item in walk(paths, exclude) if isinstance(item, FoundFile)]


def skipped(*paths: Path) -> dict[str, str]:
    return {item.path.name: item.reason for item in walk(paths) if isinstance(item, Skipped)}


def test_files_are_named_relative_to_the_added_folder_and_come_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.txt", "a/b/c.md", "a.md")
    assert found(tmp_path) == ["a.md", "b.md", "a/z.txt", "a/b/c.md"]


def test_a_file_added_by_itself_goes_by_its_name(tmp_path: Path) -> None:
    make(tmp_path, "deep/down/note.md")
    (file,) = walk([tmp_path / "deep/down/note.md"])
    assert isinstance(file, FoundFile)
    assert (file.source_file, file.root) == ("note.md", tmp_path / "deep/down")


def test_a_path_given_twice_is_found_once(tmp_path: Path) -> None:
    make(tmp_path, "a/x.md")
    assert found(tmp_path, tmp_path / "a", tmp_path / "a/x.md") == ["a/x.md"]


def test_ignore_files_hold_at_every_level(tmp_path: Path) -> None:
    make(
        tmp_path,
        "keep.md",
        "drop.log",
        "build/x.md",
        "sub/drop.log",
        "sub/private/x.md",
        "sub/only.txt",
        "sub/more.txt",
    )
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n# comment\n")
    (tmp_path / "sub/.gitignore").write_text("/private\n")
    (tmp_path / "sub/.triviumignore").write_text("*.txt\n!only.txt\n")
    assert found(tmp_path) == ["keep.md", "sub/only.txt"]


def test_a_deeper_ignore_file_overrules_a_higher_one(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "sub/a.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "sub/.gitignore").write_text("!a.log\n")
    assert found(tmp_path) == ["sub/a.log"]


def test_exclude_patterns_are_added_and_cannot_be_overruled(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "drafts/b.md")
    (tmp_path / ".triviumignore").write_text("!drafts\n!drafts/b.md\n")
    assert found(tmp_path, exclude=["drafts"]) == ["a.md"]


@pytest.mark.parametrize("folder", [".git", ".hidden", "node_modules", "__pycache__", ".venv", "venv"])
def test_hidden_and_foreign_folders_are_left_out(tmp_path: Path, folder: str) -> None:
    make(tmp_path, f"{folder}/a.md", f"sub/{folder}/a.md", "b.md", ".hidden.md")
    assert found(tmp_path) == ["b.md"]


def test_a_virtual_environment_under_any_name_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, "myenv/pyvenv.cfg", "myenv/lib/readme.md", "b.md")
    assert found(tmp_path) == ["b.md"]


def test_files_without_a_reader_are_marked_as_such(tmp_path: Path) -> None:
    make(tmp_path, "photo.jpeg", "a.md")
    (item,) = [item for item in walk([tmp_path]) if isinstance(item, Skipped)]
    assert (item.path.name, item.reason, item.is_unsupported) == ("photo.jpeg", "no reader for .jpeg files", True)


def test_links_that_run_in_a_circle_are_reported_and_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "a/x.md")
    (tmp_path / "a/up").symlink_to(tmp_path)
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    assert found(tmp_path) == ["a/x.md"]
    assert skipped(tmp_path) == {
        "up": "a link that leads back to a folder it lies in",
        "one": "a link that leads back to itself",
        "two": "a link that leads back to itself",
    }


def test_links_that_lead_outside_are_reported_and_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "outside/secret.md", "inside/x.md")
    (tmp_path / "inside/leak").symlink_to(tmp_path / "outside")
    (tmp_path / "inside/leak.md").symlink_to(tmp_path / "outside/secret.md")
    (tmp_path / "inside/gone.md").symlink_to(tmp_path / "nowhere")
    assert found(tmp_path / "inside") == ["x.md"]
    reasons = skipped(tmp_path / "inside")
    assert set(reasons) == {"leak", "leak.md", "gone.md"}
    assert reasons["leak"].startswith("a link that leads outside the added folder")
    assert reasons["gone.md"] == "a link to nothing"


def test_a_link_inside_the_folder_makes_no_duplicate(tmp_path: Path) -> None:
    make(tmp_path, "z.md")
    (tmp_path / "a.md").symlink_to(tmp_path / "z.md")
    assert found(tmp_path) == ["z.md"]


def test_an_added_folder_may_itself_be_a_link(tmp_path: Path) -> None:
    make(tmp_path, "real/x.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert found(tmp_path / "link") == ["x.md"]


def test_a_missing_path_is_reported_and_the_others_are_found(tmp_path: Path) -> None:
    make(tmp_path, "x.md")
    assert found(tmp_path / "gone", tmp_path) == ["x.md"]
    assert skipped(tmp_path / "gone", tmp_path) == {"gone": "no such file or folder"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_reported_by_name(tmp_path: Path) -> None:
    make(tmp_path, "closed/x.md", "open.md")
    (tmp_path / "closed").chmod(0)
    try:
        assert found(tmp_path) == ["open.md"]
        assert skipped(tmp_path) == {"closed": "no permission to read it"}
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_pipes_and_sockets_are_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert skipped(tmp_path) == {"pipe.md": "not a regular file"}
