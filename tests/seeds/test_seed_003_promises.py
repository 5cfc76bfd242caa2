"""Seed 003 promise by promise: the seed's own examples, cross-repository questions, errors, and what may go wrong."""

import asyncio
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

import trivium
from code_repository import FILES, write_repository
from served import Serve, Served
from trivium.backends.sqlite.code_graph import SqliteCodeGraph
from trivium.code.dependents import impact_score
from trivium.errors import TriviumError
from trivium.settings import Settings

SHOP = {
    "package.json": '{"name": "shop", "dependencies": {"my-api": "1"}}',
    "src/app.ts": 'import { validateToken } from "my-api";\n\n'
    "export function enter(t: string) {\n  return validateToken(t);\n}\n",
}
PUBLISHED = FILES | {
    "package.json": '{"name": "my-api", "main": "dist/index.js"}',
    "src/index.ts": 'export { validateToken } from "./utils/jwt";\n',
}


@pytest.fixture
def alone(serve: Serve, tmp_path: Path) -> Served:
    served = serve(data=tmp_path / "data", toolsets="code")
    assert served.body("index_repository", source=str(write_repository(tmp_path / "my-api", PUBLISHED)))["success"]
    return served


@pytest.fixture
def both(alone: Served, tmp_path: Path) -> Served:
    assert alone.body("index_repository", source=str(write_repository(tmp_path / "shop", SHOP)))["success"]
    return alone


def refused(served: Served, tool: str, **given: Any) -> dict[str, Any]:
    answer = served.call(tool, **given)
    assert answer.is_error
    assert answer.structured_content is not None
    return answer.structured_content


# the seed's own examples


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("semantic_search", {"query": "JWT authentication middleware"}),
        (
            "semantic_search",
            {"query": "error handling in API routes", "limit": 5, "threshold": 0.8, "repository": "my-api"},
        ),
        ("list_indexed_repositories", {}),
        ("get_dependencies", {"entity_type": "file", "entity_path": "src/services/auth.ts", "repository": "my-api"}),
        (
            "get_dependencies",
            {
                "entity_type": "file",
                "entity_path": "src/services/auth.ts",
                "repository": "my-api",
                "depth": 2,
                "relationship_types": ["imports"],
            },
        ),
        (
            "get_dependencies",
            {
                "entity_type": "class",
                "entity_path": "AuthService",
                "repository": "my-api",
                "relationship_types": ["extends", "implements"],
            },
        ),
        ("get_dependents", {"entity_type": "file", "entity_path": "src/utils/jwt.ts", "repository": "my-api"}),
        (
            "get_dependents",
            {"entity_type": "function", "entity_path": "validateToken", "include_cross_repo": True, "depth": 2},
        ),
        ("get_architecture", {"repository": "my-api", "detail_level": "packages"}),
        ("get_architecture", {"repository": "my-api", "detail_level": "modules", "scope": "src/services"}),
        (
            "find_path",
            {
                "from_entity": "src/routes/api.ts::handleLogin",
                "to_entity": "src/db/users.ts::findUser",
                "repository": "my-api",
                "max_hops": 5,
            },
        ),
        ("get_graph_metrics", {}),
        ("get_graph_metrics", {"query_type": "getDependencies"}),
    ],
)
def test_every_example_request_of_the_seed_is_answered(alone: Served, tool: str, given: dict[str, Any]) -> None:
    answer = alone.call(tool, **given)
    assert not answer.is_error, answer
    assert answer.structured_content


def test_the_in_process_client_answers_the_same(alone: Served, tmp_path: Path) -> None:
    asked = {"entity_type": "file", "entity_path": "src/utils/jwt.ts", "repository": "my-api"}
    with trivium.Client(settings=Settings(data=alone.data, model="hashing-64", toolsets="code")) as client:
        mine = client.call("get_dependents", **asked)
    theirs = alone.body("get_dependents", **asked)
    for body in (mine, theirs):
        body["metadata"].pop("query_time_ms")
    assert mine == theirs


# semantic_search


