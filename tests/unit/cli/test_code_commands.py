"""`trivium index|repos|update|remove` and `trivium eval callgraph` as a person types them."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from code_repository import FIXTURES, project, write_repository
from private_git import TOKEN, USER, secrets_in
from shell import Shell


def test_index_search_update_and_remove(shell: Shell, tmp_path: Path) -> None:
    folder = write_repository(tmp_path / "my-api")
    made = shell.json("index", folder, "--name", "api")
    assert (made["repository"]["status"], made["files"]["added"], made["waiting_for_vectors"]) == ("ready", 5, 0)
    assert [row["name"] for row in shell.json("repos")["repositories"]] == ["api"]
    assert shell.json("search", "validateToken")["results"][0]["source_file"] == "src/utils/jwt.ts"
    (folder / "src/routes/api.ts").unlink()
    (updated,) = shell.json("update")
    assert (updated["files"]["removed"], updated["files"]["unchanged"]) == (1, 4)
    assert shell.json("remove", "api")["removed"] == ["api"]
    assert shell.json("repos")["repositories"] == []
    assert "trivium index" in shell("repos")


def test_people_read_what_was_done_and_what_was_left_out(shell: Shell, tmp_path: Path) -> None:
    folder = write_repository(tmp_path / "my-api")
    write_repository(folder, {"vendor/lib.js": "function pad() {}\n"})
    assert "my-api: 5 added; 6 functions" in shell("index", folder)
    assert "vendor: vendored" in shell.errors
    assert "ready" in shell("repos")
    assert "5 unchanged" in shell("update", "my-api")


def test_wrong_calls_name_the_way_out(shell: Shell, tmp_path: Path) -> None:
    shell("index", tmp_path / "nowhere", code=2)
    assert "no such folder" in shell.errors
    shell("index", write_repository(tmp_path / "my-api"), "--no-vectors")
    shell("update", "my-app", code=2)
    assert "my-api" in shell.errors
    shell("remove", "my-app", code=2)
    assert "nothing was removed" in shell.errors
    shell("remove", "--repository", "my-app", code=2)
    assert "my-api" in shell.errors


def test_one_repository_that_fails_does_not_keep_the_others_from_their_update(shell: Shell, tmp_path: Path) -> None:
    for name in ("alpha", "beta", "gamma"):
        shell("index", write_repository(tmp_path / name), "--no-vectors")
        (tmp_path / name / "new.py").write_text("def new():\n    return 1\n")
    (tmp_path / "beta").rename(tmp_path / "gone")
    said = shell("update", code=1)
    assert "alpha: 1 added" in said
    assert "gamma: 1 added" in said
    assert "beta: " in shell.errors
    assert "2 brought up to date, 1 failed" in shell.errors
    status = {row["name"]: row["status"] for row in shell.json("repos")["repositories"]}
    assert status == {"alpha": "ready", "beta": "error", "gamma": "ready"}
    rows = json.loads(shell("update", "--json", code=1))
    assert [row["success"] for row in rows] == [True, True, False]
    assert (rows[2]["name"], rows[2]["error"]["code"]) == ("beta", "INDEXING_FAILED")


def test_remove_takes_documents_and_repositories_and_never_guesses(shell: Shell, tmp_path: Path) -> None:
    shell("index", write_repository(tmp_path / "my-api"), "--no-vectors")
    shell(
        "add",
        write_repository(tmp_path / "handbook", {"a.md": "# One\n\ntext\n", "docs/b.md": "# Two\n\ntext\n"}),
        "--no-vectors",
    )
    shell("remove", "my-api", "nowhere.md", code=2)
    assert [row["name"] for row in shell.json("repos")["repositories"]] == ["my-api"]
    assert "removed 1 document(s), repository my-api" in shell("remove", "my-api", "a.md")
    assert shell.json("repos")["repositories"] == []
    assert (tmp_path / "my-api/src/db/users.ts").exists()
    shell("index", write_repository(tmp_path / "my-api"), "--name", "docs", "--no-vectors")
    shell("remove", "docs", code=2)
    assert "--repository docs" in shell.errors
    assert "repository docs" in shell("remove", "--repository", "docs")


def test_no_output_shows_the_token_of_an_address(shell: Shell, data: Path) -> None:
    said = shell("--verbose", "index", f"http://{USER}:{TOKEN}@127.0.0.1:9/team/api.git", code=2)
    assert TOKEN not in said + shell.errors
    assert "git fetch failed" in shell.errors
    assert TOKEN not in shell("repos", "--json")
    assert secrets_in(data) == []


def test_a_scip_index_goes_in_and_out(shell: Shell, tmp_path: Path) -> None:
    files = {path: data.decode() for path, data in project("typescript").items()}
    folder, out = write_repository(tmp_path / "shop", files), tmp_path / "out.scip"
    index = FIXTURES / "scip" / "typescript.scip"
    assert "6 files resolved by a SCIP index" in shell("index", folder, "--scip", index, "--no-vectors")
    shell("export", "--scip", out)
    assert "shop: 6 documents written" in shell.errors.replace("\n", " ")
    assert [path for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
    made = shell.json("index", folder, "--scip", out, "--no-vectors")
    assert (made["scip_files"], made["left_out"]) == (6, [])
    shell("index", write_repository(tmp_path / "other"), "--no-vectors")
    shell("export", "--scip", out, code=2)
    assert "other, shop" in shell.errors
    shell("export", "--scip", out, "--repository", "other")
    shell("export", "--repository", "other", code=2)
    (tmp_path / "no.scip").write_text("nothing of the kind")
    shell("index", folder, "--scip", tmp_path / "no.scip", code=2)
    assert "no.scip is no SCIP index" in shell.errors


def test_call_graphs_are_measured(shell: Shell, tmp_path: Path) -> None:
    case = {
        "files": {"main.py": "def f():\n    pass\n\ndef g():\n    f()\n\ng()\n"},
        "callgraph": {"main": ["main.g"], "main.g": ["main.f"], "main.f": ["main.g"]},
    }
    file = tmp_path / "cases.jsonl.gz"
    file.write_bytes(gzip.compress(json.dumps(case).encode() + b"\n"))
    assert shell.json("eval", "callgraph", file) == {
        "internal": {"precision": 1.0, "recall": pytest.approx(2 / 3)},
        "cases": 1,
        "complete": 1,
        "sound": 0,
    }
    assert "1 cases: 1 complete" in shell("eval", "callgraph", file)
    file.write_bytes(gzip.compress(b'{"files": {}}\n'))
    shell("eval", "callgraph", file, code=2)
    assert "line 1" in shell.errors
    file.write_bytes(b"not compressed")
    shell("eval", "callgraph", file, code=2)
    assert "cannot be read" in shell.errors


def test_watching_reads_every_change_and_survives_a_bad_one(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_repository(tmp_path / "my-api")
    shell("index", folder)

    def changes(watched: Path, **_: object) -> Iterator[set[tuple[int, str]]]:
        assert watched == folder
        (folder / "src").rename(tmp_path / "away")
        yield {(3, str(folder / "src"))}
        (tmp_path / "away").rename(folder / "src")
        (folder / "src/new.py").write_text("def new():\n    return 1\n")
        yield {(1, str(folder / "src/new.py"))}

    monkeypatch.setattr("watchfiles.watch", changes)
    assert "1 added, 5 unchanged" in shell("watch", "my-api")
    assert "no source files" in shell.errors
