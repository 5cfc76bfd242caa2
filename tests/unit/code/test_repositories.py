"""Repositories go in, are kept up to date, and go out."""

import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from code_repository import FILES, write_repository
from trivium.app import App
from trivium.backends.git import SubprocessGit
from trivium.code.dependents import get_dependents
from trivium.errors import Conflict, InvalidInput, NotFound, TriviumError
from trivium.model.hits import SearchQuery
from trivium.ports.repositories import Credentials


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_repository(tmp_path / "my-api")


def callers(app: App, name: str, repository: str = "my-api") -> set[str]:
    found = get_dependents(app.code.graph, "function", name, repository)["dependents"]
    return {row["path"] for row in found if row["relationship"] == "calls"}


def rows(app: App) -> list[tuple[object, ...]]:
    with sqlite3.connect(app.data / "trivium.db") as db:
        found = db.execute("SELECT * FROM code_edges ORDER BY 1, 2, 3").fetchall()
        found += db.execute("SELECT * FROM code_symbols ORDER BY 1").fetchall()
    db.close()
    return found


def test_a_repository_is_searched_like_everything_else(app: App, folder: Path) -> None:
    report = app.code.repositories.index(str(folder))
    assert (report.added, report.repository.status, report.repository.function_count) == (5, "ready", 6)
    hits = app.search.search(SearchQuery("validateToken signature")).hits
    (chunk, *_) = app.chunks.get([hit.chunk_id for hit in hits])
    assert (chunk.source, chunk.source_file, chunk.metadata["repository"]) == ("code", "src/utils/jwt.ts", "my-api")
    assert not app.search.search(SearchQuery("neverSeen", mode="bm25")).hits


def test_the_same_files_give_the_same_rows(
    app: App, folder: Path, tmp_path: Path, open_data: Callable[..., App]
) -> None:
    app.code.repositories.index(str(folder))
    again = open_data(tmp_path / "again")
    again.code.repositories.index(str(folder))
    assert rows(app) == rows(again)