def test_a_search_goes_on_where_it_ended_and_keeps_to_a_budget(alone: Served) -> None:
    asked = {"query": "validate the token of a user", "threshold": 0.0}
    whole = alone.body("semantic_search", limit=50, **asked)
    assert "next_offset" not in whole["metadata"]
    found: list[int] = []
    offset: int | None = 0
    while offset is not None:
        page = alone.body("semantic_search", limit=2, offset=offset, **asked)
        found += [row["metadata"]["chunk_id"] for row in page["results"]]
        offset = page["metadata"].get("next_offset")
    assert found == [row["metadata"]["chunk_id"] for row in whole["results"]]
    small = alone.body("semantic_search", limit=50, budget_tokens=400, **asked)
    assert 0 < len(small["results"]) < len(whole["results"])
    assert small["metadata"]["next_offset"] == len(small["results"])


# get_dependencies, get_dependents


def test_every_relationship_type_filters(alone: Served) -> None:
    asked = {"entity_type": "file", "entity_path": "src/services/auth.ts", "repository": "my-api"}
    whole = alone.body("get_dependencies", **asked)["dependencies"]
    seen = set()
    for word in ("imports", "calls", "extends", "implements", "references"):
        rows = alone.body("get_dependencies", relationship_types=[word], **asked)["dependencies"]
        assert {row["relationship"] for row in rows} <= {word}
        seen |= {row["path"] for row in rows}
    assert seen == {row["path"] for row in whole}


@pytest.mark.parametrize("path", ["check", "AuthService.check", "src/services/auth.ts::AuthService.check"])
def test_a_method_is_named_bare_by_its_class_or_with_its_path(alone: Served, path: str) -> None:
    answer = alone.body("get_dependencies", entity_type="function", entity_path=path, repository="my-api")
    assert answer["entity"]["path"] == "src/services/auth.ts::AuthService.check"


def test_every_edge_carries_its_line_how_it_was_resolved_a_confidence_and_freshness(alone: Served) -> None:
    for tool, listed in (("get_dependencies", "dependencies"), ("get_dependents", "dependents")):
        rows = alone.body(tool, entity_type="file", entity_path="src/services/auth.ts", repository="my-api", depth=5)[
            listed
        ]
        assert rows
        for row in rows:
            metadata = row["metadata"]
            assert metadata["line_number"] >= 1
            assert metadata["resolution"] in ("exact", "inferred", "name_match")
            assert 0 < metadata["confidence"] <= 1
            assert row["type"] == "package" or metadata["fresh"] is True
            assert 1 <= row["depth"] <= 5


def test_cross_repository_dependents_are_included_where_asked_and_counted_where_not(both: Served) -> None:
    asked = {"entity_type": "function", "entity_path": "validateToken"}
    wide = both.body("get_dependents", include_cross_repo=True, **asked)
    assert {(row["repository"], row["path"]) for row in wide["dependents"]} >= {("shop", "src/app.ts::enter")}
    assert wide["metadata"]["repositories_searched"] == ["my-api", "shop"]
    own = both.body("get_dependents", repository="my-api", **asked)
    assert own["metadata"]["repositories_searched"] == ["my-api"]
    assert {row["repository"] for row in own["dependents"]} == {"my-api"}
    assert own["impact_analysis"]["cross_repo_impact_count"] >= 1
    assert own["impact_analysis"]["upper_bound"] >= len(wide["dependents"])
    package = both.body("get_dependents", entity_type="package", entity_path="my-api")
    assert [(row["repository"], row["path"]) for row in package["dependents"]] == [("shop", "src/app.ts")]


def test_cross_repository_dependencies_and_paths(both: Served) -> None:
    asked = {"entity_type": "function", "entity_path": "enter", "repository": "shop"}
    assert both.body("get_dependencies", **asked)["metadata"]["cross_repo_count"] >= 1
    wide = both.body("get_dependencies", include_cross_repo=True, **asked)
    assert ("my-api", "src/utils/jwt.ts::validateToken") in {(r["repository"], r["path"]) for r in wide["dependencies"]}
    path = both.body(
        "find_path", from_entity="enter", to_entity="validateToken", repository="shop", include_cross_repo=True
    )
    assert [node["repository"] for node in path["path"]] == ["shop", "my-api"]
    assert {node["fresh"] for node in path["path"]} == {True}


