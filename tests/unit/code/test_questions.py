"""Dependencies, dependents, paths, architecture: asked of the labelled projects."""

from pathlib import Path
from typing import Any

import pytest

from trivium.backends.memory.code_graph import MemoryCodeGraph
from trivium.code.analyse import analyse
from trivium.code.architecture import get_architecture
from trivium.code.dependencies import get_dependencies
from trivium.code.dependents import get_dependents, impact_score
from trivium.code.metrics import GraphMetrics
from trivium.code.paths import find_path
from trivium.errors import InvalidInput, NotFound

FIXTURES = Path(__file__).parents[2] / "fixtures" / "code"


def project(name: str) -> dict[str, bytes]:
    root = FIXTURES / name
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def graph() -> MemoryCodeGraph:
    return MemoryCodeGraph([analyse("py", project("python")), analyse("ts", project("typescript"))])


def paths(answer: dict[str, Any], key: str) -> list[tuple[str, str, int]]:
    return [(e["path"], e["relationship"], e["depth"]) for e in answer[key]]


def test_a_file_depends_on_what_it_and_its_code_use(graph: MemoryCodeGraph) -> None:
    answer = get_dependencies(graph, "file", "src/users.ts", "ts", relationship_types=["imports", "extends"])
    assert paths(answer, "dependencies") == [
        ("src/lib/repository.ts", "imports", 1),
        ("src/lib/repository.ts::Base", "extends", 1),
    ]
    assert answer["metadata"] == {"total_count": 2, "max_depth_reached": 1}


def test_packages_outside_are_marked(graph: MemoryCodeGraph) -> None:
    answer = get_dependencies(graph, "file", "src/main.ts", "ts")
    express = next(d for d in answer["dependencies"] if d["path"] == "express")
    assert express["type"] == "package"
    assert express["metadata"]["external"] is True
    assert express["metadata"]["line_number"] == 2


def test_dependents_are_found_level_by_level(graph: MemoryCodeGraph) -> None:
    answer = get_dependents(graph, "function", "_write", depth=2)
    assert paths(answer, "dependents") == [
        ("src/app/helpers.py::log", "calls", 1),
        ("src/app/plugins/loud.py::traced.inner", "calls", 2),
    ]
    assert answer["entity"] == {"type": "function", "path": "src/app/helpers.py::_write", "repository": "py"}
    impact = answer["impact_analysis"]
    assert impact["direct_impact_count"] == 1
    assert impact["transitive_impact_count"] == 4  # to depth 5, whatever is shown
    assert impact["lower_bound"] == impact["upper_bound"] == 5


def test_a_class_stands_for_its_methods(graph: MemoryCodeGraph) -> None:
    answer = get_dependents(graph, "class", "User", "ts")
    assert ("src/main.ts::load", "calls", 1) in paths(answer, "dependents")
    assert ("src/users.ts::Users.find", "calls", 1) in paths(answer, "dependents")


def test_a_package_has_dependents_in_every_repository(graph: MemoryCodeGraph) -> None:
    answer = get_dependents(graph, "package", "json")
    assert paths(answer, "dependents") == [("src/app/core.py", "imports", 1)]
    assert answer["metadata"]["repositories_searched"] == ["py", "ts"]


def test_other_repositories_count_only_when_asked(graph: MemoryCodeGraph) -> None:
    both = MemoryCodeGraph([analyse("a", {"a.py": b"import shared\n"}), analyse("b", {"b.py": b"import shared\n"})])
    alone = get_dependents(both, "package", "shared", repository="a")
    across = get_dependents(both, "package", "shared", repository="a", include_cross_repo=True)
    assert [d["repository"] for d in alone["dependents"]] == ["a"]
    assert [d["repository"] for d in across["dependents"]] == ["a", "b"]


def test_unresolved_calls_widen_the_upper_bound() -> None:
    source = (
        b"class A:\n    def go(self): ...\nclass B:\n    def go(self): ...\n"
        b"def f(x):\n    x.go()\n    getattr(x, y)()\n"
    )
    answer = get_dependents(MemoryCodeGraph([analyse("r", {"a.py": source})]), "function", "a.py::A.go")
    impact = answer["impact_analysis"]
    assert answer["dependents"] == []
    assert (impact["lower_bound"], impact["upper_bound"]) == (0, 1)
    assert [(s["reason"], s["line_number"]) for s in impact["blind_spots"]] == [
        ("unresolved_call", 6),
        ("reflection", 7),
    ]


def test_a_unique_name_is_a_guess_and_says_so() -> None:
    graph = MemoryCodeGraph(
        [analyse("r", {"a.py": b"class A:\n    def unusual(self): ...\ndef f(x):\n    x.unusual()\n"})]
    )
    (found,) = get_dependents(graph, "function", "unusual")["dependents"]
    assert found["path"] == "a.py::f"
    assert found["metadata"] == {"line_number": 4, "resolution": "name_match", "confidence": 0.4}


