"""A graph kept up to date file by file is the graph of the files as they are."""

from pathlib import Path

import pytest

from trivium.code.analyse import analyse
from trivium.code.solver import solve as solver
from trivium.code.update import LiveGraph

FIXTURES = Path(__file__).parents[2] / "fixtures" / "code"


def project(name: str) -> dict[str, bytes]:
    root = FIXTURES / name
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


CHANGES = {
    "a new function": (
        "python",
        "src/app/helpers.py",
        b"def log(what):",
        b"def fresh():\n    log(1)\n\n\ndef log(what):",
    ),
    "a function gone": ("python", "src/app/helpers.py", b"    _write(what)", b"    pass"),
    "another base": ("python", "src/app/plugins/loud.py", b"class Loud(Plugin):", b"class Loud:"),
    "a renamed method": ("python", "src/app/base.py", b"def describe", b"def description"),
    "another import": ("python", "src/app/core.py", b"import ujson as json", b"import app.helpers as json"),
    "a changed class": ("typescript", "src/users.ts", b"return this.items.size;", b"return hello(new User()).length;"),
    "a changed export": (
        "javascript",
        "lib/util/index.js",
        b"exports.pad = pad;",
        b"exports.pad = (t) => pad(t);",
    ),
}


@pytest.mark.parametrize("by_summaries", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_gives_the_graph_of_the_changed_files(
    name: str, by_summaries: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_summaries:
        monkeypatch.setattr(solver, "EXACT_WEIGHT", -1)
    language, path, old, new = CHANGES[name]
    files = project(language)
    assert old in files[path]
    live = LiveGraph("r")
    assert live.replace(files) == analyse("r", files)
    changed = {**files, path: files[path].replace(old, new)}
    live.change({path: changed[path]}, ())
    assert live.solve() == analyse("r", changed)
    live.change({path: files[path]}, ())
    assert live.solve() == analyse("r", files)


def test_the_files_own_edges_come_at_once() -> None:
    files = project("python")
    live = LiveGraph("r")
    live.replace(files)
    shown = live.change({"main.py": b"import app.helpers\n\ndef go(): ...\n"}, ())
    assert {s.name for s in shown.symbols} == {"main.py", "go"}
    assert [(e.source, e.target) for e in shown.edges] == [("symbol:r:main.py", "symbol:r:src/app/helpers.py")]


def test_files_come_and_go() -> None:
    files = project("python")
    live = LiveGraph("r")
    live.replace(files)
    live.change({"extra.py": b"from app.helpers import shout\nshout('x')\n"}, ["main.py"])
    now = {**files, "extra.py": b"from app.helpers import shout\nshout('x')\n"}
    del now["main.py"]
    assert live.solve() == analyse("r", now)
