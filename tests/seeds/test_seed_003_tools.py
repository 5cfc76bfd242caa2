"""Seed 003 over a real MCP client: the code toolset alone is a drop-in for it."""

from pathlib import Path
from typing import Any

import pytest

from code_repository import write_repository
from served import Serve, Served

GRAPH_TOOLS = {"get_dependencies", "get_dependents", "get_architecture", "find_path", "get_graph_metrics"}
CORE_TOOLS = {"semantic_search", "list_indexed_repositories"}
WRITE_TOOLS = {"index_repository", "remove_repository", "get_index_status"}


@pytest.fixture
def alone(serve: Serve, tmp_path: Path) -> Served:
    served = serve(data=tmp_path / "data", toolsets="code")
    answer = served.body("index_repository", source=str(write_repository(tmp_path / "my-api")))
    assert answer["success"], answer
    return served


def parameters(served: Served, tool: str) -> dict[str, Any]:
    schema = served.gate.tools[tool].input_schema
    assert schema["additionalProperties"] is False
    return {name: (name in schema.get("required", ()), field) for name, field in schema["properties"].items()}


def refused(served: Served, tool: str, **given: Any) -> str:
    answer = served.call(tool, **given)
    assert answer.is_error
    assert answer.structured_content is not None
    (content,) = answer.content
    assert content.text.startswith("Error: ")  # type: ignore[union-attr]
    assert answer.structured_content["isError"] is True
    assert answer.structured_content["content"] == [{"type": "text", "text": content.text}]  # type: ignore[union-attr]
    return str(content.text)  # type: ignore[union-attr]


def test_served_alone_the_tools_are_those_of_the_seed_and_three_more(alone: Served) -> None:
    assert set(alone.gate.tools) == CORE_TOOLS | GRAPH_TOOLS | WRITE_TOOLS


def test_beside_the_knowledge_tools_the_search_is_called_search_code(serve: Serve) -> None:
    names = set(serve(toolsets="knowledge,code").gate.tools)
    assert {"semantic_search", "search_code"} <= names


# semantic_search


def test_the_search_has_the_seed_s_parameters_defaults_and_limits(alone: Served) -> None:
    fields = parameters(alone, "semantic_search")
    assert [name for name, (required, _) in fields.items() if required] == ["query"]
    assert list(fields)[:4] == ["query", "limit", "threshold", "repository"]
    assert set(fields) == {"query", "limit", "threshold", "repository", "offset", "budget_tokens"}
    query, limit, threshold = (fields[name][1] for name in ("query", "limit", "threshold"))
    assert (query["minLength"], query["maxLength"]) == (1, 1000)
    assert (limit["default"], limit["minimum"], limit["maximum"]) == (10, 1, 50)
    assert (threshold["default"], threshold["minimum"], threshold["maximum"]) == (0.7, 0, 1)


def test_search_results_have_the_seed_s_fields_and_lines_beside_them(alone: Served, tmp_path: Path) -> None:
    answer = alone.body("semantic_search", query="validate the signature of a token", threshold=0.0)
    first = answer["results"][0]
    assert "validateToken" in first["content"]
    assert 0 <= first["similarity_score"] <= 1
    metadata = first["metadata"]
    assert metadata["file_path"] == "src/utils/jwt.ts"
    assert metadata["repository"] == "my-api"
    assert metadata["file_extension"] == ".ts"
    assert metadata["file_size_bytes"] == (tmp_path / "my-api/src/utils/jwt.ts").stat().st_size
    assert metadata["indexed_at"].endswith("Z")
    assert isinstance(metadata["chunk_index"], int)
    text = (tmp_path / "my-api/src/utils/jwt.ts").read_text().splitlines()
    assert text[metadata["start_line"] - 1 : metadata["end_line"]] == first["content"].rstrip("\n").splitlines()
    assert metadata["fresh"] is True
    about = answer["metadata"]
    assert about["total_matches"] == len(answer["results"])
    assert about["repositories_searched"] == ["my-api"]
    assert about["query_time_ms"] == about["embedding_time_ms"] + about["search_time_ms"]