@pytest.mark.parametrize(
    ("direct", "transitive", "band"),
    [(0, 0, (0, 0)), (1, 0, (0, 0.2)), (1, 3, (0.35, 0.35)), (4, 0, (0.2, 0.5)), (8, 0, (0.5, 0.8)), (40, 9, (0.8, 1))],
)
def test_the_impact_score_follows_the_seed_s_bands(direct: int, transitive: int, band: tuple[float, float]) -> None:
    assert band[0] <= impact_score(direct, transitive) <= band[1]


# get_architecture


def leaves(node: dict[str, Any]) -> list[str]:
    return [node["path"]] if "path" in node else [p for child in node["children"] for p in leaves(child)]


@pytest.mark.parametrize("level", ["modules", "files", "entities"])
def test_the_parts_of_an_architecture_are_the_whole(alone: Served, level: str) -> None:
    asked = {"repository": "my-api", "detail_level": level, "include_external": True}
    whole = alone.body("get_architecture", **asked)
    assert "next_offset" not in whole["metadata"]
    paths: list[str] = []
    pairs: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        part = alone.body("get_architecture", limit=2, offset=offset, **asked)
        assert part["metadata"]["total_files"] == whole["metadata"]["total_files"]
        assert part["root"]["file_count"] == whole["root"]["file_count"]
        paths += leaves(part["root"])
        pairs += part["module_dependencies"]
        offset = part["metadata"].get("next_offset")
    assert paths == leaves(whole["root"])
    assert sorted(pairs, key=str) == sorted(whole["module_dependencies"], key=str)


def test_an_architecture_keeps_to_its_budget(alone: Served) -> None:
    asked = {"repository": "my-api", "detail_level": "entities"}
    whole = alone.call("get_architecture", **asked)
    small = alone.call("get_architecture", budget_tokens=250, **asked)
    count = alone.gate.services.tokens.count
    cost = [count([answer.content[0].text])[0] for answer in (whole, small)]  # type: ignore[union-attr]
    assert cost[0] > 250 >= cost[1]
    assert small.structured_content is not None
    assert small.structured_content["metadata"]["next_offset"] >= 1


def test_files_of_an_architecture_say_whether_they_changed(alone: Served, tmp_path: Path) -> None:
    (tmp_path / "my-api/src/db/users.ts").write_text("// gone\n")
    root = alone.body("get_architecture", repository="my-api", detail_level="files", scope="src/db")["root"]
    assert [(child["path"], child["fresh"]) for child in root["children"]] == [("src/db/users.ts", False)]


# get_graph_metrics


def test_the_cache_hit_rate_is_real_and_no_answer_outlives_the_graph(alone: Served, tmp_path: Path) -> None:
    asked = {"entity_type": "function", "entity_path": "findUser", "repository": "my-api"}
    first, second = (alone.body("get_dependents", **asked) for _ in range(2))
    assert first["dependents"] == second["dependents"]
    stats = alone.body("get_graph_metrics", query_type="getDependents")["stats"]
    assert (stats["totalQueries"], stats["cacheHitRate"]) == (2, 0.5)
    assert alone.body("get_graph_metrics")["metrics"]["cacheHitRate"] == 0.5
    (tmp_path / "my-api/src/services/auth.ts").write_text("export function nothing() {}\n")
    alone.body("index_repository", source=str(tmp_path / "my-api"))
    assert alone.body("get_dependents", **asked)["dependents"] == []
    stats = alone.body("get_graph_metrics", query_type="getDependents")["stats"]
    assert stats["cacheHitRate"] == pytest.approx(1 / 3, abs=0.01)
    alone.gate.services.clear_caches()
    alone.body("get_dependents", **asked)
    assert alone.body("get_graph_metrics", query_type="getDependents")["stats"]["cacheHitRate"] == 0.25


