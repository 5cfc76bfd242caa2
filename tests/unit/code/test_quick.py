"""A few changed files of a large repository: shown at once, and in the end all is as if it were indexed anew."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.sqlite.code_graph import SqliteCodeGraph
from trivium.code.dependencies import get_dependencies
from trivium.code.dependents import get_dependents
from trivium.code.repositories import quick
from trivium.model.code import RELATIONSHIPS
from trivium.model.hits import SearchQuery
from trivium.settings import Settings

FIXTURES = Path(__file__).parents[2] / "fixtures" / "code"


@pytest.fixture(autouse=True)
def _every_repository_counts_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "WORTH_BYTES", 0)


def copied(language: str, folder: Path) -> Path:
    for path in sorted((FIXTURES / language).rglob("*")):
        if path.is_file():
            target = folder / path.relative_to(FIXTURES / language)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    # So that a change of one file is a small one.
    (folder / "padding.py").write_text("\n\n".join(f"def pad_{n}():\n    return {n}" for n in range(600)))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied("python", tmp_path / "shop")


def graph_of(app: App) -> object:
    """Everything that is stored of the graph, and everything that is answered from."""
    with sqlite3.connect(app.data / "trivium.db") as db:
        stored = [
            db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall()
            for table in ("code_edges", "code_symbols", "code_patches")
        ]
        spots = db.execute("SELECT repository, blind_spots FROM code_graphs ORDER BY 1").fetchall()
    db.close()
    return stored, spots, answered(app.code.graph)  # type: ignore[arg-type]


def answered(graph: SqliteCodeGraph) -> object:
    symbols = graph.symbols(None)
    ids = [symbol.symbol_id for symbol in symbols]
    names = {symbol.name: graph.find(symbol.name, None) for symbol in symbols}
    reached = [
        (one.symbol_id, reach.counts, reach.sure, reach.steps(0, 1000))
        for one in symbols
        for backwards in (False, True)
        for reach in (graph.reach(one, 5, RELATIONSHIPS, backwards=backwards),)
    ]
    return symbols, graph.outgoing(ids, RELATIONSHIPS, True), names, graph.repositories(), reached


def test_a_call_that_was_added_is_shown_before_the_whole_is_solved(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    assert app.code.graph.find("fresh", None) == []
    helpers = folder / "src/app/helpers.py"
    helpers.write_text(helpers.read_text() + "\n\ndef fresh():\n    log(1)\n")
    report = app.code.repositories.update("shop", settle=False)
    assert (report.updated, report.added, report.removed) == (1, 0, 0)
    answer = get_dependents(app.code.graph, "function", "log", "shop")
    assert "src/app/helpers.py::fresh" in [row["path"] for row in answer["dependents"]]
    assert not app.code.repositories.is_settled("shop")
    assert answer["impact_analysis"]["blind_spots"][-1]["reason"] == "budget"
    assert app.search.search(SearchQuery("fresh", mode="bm25")).hits


def test_calls_into_other_files_are_followed(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    (folder / "main.py").write_text("from app.helpers import shout\n\ndef go():\n    shout('x')\n")
    app.code.repositories.update("shop", settle=False)
    found = get_dependencies(app.code.graph, "function", "go", "shop")["dependencies"]
    assert [row["path"] for row in found] == ["src/app/helpers.py::shout"]


def test_a_function_that_is_gone_is_gone_at_once(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    assert app.code.graph.find("start", "shop")
    (folder / "src/app/core.py").write_text("def other():\n    pass\n")
    app.code.repositories.update("shop", settle=False)
    assert app.code.graph.find("start", "shop") == []
    assert [s.name for s in app.code.graph.find("other", "shop")] == ["other"]


def test_what_a_watcher_names_is_read_and_nothing_else(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    (folder / "main.py").write_text("def named():\n    pass\n")
    (folder / "src/app/core.py").write_text("def unnamed():\n    pass\n")
    app.code.repositories.update("shop", touched=["main.py"], settle=False)
    assert app.code.graph.find("named", "shop")
    assert not app.code.graph.find("unnamed", "shop")
    app.code.repositories.update("shop")
    assert app.code.graph.find("unnamed", "shop")


def test_a_file_changed_within_the_clocks_tick_is_seen(app: App, folder: Path) -> None:
    import os

    app.code.repositories.index(str(folder))
    main = folder / "main.py"
    stat, old = main.stat(), main.read_text()
    main.write_text(old.replace("start", "begin"))
    os.utime(main, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert app.code.repositories.update("shop").updated == 1


def test_a_new_file_or_another_setting_is_read_with_the_whole(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    (folder / "extra.py").write_text("from app.helpers import shout\n\ndef more():\n    shout('x')\n")
    report = app.code.repositories.update("shop", settle=False)
    assert report.added == 1
    assert app.code.repositories.is_settled("shop")


def test_another_process_sees_the_patch(app: App, folder: Path, open_data: Callable[..., App]) -> None:
    other = open_data(app.data)
    app.code.repositories.index(str(folder))
    assert other.code.graph.find("log", None)
    (folder / "main.py").write_text("def elsewhere():\n    pass\n")
    app.code.repositories.update("shop", settle=False)
    assert [s.name for s in other.code.graph.find("elsewhere", None)] == ["elsewhere"]
    assert answered(other.code.graph) == answered(app.code.graph)  # type: ignore[arg-type]


HELPERS = [
    "def log(what):\n    shout(what)",
    "def shout(what):\n    return what",
    "class Later:\n    def log(self):\n        log(1)",
]
CORE = [
    "from app.helpers import *",
    "from app.base import Plugin",
    "def run(x):\n    x.describe()\n    log(x)",
    "class Sub(Plugin):\n    def describe(self):\n        return shout(self)",
]
BASE = [
    "class Plugin:\n    def describe(self):\n        return 1\n    def other(self):\n        return self.describe()",
    "def make():\n    return Plugin()",
]
USERS = [
    "import { Base } from './lib/repository';",
    "export class User extends Base<User> { name() { return hello(this); } }",
    "export function hello(u: any) { return u.name(); }",
]
MAIN = [
    "import { User, hello } from './users';",
    "export function go() { return hello(new User()); }",
    "import express from 'express';",
]
PIECES = {
    "python": {
        "main.py": ["from app.helpers import log, shout", "import app.core as core", "import json"],
        "src/app/helpers.py": HELPERS,
        "src/app/core.py": CORE,
        "src/app/base.py": BASE,
    },
    "typescript": {"src/users.ts": USERS, "src/main.ts": MAIN},
}


@contextmanager
def opened(folder: Path) -> Iterator[App]:
    app = open_app(Settings(data=folder), lambda _: HashingEmbedder())
    try:
        yield app
    finally:
        app.close()


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]]]:
    language = draw(st.sampled_from(["python", "typescript"]))
    path = st.sampled_from(sorted(PIECES[language]))
    found = []
    for _ in range(draw(st.integers(1, 3))):
        chosen = draw(path)
        parts = draw(st.lists(st.sampled_from(PIECES[language][chosen]), max_size=5))
        found.append((chosen, "\n\n".join(parts) + "\n"))
    return language, found


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits())
def test_in_the_end_all_is_as_if_it_were_indexed_anew(
    tmp_path_factory: pytest.TempPathFactory, some: tuple[str, list[tuple[str, str]]]
) -> None:
    language, changes = some
    base = tmp_path_factory.mktemp("edits")
    folder = copied(language, base / "shop")
    with opened(base / "data") as app, opened(base / "anew") as anew:
        app.code.repositories.index(str(folder))
        app.code.graph.find("x", None)
        for path, text in changes:
            (folder / path).write_text(text)
            app.code.repositories.update("shop", settle=False)
            fresh = SqliteCodeGraph(app.database)
            assert answered(app.code.graph) == answered(fresh)  # type: ignore[arg-type]
        app.code.repositories.update("shop")
        anew.code.repositories.index(str(folder))
        assert app.code.repositories.is_settled("shop")
        assert graph_of(app) == graph_of(anew)
