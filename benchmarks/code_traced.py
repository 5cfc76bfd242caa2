"""Call edges beside those a real run makes: a package's own demonstrations under a tracer.

    python benchmarks/code_traced.py rich rich.table rich.tree rich.pretty rich.columns rich.text rich.panel rich.align

Prints the share of the traced calls (inside the package) that the graph has. Class bodies, comprehensions and lambdas
are no calls of their own.
"""

import contextlib
import importlib.util
import io
import runpy
import sys
import warnings
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from trivium.code.analyse import analyse

Place = tuple[str, str]
_NAMELESS = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>", "<module>")


def traced_calls(modules: list[str], root: Path) -> set[tuple[CodeType, CodeType]]:
    calls: set[tuple[CodeType, CodeType]] = set()
    inside = str(root)

    def profile(frame: FrameType, event: str, _: Any) -> None:
        caller = frame.f_back
        if event == "call" and caller is not None:
            pair = (caller.f_code, frame.f_code)
            if all(code.co_filename.startswith(inside) for code in pair):
                calls.add(pair)

    for module in modules:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception, SystemExit):
            sys.argv = [module]
            sys.setprofile(profile)
            try:
                runpy.run_module(module, run_name="__main__")
            finally:
                sys.setprofile(None)
    return calls


def place(code: CodeType, root: Path) -> Place:
    names = [n for n in code.co_qualname.split(".") if n != "<locals>"]
    while names and names[-1] in _NAMELESS:
        names.pop()
    return Path(code.co_filename).relative_to(root.parent).as_posix(), ".".join(names)


def main() -> None:
    warnings.simplefilter("ignore")
    package, *modules = sys.argv[1:]
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    calls = traced_calls(modules, root)
    files = {p.relative_to(root.parent).as_posix(): p.read_bytes() for p in sorted(root.rglob("*.py"))}
    graph = analyse(package, files)
    places = {s.symbol_id: (s.path, s.qualified_name.partition("#")[0]) for s in graph.symbols}
    callable_ = {places[s.symbol_id] for s in graph.symbols if s.kind in ("function", "method")}
    named = set(places.values())
    ours = {(places[e.source], places[e.target]): e.resolution for e in graph.edges if e.relationship == "calls"}
    real = {(place(a, root), place(b, root)) for a, b in calls if not b.co_qualname.endswith(_NAMELESS)}
    real = {(a, b) for a, b in real if a in named and b in callable_}
    found = [call for call in real if call in ours]
    sure = [call for call in found if ours[call] != "name_match"]
    print(f"{len(real)} traced calls, {len(found) / len(real):.1%} in the graph")
    print(f"{len(sure) / len(real):.1%} not by name alone")


if __name__ == "__main__":
    main()