def test_limit_threshold_and_repository_narrow_the_search(alone: Served, tmp_path: Path) -> None:
    other = {"lib.py": "def validate_token(token):\n    return token\n"}
    alone.body("index_repository", source=str(write_repository(tmp_path / "other", other)))
    asked = {"query": "validate token", "threshold": 0.0}
    assert len(alone.body("semantic_search", limit=2, **asked)["results"]) == 2
    found = alone.body("semantic_search", repository="other", **asked)
    assert {row["metadata"]["repository"] for row in found["results"]} == {"other"}
    scores = [row["similarity_score"] for row in alone.body("semantic_search", **asked)["results"]]
    middle = sorted(scores)[len(scores) // 2]
    strict = alone.body("semantic_search", query="validate token", threshold=middle)
    assert strict["results"]
    assert all(row["similarity_score"] >= middle for row in strict["results"])


def test_a_definition_that_the_query_names_comes_first_whatever_the_threshold(alone: Served) -> None:
    for query in ("findUser", "who calls findUser, and why", "start", "AuthService.check"):
        first = alone.body("semantic_search", query=query, threshold=1.0)["results"][0]
        assert query.split()[-1].rpartition(".")[2] in first["content"] or "findUser" in first["content"]
        assert first["similarity_score"] == 1.0
        assert first["metadata"]["matched_name"] is True
    assert alone.body("semantic_search", query="how to start a service", threshold=1.0)["results"] == []


def test_a_changed_file_is_not_fresh(alone: Served, tmp_path: Path) -> None:
    (tmp_path / "my-api/src/utils/jwt.ts").write_text("// all gone\n")
    found = alone.body("semantic_search", query="validateToken signature", threshold=0.0)["results"]
    fresh = {row["metadata"]["file_path"]: row["metadata"]["fresh"] for row in found}
    assert fresh["src/utils/jwt.ts"] is False
    assert fresh["src/services/auth.ts"] is True


# list_indexed_repositories


def test_repositories_are_listed_with_the_seed_s_fields_and_summary(alone: Served) -> None:
    answer = alone.body("list_indexed_repositories")
    (row,) = answer["repositories"]
    assert (row["name"], row["collection_name"], row["status"]) == ("my-api", "repo_my-api", "ready")
    assert row["file_count"] == 5
    assert row["chunk_count"] > 0
    assert row["last_indexed"].endswith("Z")
    assert row["index_duration_ms"] >= 0
    assert "error_message" not in row
    assert answer["summary"] == {
        "total_repositories": 1,
        "total_files_indexed": 5,
        "total_chunks": row["chunk_count"],
    }


def test_a_repository_that_could_not_be_indexed_is_listed_with_its_error(alone: Served, tmp_path: Path) -> None:
    folder = write_repository(tmp_path / "empty", {"settings.py": "DEBUG = True\n"})
    assert "not one function" in refused(alone, "index_repository", source=str(folder))
    rows = {row["name"]: row for row in alone.body("list_indexed_repositories")["repositories"]}
    assert rows["empty"]["status"] == "error"
    assert "not one function" in rows["empty"]["error_message"]
    said = refused(alone, "get_architecture", repository="empty", detail_level="files")
    assert said.startswith("Error: No graph data available for empty: ")
    assert "not one function" in said


# get_dependencies


def dependencies(served: Served, kind: str, path: str, **more: Any) -> dict[str, Any]:
    return served.body("get_dependencies", entity_type=kind, entity_path=path, repository="my-api", **more)


def test_a_file_s_imports_have_their_line_and_packages_are_external(alone: Served) -> None:
    answer = dependencies(alone, "file", "src/utils/jwt.ts", relationship_types=["imports"])
    assert answer["entity"] == {"type": "file", "path": "src/utils/jwt.ts", "repository": "my-api"}
    (package,) = answer["dependencies"]
    assert (package["type"], package["path"], package["depth"]) == ("package", "jsonwebtoken", 1)
    assert package["metadata"]["external"] is True
    assert package["metadata"]["line_number"] == 1
    assert answer["metadata"]["total_count"] == 1
    assert answer["metadata"]["max_depth_reached"] == 1
    assert answer["metadata"]["query_time_ms"] >= 0


def test_files_import_files_and_depth_follows_them(alone: Served) -> None:
    one = dependencies(alone, "file", "src/routes/api.ts", relationship_types=["imports"])
    assert [row["path"] for row in one["dependencies"]] == ["src/services/auth.ts"]
    two = dependencies(alone, "file", "src/routes/api.ts", depth=2, relationship_types=["imports"])
    assert {row["path"]: row["depth"] for row in two["dependencies"]} == {
        "src/services/auth.ts": 1,
        "src/utils/jwt.ts": 2,
        "src/db/users.ts": 2,
        "src/services/base.ts": 2,
    }
    assert two["metadata"]["max_depth_reached"] == 2


@pytest.mark.parametrize("path", ["authenticate", "src/services/auth.ts::authenticate"])
def test_a_function_is_named_bare_or_with_its_path(alone: Served, path: str) -> None:
    found = dependencies(alone, "function", path, relationship_types=["calls"])["dependencies"]
    assert [(row["path"], row["metadata"]["line_number"]) for row in found] == [
        ("src/db/users.ts::findUser", 13),
        ("src/utils/jwt.ts::validateToken", 12),
    ]


def test_a_class_shows_what_it_extends(alone: Served) -> None:
    found = dependencies(alone, "class", "AuthService", relationship_types=["extends", "implements"])["dependencies"]
    assert [(row["type"], row["path"], row["relationship"]) for row in found] == [
        ("class", "src/services/base.ts::Service", "extends")
    ]


# get_dependents


def test_dependents_come_with_an_impact_analysis(alone: Served) -> None:
    answer = alone.body("get_dependents", entity_type="function", entity_path="validateToken", repository="my-api")
    calls = {row["path"]: row for row in answer["dependents"] if row["relationship"] == "calls"}
    assert set(calls) == {"src/services/auth.ts::authenticate", "src/services/auth.ts::AuthService.check"}
    assert calls["src/services/auth.ts::authenticate"]["metadata"]["line_number"] == 12
    assert {row["repository"] for row in answer["dependents"]} == {"my-api"}
    impact = answer["impact_analysis"]
    assert impact["direct_impact_count"] == len(answer["dependents"])
    assert impact["transitive_impact_count"] >= 1
    assert 0.2 < impact["impact_score"] < 0.8
    assert impact["lower_bound"] <= impact["upper_bound"]
    assert answer["metadata"]["repositories_searched"] == ["my-api"]


def test_a_package_s_dependents_are_found_in_all_repositories(alone: Served) -> None:
    answer = alone.body("get_dependents", entity_type="package", entity_path="jsonwebtoken")
    assert [row["path"] for row in answer["dependents"]] == ["src/utils/jwt.ts"]


def test_depth_of_dependents_goes_up_to_five(alone: Served) -> None:
    deep = alone.body("get_dependents", entity_type="file", entity_path="src/db/users.ts", depth=5)
    assert "src/routes/api.ts" in {row["path"].partition("::")[0] for row in deep["dependents"]}
    text = refused(alone, "get_dependents", entity_type="file", entity_path="src/db/users.ts", depth=6)
    assert "depth must be between 1 and 5" in text


# get_architecture


def test_the_architecture_is_a_tree_with_dependencies_between_its_parts(alone: Served) -> None:
    answer = alone.body("get_architecture", repository="my-api", detail_level="packages")
    (src,) = answer["root"]["children"]
    assert {child["name"]: child["file_count"] for child in src["children"]} == {
        "db": 1,
        "routes": 1,
        "services": 2,
        "utils": 1,
    }
    assert {child["type"] for child in src["children"]} == {"package"}
    pairs = {(row["from"], row["to"]) for row in answer["module_dependencies"]}
    assert {("src/routes", "src/services"), ("src/services", "src/utils")} <= pairs
    assert all(row["relationship_count"] > 0 for row in answer["module_dependencies"])
    assert answer["metadata"]["total_files"] == 5
    assert answer["metadata"]["total_packages"] == 4


def test_scope_and_external_packages_are_asked_for(alone: Served) -> None:
    scoped = alone.body("get_architecture", repository="my-api", detail_level="modules", scope="src/services")
    assert [child["name"] for child in scoped["root"]["children"]] == ["auth", "base"]
    wide = alone.body("get_architecture", repository="my-api", detail_level="files", include_external=True)
    assert "jsonwebtoken" in {row["to"] for row in wide["module_dependencies"]}
    entities = alone.body("get_architecture", repository="my-api", detail_level="entities", scope="src/db")
    assert entities["root"]["children"][0]["children"][0]["name"] == "findUser"


# find_path


def test_a_path_is_a_chain_of_named_relationships(alone: Served) -> None:
    ends = {"from_entity": "src/routes/api.ts::handleLogin", "to_entity": "src/db/users.ts::findUser"}
    answer = alone.body("find_path", repository="my-api", relationship_types=["calls"], **ends)
    assert answer["path_exists"] is True
    assert [(node["identifier"], node["relationship_to_next"]) for node in answer["path"]] == [
        ("src/routes/api.ts::handleLogin", "CALLS"),
        ("src/services/auth.ts::authenticate", "CALLS"),
        ("src/db/users.ts::findUser", None),
    ]
    assert {node["type"] for node in answer["path"]} == {"function"}
    assert answer["metadata"]["hops"] == 2


def test_no_path_is_an_answer_not_an_error(alone: Served) -> None:
    ends = {"from_entity": "src/db/users.ts::findUser", "to_entity": "src/routes/api.ts::handleLogin"}
    answer = alone.body("find_path", repository="my-api", **ends)
    assert (answer["path_exists"], answer["path"], answer["metadata"]["hops"]) == (False, None, 0)


# get_graph_metrics


def test_metrics_count_the_queries_by_type(alone: Served) -> None:
    assert alone.body("get_graph_metrics")["metrics"]["totalQueries"] == 0
    dependencies(alone, "file", "src/routes/api.ts")
    refused(alone, "get_dependencies", entity_type="file", entity_path="nowhere.ts", repository="my-api")
    alone.body("get_dependents", entity_type="file", entity_path="src/db/users.ts")
    answer = alone.body("get_graph_metrics")
    assert answer["success"] is True
    assert answer["metrics"]["totalQueries"] == 3
    assert [row["queryType"] for row in answer["metrics"]["byQueryType"]] == ["getDependencies", "getDependents"]
    assert answer["metrics"]["last7DaysTrend"]["queryCount"] == 3
    one = alone.body("get_graph_metrics", query_type="getDependencies")
    assert one["queryType"] == one["stats"]["queryType"] == "getDependencies"
    assert (one["stats"]["totalQueries"], one["stats"]["errorCount"]) == (2, 1)


# errors


def test_unknown_repositories_and_entities_name_the_nearest(alone: Served) -> None:
    text = refused(alone, "get_architecture", repository="my-app", detail_level="files")
    assert "Repository not found: my-app" in text
    assert "my-api" in text
    assert "list_indexed_repositories" in text
    text = refused(alone, "get_dependencies", entity_type="function", entity_path="validateTokens", repository="my-api")
    assert "Entity not found: validateTokens" in text
    assert "src/utils/jwt.ts::validateToken" in text


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("semantic_search", {"query": "x" * 1001}, "query exceeds 1000 characters"),
        ("semantic_search", {"query": "  "}, "query must not be empty"),
        ("semantic_search", {"query": "x", "limit": 51}, "limit must be between 1 and 50"),
        ("semantic_search", {"query": "x", "threshold": 1.5}, "threshold must be between 0 and 1"),
        ("get_dependencies", {"entity_type": "file", "entity_path": "x"}, "repository is required"),
        ("get_architecture", {"repository": "my-api", "detail_level": "lines"}, "detail_level must be one of"),
        (
            "find_path",
            {"from_entity": "a", "to_entity": "b", "repository": "my-api", "max_hops": 21},
            "max_hops must be between 1 and 20",
        ),
        ("get_graph_metrics", {"query_type": "getLines"}, "query_type must be one of"),
        ("get_index_status", {"colour": "red"}, "unknown parameter 'colour'"),
    ],
)
def test_wrong_arguments_are_named(alone: Served, tool: str, given: dict[str, Any], said: str) -> None:
    text = refused(alone, tool, **given)
    assert text.startswith("Error: Invalid arguments: ")
    assert said in text