def test_the_metrics_have_the_seed_s_fields(alone: Served) -> None:
    alone.body("get_architecture", repository="my-api", detail_level="files")
    metrics = alone.body("get_graph_metrics")["metrics"]
    assert set(metrics) == {"totalQueries", "averageDurationMs", "cacheHitRate", "byQueryType", "last7DaysTrend"}
    assert set(metrics["last7DaysTrend"]) == {"queryCount", "averageDurationMs", "cacheHitRate"}
    (row,) = metrics["byQueryType"]
    assert set(row) == {
        "queryType", "totalQueries", "averageDurationMs", "maxDurationMs", "minDurationMs", "cacheHitRate",
        "averageResultCount", "errorCount",
    }  # fmt: skip


# errors


def test_an_ambiguous_name_lists_candidates_that_are_accepted_as_listed(alone: Served, tmp_path: Path) -> None:
    alone.body("index_repository", source=str(write_repository(tmp_path / "copy")))
    error = refused(alone, "get_dependents", entity_type="function", entity_path="findUser")["error"]
    assert error["code"] == "ENTITY_AMBIGUOUS"
    assert error["allowed"] == ["copy/src/db/users.ts::findUser", "my-api/src/db/users.ts::findUser"]
    for candidate in error["allowed"]:
        answer = alone.body("get_dependents", entity_type="function", entity_path=candidate)
        assert answer["entity"]["repository"] == candidate.partition("/")[0]


def test_a_failure_nobody_foresaw_shows_no_details(alone: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret path /srv/data")

    monkeypatch.setattr(SqliteCodeGraph, "reach", broken)
    body = refused(alone, "get_dependents", entity_type="file", entity_path="src/db/users.ts", repository="my-api")
    assert "secret" not in str(body)
    assert body["error"]["request_id"]


# bad input


def test_awkward_files_never_stop_an_indexing_and_are_reported(alone: Served, tmp_path: Path) -> None:
    folder = write_repository(tmp_path / "awkward", {"good.py": "def good():\n    return 1\n"})
    (folder / "broken.py").write_text("def broken(:\n    pass\n")
    (folder / "packed.js").write_text("function a(){return 1};" * 50_000)
    (folder / "binary.py").write_bytes(b"\0\1\2" * 100)
    (folder / "huge.py").write_bytes(b"x = 1\n" * 400_000)
    write_repository(
        folder, {"x.py": "import y\n\n\ndef fx():\n    y.fy()\n", "y.py": "import x\n\n\ndef fy():\n    x.fx()\n"}
    )
    answer = alone.body("index_repository", source=str(folder))
    assert answer["success"]
    assert {row["path"] for row in answer["left_out"]} == {"binary.py", "huge.py"}
    assert answer["left_out_count"] == 2
    impact = alone.body("get_dependents", entity_type="function", entity_path="good", repository="awkward")
    reasons = {spot["reason"] for spot in impact["impact_analysis"]["blind_spots"]}
    assert "syntax_error" in reasons
    ring = {"from_entity": "fx", "to_entity": "fy", "repository": "awkward"}
    assert alone.body("find_path", **ring)["path_exists"]


@pytest.mark.parametrize("name", ["../escape", "a/b", "..", ".hidden", "package", "a\\b", "x" * 101])
def test_a_name_that_leads_elsewhere_is_refused(alone: Served, tmp_path: Path, name: str) -> None:
    body = refused(alone, "index_repository", source=str(tmp_path / "my-api"), name=name)
    assert body["error"]["field"] == "name"
    assert [row["name"] for row in alone.body("list_indexed_repositories")["repositories"]] == ["my-api"]


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "src/../../secret.ts", "\\x00"])
def test_an_entity_path_that_leads_out_is_unknown(alone: Served, path: str) -> None:
    body = refused(alone, "get_dependencies", entity_type="file", entity_path=path, repository="my-api")
    assert body["error"]["code"] == "ENTITY_NOT_FOUND"