def test_the_shortest_chain_is_found(graph: MemoryCodeGraph) -> None:
    answer = find_path(graph, "main.py", "src/app/helpers.py::_write", "py")
    assert answer["path_exists"] is True
    assert [n["identifier"].rpartition("::")[2] for n in answer["path"]] == [
        "main.py", "start", "Engine.go", "Plugin.describe", "traced.inner", "log", "_write",
    ]  # fmt: skip
    assert [n["relationship_to_next"] for n in answer["path"]] == ["CALLS"] * 6 + [None]
    assert answer["metadata"]["hops"] == 6


def test_no_chain_and_too_long_a_chain_are_no_path(graph: MemoryCodeGraph) -> None:
    nothing = {"path_exists": False, "path": None, "metadata": {"hops": 0}}
    assert find_path(graph, "_write", "start", "py") == nothing
    assert find_path(graph, "main.py", "_write", "py", max_hops=5) == nothing


def test_a_path_from_an_entity_to_itself_has_no_hops(graph: MemoryCodeGraph) -> None:
    answer = find_path(graph, "log", "log", "py")
    assert [n["identifier"] for n in answer["path"]] == ["src/app/helpers.py::log"]
    assert answer["metadata"]["hops"] == 0


def test_the_tree_nests_packages_and_counts_files(graph: MemoryCodeGraph) -> None:
    answer = get_architecture(graph, "py", "packages", scope="src")
    assert answer["root"] == {
        "name": "src",
        "type": "directory",
        "file_count": 6,
        "children": [
            {
                "name": "app",
                "type": "package",
                "file_count": 6,
                "children": [{"name": "plugins", "type": "package", "file_count": 2, "children": []}],
            }
        ],
    }
    assert {"from": "src/app/plugins", "to": "src/app", "relationship_count": 6} in answer["module_dependencies"]
    assert answer["metadata"] == {"total_packages": 2, "total_files": 6}


def test_entities_hang_below_their_files(graph: MemoryCodeGraph) -> None:
    answer = get_architecture(graph, "py", "entities", scope="src/app/core.py")
    (file,) = answer["root"]["children"]
    assert [(c["name"], c["type"]) for c in file["children"]] == [("Engine", "class"), ("start", "function")]


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda g: get_dependencies(g, "module", "a", "py"), "entity_type"),
        (lambda g: get_dependencies(g, "file", "a", "py", depth=6), "depth"),
        (lambda g: get_dependencies(g, "file", "a", "py", relationship_types=["uses"]), "relationship_types"),
        (lambda g: get_dependents(g, "file", " "), "entity_path"),
        (lambda g: find_path(g, "a", "b", "py", max_hops=21), "max_hops"),
        (lambda g: get_architecture(g, "py", "everything"), "detail_level"),
        (lambda g: GraphMetrics(lambda: 0.0).report("getAll"), "query_type"),
    ],
)
def test_bad_parameters_are_named(graph: MemoryCodeGraph, call: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call(graph)
    assert caught.value.field == field
    assert field in caught.value.message


def test_a_shared_name_lists_its_owners(graph: MemoryCodeGraph) -> None:
    with pytest.raises(InvalidInput) as caught:
        get_dependents(graph, "function", "label")
    assert caught.value.allowed == ["py/src/app/base.py::Plugin.label", "py/src/app/plugins/loud.py::Loud.label"]


def test_an_unknown_name_lists_the_nearest(graph: MemoryCodeGraph) -> None:
    with pytest.raises(NotFound) as caught:
        get_dependents(graph, "function", "shuot", "py")
    assert caught.value.nearest == ["src/app/helpers.py::shout"]
    with pytest.raises(NotFound) as caught:
        get_dependencies(graph, "file", "a.py", "pi")
    assert caught.value.nearest == ["py"]


def test_the_score_keeps_to_the_bands() -> None:
    assert impact_score(0, 0) == 0.0
    assert impact_score(1, 0) < 0.2 < impact_score(2, 0) < 0.5 < impact_score(5, 0) < 0.8 < impact_score(10, 0) <= 1
    assert impact_score(1, 3) == 0.35


def test_metrics_tell_kinds_apart() -> None:
    now = [1_000_000.0]
    metrics = GraphMetrics(lambda: now[0])
    metrics.record("getPath", 10, result_count=2)
    now[0] += 8 * 24 * 3600
    metrics.record("getDependents", 20, result_count=4, cache_hit=True)
    metrics.record("getDependents", 40, failed=True)
    assert metrics.report("getDependents")["stats"] == {
        "queryType": "getDependents",
        "totalQueries": 2,
        "averageDurationMs": 30.0,
        "maxDurationMs": 40,
        "minDurationMs": 20,
        "cacheHitRate": 0.5,
        "averageResultCount": 2.0,
        "errorCount": 1,
    }
    everything = metrics.report()["metrics"]
    assert everything["totalQueries"] == 3
    assert [k["queryType"] for k in everything["byQueryType"]] == ["getDependents", "getPath"]
    assert everything["last7DaysTrend"]["queryCount"] == 2