def test_nothing_is_done_where_nothing_changed(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    generation = app.chunks.generation()
    report = app.code.repositories.update("my-api")
    assert (report.added, report.updated, report.removed) == (0, 0, 0)
    assert app.chunks.generation() == generation


def test_a_changed_file_changes_its_edges_and_only_its_chunks(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    assert callers(app, "findUser") == {"src/services/auth.ts::authenticate"}
    extra = "\nexport function whoAmI(r: any) {\n  return findUser(r.name);\n}\n"
    (folder / "src/routes/api.ts").write_text(
        'import { findUser } from "../db/users";\n' + FILES["src/routes/api.ts"] + extra
    )
    report = app.code.repositories.update("my-api")
    assert (report.added, report.updated, report.unchanged) == (0, 1, 4)
    assert callers(app, "findUser") == {"src/services/auth.ts::authenticate", "src/routes/api.ts::whoAmI"}


def test_a_renamed_file_takes_its_chunks_along_and_a_deleted_one_takes_them_away(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    before = {file.source_file: file.document_id for file in app.store.files("code")}
    (folder / "src/db/users.ts").rename(folder / "src/db/people.ts")
    (folder / "src/routes/api.ts").unlink()
    report = app.code.repositories.update("my-api")
    assert (report.added, report.moved, report.removed) == (0, 1, 1)
    after = {file.source_file: file.document_id for file in app.store.files("code")}
    assert after["src/db/people.ts"] == before["src/db/users.ts"]
    assert "src/routes/api.ts" not in after
    assert not app.search.search(SearchQuery("handleLogin", mode="bm25")).hits
    with pytest.raises(NotFound):
        callers(app, "handleLogin")


def test_a_package_indexed_by_itself_knows_its_own_name(app: App, tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/prices.py": "def total():\n    return 1\n",
        "shop/till.py": "from shop.prices import total\n\n\ndef pay():\n    return total()\n",
    }
    root = write_repository(tmp_path / "work", files)
    app.code.repositories.index(str(root), "whole")
    app.code.repositories.index(str(root / "shop"), "part")
    assert callers(app, "total", "whole") == {"shop/till.py::pay"}
    assert callers(app, "total", "part") == {"till.py::pay"}
    found = get_dependents(app.code.graph, "file", "prices.py", "part")["dependents"]
    assert ("till.py", "imports") in {(row["path"], row["relationship"]) for row in found}


def test_a_removed_repository_leaves_nothing(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    app.code.repositories.remove("my-api")
    assert rows(app) == []
    assert list(app.store.files("code")) == []
    assert app.code.repositories.all() == []
    assert (folder / "src/db/users.ts").exists()
    with pytest.raises(NotFound, match="Repository not found"):
        app.code.repositories.remove("my-api")


def test_a_failed_indexing_keeps_what_was_there(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    known = rows(app)
    for path in FILES:
        (folder / path).unlink()
    (folder / "only.py").write_text("X = 1\n")
    with pytest.raises(InvalidInput, match="not one function"):
        app.code.repositories.update("my-api")
    assert rows(app) == known
    assert app.code.repositories.get("my-api").status == "error"


def test_a_folder_that_is_gone_is_said_to_be(app: App, folder: Path, tmp_path: Path) -> None:
    app.code.repositories.index(str(folder))
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="went away"):
        app.code.repositories.update("my-api")
    assert callers(app, "findUser")


def test_awkward_files_are_named_and_left_out(app: App, folder: Path) -> None:
    (folder / "broken.py").write_text("def broken(:\n  pass\n\ndef whole():\n    return 1\n")
    (folder / "binary.py").write_bytes(b"\0\1\2")
    (folder / "huge.js").write_bytes(b"// " + b"x" * 2_100_000)
    (folder / "packed.js").write_text("function a(){return 1};" * 50_000)
    write_repository(folder, {"node_modules/left-pad/index.js": "function pad() {}\n"})
    (folder / "loop").symlink_to(folder)
    report = app.code.repositories.index(str(folder))
    reasons = {item.path: item.reason for item in report.left_out}
    assert set(reasons) == {"binary.py", "huge.js", "node_modules"}
    spots = {(spot.path, spot.reason) for spot in app.code.graph.repositories()["my-api"]}
    assert {("broken.py", "syntax_error"), ("packed.js", "minified")} <= spots


@pytest.mark.parametrize("name", ["../escape", "a/b", "", ".hidden", "package", "a:b", "x" * 101])
def test_a_name_cannot_lead_anywhere_else(app: App, folder: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be used"):
        app.code.repositories.index(str(folder), name)
    assert app.code.repositories.all() == []


@pytest.mark.parametrize("source", ["/no/such/folder", "ext::sh -c true", "ext://x/y", "--upload-pack=x", "https:///x"])
def test_an_address_that_leads_nowhere_is_refused(app: App, source: str) -> None:
    with pytest.raises(InvalidInput):
        app.code.repositories.index(source)
    assert app.code.repositories.all() == []


def test_two_repositories_do_not_share_a_name(app: App, folder: Path, tmp_path: Path) -> None:
    app.code.repositories.index(str(folder))
    other = write_repository(tmp_path / "other" / "my-api")
    with pytest.raises(Conflict, match="indexed already"):
        app.code.repositories.index(str(other))


def test_a_second_indexer_is_told_to_wait(app: App, folder: Path, data: Path, open_data: Callable[..., App]) -> None:
    app.code.repositories.index(str(folder))
    (folder / "new.py").write_text("def new():\n    return 1\n")
    other = open_data(data)
    refusals: list[TriviumError] = []

    def meanwhile(_done: int, _total: int, _what: str) -> None:
        assert other.code.repositories.get("my-api").status == "indexing"
        try:
            other.code.repositories.update("my-api")
        except Conflict as error:
            refusals.append(error)

    app.code.repositories.update("my-api", meanwhile)
    assert {error.code for error in refusals} == {"INDEXING_IN_PROGRESS"}
    assert other.code.repositories.get("my-api").status == "ready"


def test_an_interrupted_indexing_is_noticed_and_finished(app: App, folder: Path) -> None:
    def stop(_done: int, _total: int, _what: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        app.code.repositories.index(str(folder), progress=stop)
    assert app.code.repositories.get("my-api").status == "error"
    assert app.code.graph.repositories() == {}
    assert app.code.repositories.update("my-api").repository.status == "ready"


def test_an_export_carries_the_graph(app: App, folder: Path, tmp_path: Path, open_data: Callable[..., App]) -> None:
    app.code.repositories.index(str(folder))
    copy = open_data(tmp_path / "copy")
    copy.import_lines(list(app.export_lines()))
    assert rows(copy) == rows(app)
    assert callers(copy, "findUser") == {"src/services/auth.ts::authenticate"}
    assert copy.code.repositories.update("my-api").unchanged == 5


# git


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def remote(folder: Path) -> Path:
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


def test_a_git_address_is_cloned_and_force_pushes_are_followed(app: App, remote: Path) -> None:
    report = app.code.repositories.index(f"file://{remote}", "api")
    assert report.repository.head
    assert report.repository.is_cloned
    (remote / "src/routes/api.ts").unlink()
    git(remote, "commit", "-a", "--amend", "-m", "rewritten")
    update = app.code.repositories.update("api")
    assert update.removed == 1
    assert update.repository.head != report.repository.head
    assert callers(app, "authenticate", "api") == set()
    app.code.repositories.remove("api")
    assert not (app.data / "repositories" / "api").exists()


def test_a_branch_is_chosen(app: App, remote: Path) -> None:
    git(remote, "checkout", "-b", "feature")
    (remote / "extra.py").write_text("def extra():\n    return 1\n")
    git(remote, "add", ".")
    git(remote, "commit", "-m", "feature")
    git(remote, "checkout", "main")
    assert app.code.repositories.index(f"file://{remote}", "main-api").repository.file_count == 5
    assert app.code.repositories.index(f"file://{remote}", "feature-api", "feature").repository.file_count == 6
    with pytest.raises(InvalidInput, match="git fetch failed"):
        app.code.repositories.index(f"file://{remote}", "no-api", "nowhere")


def test_credentials_are_kept_nowhere(app: App, tmp_path: Path) -> None:
    source = "http://someone:s3cr3t-token@127.0.0.1:9/team/api.git"
    with pytest.raises(InvalidInput, match="git fetch failed") as failed:
        app.code.repositories.index(source)
    assert "s3cr3t" not in failed.value.message
    (record,) = app.code.repositories.all()
    assert (record.url, record.status) == ("http://127.0.0.1:9/team/api.git", "error")
    for path in app.data.rglob("*"):
        assert not path.is_file() or b"s3cr3t" not in path.read_bytes()
    assert "s3cr3t" not in repr(Credentials("someone", "s3cr3t-token"))


def test_a_folder_that_is_no_work_tree_has_no_commit(tmp_path: Path, remote: Path) -> None:
    assert SubprocessGit().describe(tmp_path).head == ""
    assert SubprocessGit().describe(remote).branch == "main"