@pytest.mark.parametrize(
    "source", ["http://127.0.0.1:9/team/api.git", "ext::sh -c touch%20x", "ftp://host/x.git", "--upload-pack=x"]
)
def test_an_address_that_does_not_answer_or_is_none_leaves_nothing_behind(alone: Served, source: str) -> None:
    body = refused(alone, "index_repository", source=source, name="remote")
    assert body["error"]["field"] == "source"
    rows = {row["name"]: row["status"] for row in alone.body("list_indexed_repositories")["repositories"]}
    assert rows.get("remote", "error") == "error"
    assert rows["my-api"] == "ready"


def test_a_repository_that_goes_away_while_it_is_read_keeps_its_last_state(alone: Served, tmp_path: Path) -> None:
    asked = {"repository": "my-api", "detail_level": "entities"}
    before = alone.body("get_architecture", **asked)["root"]
    (tmp_path / "my-api/src/new.ts").write_text("export function fresh() {}\n")

    def vanish(*_: object) -> None:
        if (tmp_path / "my-api").exists():
            (tmp_path / "my-api").rename(tmp_path / "gone")

    with pytest.raises(TriviumError, match="went away"):
        alone.app().code.repositories.update("my-api", vanish)
    assert _without_freshness(alone.body("get_architecture", **asked)["root"]) == _without_freshness(before)
    (tmp_path / "gone").rename(tmp_path / "my-api")
    alone.body("index_repository", source=str(tmp_path / "my-api"))
    assert alone.body("get_dependents", entity_type="function", entity_path="fresh", repository="my-api")["entity"]


def _without_freshness(node: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in node.items() if key != "fresh"}
    return kept | {"children": [_without_freshness(child) for child in node.get("children", ())]}


def test_two_indexers_at_once_one_is_told_and_nothing_is_mixed(serve: Serve, tmp_path: Path) -> None:
    served = serve(data=tmp_path / "data", toolsets="code")
    folders = [write_repository(tmp_path / name) for name in ("one", "two")]
    reading, told = threading.Event(), threading.Event()

    def hold(done: int, _total: int, _what: str) -> None:
        reading.set()
        assert told.wait(60)

    app = served.app()
    first = threading.Thread(target=lambda: app.code.repositories.index(str(folders[0]), progress=hold))
    first.start()
    assert reading.wait(60)
    body = refused(served, "index_repository", source=str(folders[1]))
    told.set()
    first.join()
    assert body["error"]["code"] == "INDEXING_IN_PROGRESS"
    rows = served.body("list_indexed_repositories")["repositories"]
    assert [(row["name"], row["status"]) for row in rows] == [("one", "ready")]


def test_a_clone_shows_no_credentials_and_follows_force_pushes(alone: Served, tmp_path: Path) -> None:
    remote = write_repository(tmp_path / "remote")
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    for words in (["init"], ["add", "."], ["commit", "-m", "first"]):
        subprocess.run(["git", *identity, *words], cwd=remote, check=True, capture_output=True)
    row = alone.body("index_repository", source=f"file://{remote}", name="cloned")["repository"]
    assert (row["status"], len(row["commit"])) == ("ready", 40)
    (remote / "src/routes/api.ts").unlink()
    subprocess.run(
        ["git", *identity, "commit", "-a", "--amend", "-m", "x"], cwd=remote, check=True, capture_output=True
    )
    again = alone.body("index_repository", source=f"file://{remote}", name="cloned")
    assert again["files"]["removed"] == 1
    assert again["repository"]["commit"] != row["commit"]


def test_many_askers_at_once_get_the_same_answer(alone: Served) -> None:
    async def ask() -> list[dict[str, Any]]:
        async with trivium_client(alone) as client:
            asked = {"entity_type": "file", "entity_path": "src/db/users.ts", "repository": "my-api"}
            answers = await asyncio.gather(*(client.call_tool_mcp("get_dependents", asked) for _ in range(20)))
            return [answer.structured_content["dependents"] for answer in answers if answer.structured_content]

    answers = asyncio.run(ask())
    assert len(answers) == 20
    assert all(answer == answers[0] for answer in answers)


def trivium_client(served: Served) -> Any:
    from fastmcp import Client

    return Client(served.server)
