"""The code tools through the doors: scopes over HTTP, progress, code in the search over everything."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastmcp import Client
from http_server import Web, running

from code_repository import write_repository
from served import Serve, Served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_repository(tmp_path / "my-api")


@pytest.fixture
def web(serve: Serve, tmp_path: Path) -> Iterator[Web]:
    with running(serve(data=tmp_path / "data", toolsets="code")) as one:
        yield one


def test_only_an_admin_s_key_indexes_and_removes_over_http(web: Web, folder: Path) -> None:
    for scope in ("read", "write"):
        for tool, given in (
            ("index_repository", {"source": str(folder)}),
            ("remove_repository", {"repository": "x"}),
        ):
            answer = web.call(tool, web.key(scope), **given)
            assert "needs scope admin" in answer.text
    admin = web.key("admin")
    assert web.call("index_repository", admin, source=str(folder)).json()["result"]["structuredContent"]["success"]
    listed = web.call("get_index_status", web.key("read")).json()["result"]["structuredContent"]
    assert [row["name"] for row in listed["repositories"]] == ["my-api"]
    gone = web.call("remove_repository", admin, repository="my-api").json()["result"]["structuredContent"]
    assert gone == {
        "success": True,
        "repository": "my-api",
        "removed_files": 5,
        "removed_chunks": gone["removed_chunks"],
    }


def test_indexing_tells_its_progress(serve: Serve, folder: Path, tmp_path: Path) -> None:
    served = serve(data=tmp_path / "data", toolsets="code")
    told: list[tuple[float, float | None, str | None]] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async def run() -> None:
        async with Client(served.server, progress_handler=note) as client:
            await client.call_tool("index_repository", {"source": str(folder)})

    asyncio.run(run())
    assert told[-1][:2] == (5, 5)
    assert "src/db/users.ts" in {message for _, _, message in told}


def test_an_index_that_failed_says_why_and_how_to_go_on(serve: Serve, tmp_path: Path) -> None:
    served = serve(data=tmp_path / "data", toolsets="code")
    answer = served.call("index_repository", source=str(tmp_path / "nowhere"))
    assert answer.is_error
    assert answer.structured_content is not None
    assert answer.structured_content["error"]["field"] == "source"
    assert served.body("get_index_status")["repositories"] == []
    missing = served.body("get_index_status", repository="nowhere")
    assert missing["error"]["code"] == "REPOSITORY_NOT_FOUND"


def test_the_search_over_everything_finds_code_and_forgets_it(serve: Serve, folder: Path) -> None:
    served = serve(toolsets="knowledge,code")
    served.body("index_repository", source=str(folder))

    def found(**more: object) -> list[str]:
        answer = served.body("semantic_search", query="validateToken jsonwebtoken", **more)
        return [row["source_file"] for row in answer["results"]]

    assert found()[0] == "src/utils/jwt.ts"
    (first, *_) = served.body("semantic_search", query="validateToken jsonwebtoken", repository="my-api")["results"]
    lines = (folder / first["source_file"]).read_text().splitlines()
    assert first["repository"] == "my-api"
    assert any("validateToken" in line for line in lines[first["start_line"] - 1 : first["end_line"]])
    assert found(repository="elsewhere") == []
    assert found(repository="my-api", category_filter="guides") == []
    assert set(found(sources=["code"])) <= {file.source_file for file in served.app().store.files("code")}
    assert served.body("search_code", query="validateToken", threshold=0.0)["results"]
    served.body("remove_repository", repository="my-api")
    assert found(sources=["code"]) == []


def test_an_ambiguous_name_lists_the_candidates(serve: Serve, tmp_path: Path) -> None:
    served = serve(data=tmp_path / "data", toolsets="code")
    files = {"a.py": "def run():\n    return 1\n", "b.py": "def run():\n    return 2\n"}
    served.body("index_repository", source=str(write_repository(tmp_path / "twins", files)))
    answer = served.body("get_dependents", entity_type="function", entity_path="run", repository="twins")
    assert answer["error"]["code"] == "ENTITY_AMBIGUOUS"
    assert answer["error"]["allowed"] == ["a.py::run", "b.py::run"]


def test_dependents_say_whether_their_file_is_still_the_same(serve: Serve, folder: Path, tmp_path: Path) -> None:
    served: Served = serve(data=tmp_path / "data", toolsets="code")
    served.body("index_repository", source=str(folder))
    (folder / "src/services/auth.ts").write_text("// rewritten\n")
    answer = served.body("get_dependents", entity_type="function", entity_path="findUser", repository="my-api")
    assert {row["metadata"]["fresh"] for row in answer["dependents"]} == {False}


def test_long_answers_come_in_parts_that_together_are_the_whole(serve: Serve, folder: Path, tmp_path: Path) -> None:
    served = serve(data=tmp_path / "data", toolsets="code")
    served.body("index_repository", source=str(folder))
    asked = {"entity_type": "file", "entity_path": "src/routes/api.ts", "repository": "my-api", "depth": 5}
    whole = served.body("get_dependencies", **asked)
    assert "next_offset" not in whole["metadata"]
    parts: list[dict[str, object]] = []
    offset: int | None = 0
    while offset is not None:
        part = served.body("get_dependencies", limit=2, offset=offset, **asked)
        assert part["metadata"]["total_count"] == len(whole["dependencies"]) > 2
        parts += part["dependencies"]
        offset = part["metadata"].get("next_offset")
    assert parts == whole["dependencies"]
    small = served.body("get_dependencies", budget_tokens=100, **asked)
    assert 0 < len(small["dependencies"]) < len(whole["dependencies"])
    assert small["metadata"]["next_offset"] == len(small["dependencies"])
