"""Import graphs of real packages, beside those of grimp; each difference has its reason here."""

import importlib.util
from pathlib import Path

import grimp
import pytest

from trivium.code.analyse import file_graph, read_facts

# A module that imports itself (under `if __name__ == "__main__"`) depends on nobody by that: we keep no such edge.
SELF_IMPORTS = {"rich": {("rich.box", "rich.box"), ("rich.live", "rich.live")}}


def package_files(package: str) -> dict[str, bytes]:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    return {p.relative_to(root.parent).as_posix(): p.read_bytes() for p in sorted(root.rglob("*.py"))}


def module(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def our_imports(package: str) -> set[tuple[str, str]]:
    facts = [f for path, source in package_files(package).items() if (f := read_facts(path, source)) is not None]
    graph = file_graph(package, facts, {})
    symbols = {s.symbol_id: s for s in graph.symbols}
    return {
        (module(symbols[e.source].path), module(symbols[e.target].path))
        for e in graph.edges
        if symbols[e.target].kind == "file"
    }


@pytest.mark.parametrize("package", ["rich", "starlette", "typer", "click"])
def test_imports_are_those_of_grimp(package: str) -> None:
    graph = grimp.build_graph(package, cache_dir=None)
    theirs = {(m, i) for m in graph.modules for i in graph.find_modules_directly_imported_by(m)}
    ours = our_imports(package)
    assert len(ours) > 50
    assert ours - theirs == set()
    assert theirs - ours == SELF_IMPORTS.get(package, set())
