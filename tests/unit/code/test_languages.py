"""One small project a language, its imports, calls, extends and implements labelled by hand: all found, no other."""

from pathlib import Path

import pytest

from trivium.code.analyse import analyse
from trivium.model.code import CodeGraph

FIXTURES = Path(__file__).parents[2] / "fixtures" / "code"


def read_project(name: str) -> dict[str, bytes]:
    root = FIXTURES / name
    files = [p for p in sorted(root.rglob("*")) if p.is_file() and p.name != "labels.txt"]
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}


def labels(name: str) -> set[tuple[str, str, str]]:
    lines = (FIXTURES / name / "labels.txt").read_text().splitlines()
    return {(a, b, c) for a, b, c in (line.split() for line in lines if line.strip())}


def edges_by_name(graph: CodeGraph) -> set[tuple[str, str, str]]:
    names = {s.symbol_id: f"package:{s.path}" if s.kind == "package" else s.entity_path for s in graph.symbols}
    return {(e.relationship, names[e.source], names[e.target]) for e in graph.edges if e.relationship != "references"}


PROJECTS = sorted(p.parent.name for p in FIXTURES.glob("*/labels.txt"))


@pytest.mark.parametrize("name", PROJECTS)
def test_every_labelled_edge_is_found_and_no_other(name: str) -> None:
    found, wanted = edges_by_name(analyse("fixture", read_project(name))), labels(name)
    assert found - wanted == set()
    assert wanted - found == set()


def test_there_is_a_project_for_every_language() -> None:
    assert {"java", "go", "rust", "c", "cpp", "csharp", "ruby", "php", "python", "typescript", "javascript"} <= set(
        PROJECTS
    )
