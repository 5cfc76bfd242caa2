"""SCIP: indexes that compilers made are believed, and our own graph goes out as one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from code_repository import FIXTURES, project, write_repository
from trivium.app import App
from trivium.code.analyse import analyse
from trivium.code.dependents import get_dependents
from trivium.code.scip.indexes import read_index
from trivium.code.scip.overlay import overlaid
from trivium.code.scip.symbols import escaped, head, namespaces, parse
from trivium.code.scip.text import SourceText
from trivium.code.scip.wire import DEFINITION, IMPORT, UTF8, UTF16, UTF32, Index
from trivium.code.scip.write import ScipWriter
from trivium.errors import InvalidInput
from trivium.model.code import CodeGraph, Edge

PROJECTS = sorted(path.parent.name for path in (FIXTURES / "code").glob("*/labels.txt"))


def made_by(indexer: str) -> bytes:
    """What scip-typescript 0.4.0 and scip-python 0.6.6 wrote for the fixture project of their language."""
    return (FIXTURES / "scip" / f"{indexer}.scip").read_bytes()


def with_index(name: str) -> tuple[CodeGraph, CodeGraph]:
    files = project(name)
    graph = analyse("fixture", files)
    documents = {document.relative_path: document for document in Index.FromString(made_by(name)).documents}
    return graph, overlaid(graph, documents, files)


def named(graph: CodeGraph) -> dict[tuple[str, str, str], Edge]:
    names = {symbol.symbol_id: symbol.entity_path for symbol in graph.symbols}
    return {(e.relationship, names[e.source], names[e.target]): e for e in graph.edges}


def placed(key: tuple[str, str, str]) -> tuple[str, str, str]:
    """A reference by its file: a function that begins on the line of the reference may get it on the way back."""
    word, source, target = key
    return (word, source.partition("::")[0], target) if word == "references" else key


# in


@pytest.mark.parametrize(
    ("language", "new"),
    [
        (
            "typescript",
            {
                ("calls", "src/lib/repository.ts::Base.size", "src/lib/repository.ts::Base.count"),
                ("implements", "src/users.ts::Users.find", "src/lib/repository.ts::Repository.find"),
                ("implements", "src/users.ts::Users.count", "src/lib/repository.ts::Base.count"),
            },
        ),
        (
            "python",
            {
                ("calls", "src/app/base.py::Plugin.describe", "src/app/base.py::Plugin.run"),
                ("implements", "src/app/plugins/loud.py::Loud.run", "src/app/base.py::Plugin.run"),
            },
        ),
    ],
)
def test_what_the_compiler_knows_is_in_the_graph_exact_and_marked(
    language: str, new: set[tuple[str, str, str]]
) -> None:
    before, after = map(named, with_index(language))
    for key in new:
        assert key not in before
        assert (after[key].resolution, after[key].confidence, after[key].resolved_by) == ("exact", 1.0, "scip")


@pytest.mark.parametrize("language", ["typescript", "python"])
def test_calls_that_no_index_of_definitions_can_follow_stay(language: str) -> None:
    """A definition-based index knows the method that is declared; what overrides it is called all the same."""
    before, after = map(named, with_index(language))
    assert {key for key in before.keys() - after.keys() if key[0] != "references"} == set()


def test_definitions_that_only_the_index_knows_become_symbols() -> None:
    before, after = with_index("typescript")
    new = {s.entity_path: s for s in after.symbols}.keys() - {s.entity_path for s in before.symbols}
    assert new == {"src/lib/repository.ts::Repository.find"}


def test_a_guess_gives_way_to_what_the_index_says() -> None:
    files = {
        "a.py": b"class A:\n    def go(self):\n        return 1\n",
        "b.py": b"def run(thing):\n    return thing.go()\n\n\ndef go():\n    return 2\n",
    }
    graph = analyse("x", files)
    (guess,) = [e for e in graph.edges if e.resolution == "name_match"]
    assert guess.target.endswith("A.go")
    index = Index()
    document = index.documents.add(relative_path="b.py")
    document.occurrences.add(range=[1, 17, 19], symbol="s p other 1 lib/Thing#go().")
    assert overlaid(graph, {"b.py": document}, files).edges == ()
    document.occurrences[0].symbol = "s p x . b/go()."
    document.occurrences.add(range=[4, 4, 6], symbol="s p x . b/go().", symbol_roles=DEFINITION)
    (edge,) = overlaid(graph, {"b.py": document}, files).edges
    assert (edge.target, edge.resolution, edge.resolved_by) == ("symbol:x:b.py::go", "exact", "scip")


def test_calls_that_were_unresolved_are_no_blind_spot_once_the_index_resolves_them() -> None:
    files = {"a.py": b"def run(thing):\n    return thing.unheard_of()\n"}
    graph = analyse("x", files)
    assert [spot.name for spot in graph.blind_spots] == ["unheard_of"]
    document = Index().documents.add(relative_path="a.py")
    document.occurrences.add(range=[1, 17, 27], symbol="s p other 1 lib/Thing#unheard_of().")
    assert overlaid(graph, {"a.py": document}, files).blind_spots == ()


@pytest.mark.parametrize(("encoding", "start"), [(UTF8, 9), (UTF16, 7), (UTF32, 6)])
def test_columns_are_read_in_every_encoding(encoding: int, start: int) -> None:
    text = SourceText('"𝒳"; go(1)\n'.encode(), encoding)
    assert text.at([0, start - 1, start + 1]) == "go"
    assert text.is_called([0, start - 1, start + 1])


# through the repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {path: data.decode() for path, data in project("typescript").items()}
    return write_repository(tmp_path / "shop", files)


def resolvers(app: App, name: str) -> dict[str, str]:
    found = get_dependents(app.code.graph, "function", name, "shop")["dependents"]
    return {row["path"]: row["metadata"].get("resolved_by", "") for row in found}


def test_an_index_that_was_handed_in_holds_until_its_files_change(
    app: App, folder: Path, open_data: Callable[..., App]
) -> None:
    app.code.repositories.index(str(folder))
    assert "scip" not in resolvers(app, "Users.find").values()
    report = app.code.repositories.index(str(folder), scip=[read_index(made_by("typescript"), "index.scip")])
    assert (report.scip_files, report.left_out) == (6, ())
    assert resolvers(app, "Users.find")["src/main.ts::load"] == "scip"
    (folder / "src/extra.ts").write_text("export function extra() {\n  return 1;\n}\n")
    assert app.code.repositories.update("shop").scip_files == 6
    again = open_data(app.data)
    assert resolvers(again, "Users.find")["src/main.ts::load"] == "scip"
    main = folder / "src/main.ts"
    main.write_text("// one line more\n" + main.read_text())
    app.code.repositories.update("shop")
    assert app.code.repositories.update("shop").repository.status == "ready"
    assert resolvers(app, "Users.find")["src/main.ts::load"] == ""
    assert resolvers(app, "hello")["src/users.ts::User.greet"] == "scip"


def test_documents_of_other_versions_and_of_unknown_files_are_named_and_left_out(app: App, folder: Path) -> None:
    (folder / "src/users.ts").write_text("\n\n" + (folder / "src/users.ts").read_text())
    (folder / "src/main.ts").unlink()
    report = app.code.repositories.index(str(folder), scip=[read_index(made_by("typescript"), "index.scip")])
    assert {item.path: item.reason.partition("the SCIP index ")[2] for item in report.left_out} == {
        "src/users.ts": "was made from another version of this file",
        "src/main.ts": "names a file that is not indexed here",
    }
    assert report.scip_files == 4


def test_an_index_made_in_a_folder_below_is_put_there(app: App, folder: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    folder.rename(whole / "shop")
    index = read_index(made_by("typescript"), "index.scip")
    index.metadata.project_root = (whole / "shop").as_uri()
    assert app.code.repositories.index(str(whole), scip=[index]).scip_files == 6


@pytest.mark.parametrize("data", [b"not protobuf at all", b""])
def test_a_file_that_is_no_index_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"index\.scip"):
        read_index(data, "index.scip")


def test_an_index_goes_with_its_repository(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder), scip=[read_index(made_by("typescript"), "index.scip")])
    app.code.repositories.remove("shop")
    app.code.repositories.index(str(folder))
    assert "scip" not in resolvers(app, "Users.find").values()


# out


def written(graph: CodeGraph, files: dict[str, bytes]) -> bytes:
    return ScipWriter(graph.repository, "file:///project", "1.0", graph.symbols, graph.edges, files).serialized({})


@pytest.mark.parametrize("language", PROJECTS)
def test_a_graph_that_went_out_comes_back_the_same(language: str) -> None:
    files = project(language)
    graph = analyse("fixture", files)
    index = Index.FromString(written(graph, files))
    documents = {document.relative_path: document for document in index.documents}
    bare = replace(graph, edges=(), blind_spots=())
    back = overlaid(bare, documents, files)
    sure = {key for key, edge in named(graph).items() if edge.resolution != "name_match"}
    assert {placed(key) for key in named(back)} == {placed(key) for key in sure}
    assert {s.symbol_id for s in back.symbols} == {s.symbol_id for s in graph.symbols}


@pytest.mark.parametrize("language", PROJECTS)
def test_every_occurrence_is_of_a_symbol_that_is_described_once(language: str) -> None:
    """What `scip lint` asks for."""
    files = project(language)
    index = Index.FromString(written(analyse("fixture", files), files))
    described = [one.symbol for document in index.documents for one in document.symbols]
    described += [one.symbol for one in index.external_symbols]
    assert len(described) == len(set(described))
    for document in index.documents:
        lines = files[document.relative_path].decode().splitlines() or [""]
        seen = [(*o.range, o.symbol, o.symbol_roles) for o in document.occurrences]
        assert len(seen) == len(set(seen))
        for occurrence in document.occurrences:
            assert occurrence.symbol in described
            assert parse(occurrence.symbol) is not None
            line, start, end = occurrence.range
            assert 0 <= start <= end <= len(lines[line])
        for one in document.symbols:
            assert {related.symbol for related in one.relationships} <= set(described)
            assert not one.enclosing_symbol or one.enclosing_symbol in described


def test_names_stand_where_the_index_says(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    made = app.code.export_scip()
    assert (made.repository, made.documents, made.stale) == ("shop", 6, ())
    index = Index.FromString(made.data)
    assert (index.metadata.tool_info.name, index.metadata.project_root) == ("trivium", folder.as_uri())
    users = next(d for d in index.documents if d.relative_path == "src/users.ts")
    lines = (folder / "src/users.ts").read_text().splitlines()
    defined = {}
    for occurrence in users.occurrences:
        symbol = parse(occurrence.symbol)
        if occurrence.symbol_roles & DEFINITION and symbol is not None and not symbol.is_module:
            line, start, end = occurrence.range
            assert lines[line][start:end] == symbol.name
            defined[occurrence.symbol] = list(occurrence.enclosing_range)
    assert defined["trivium . shop . src/`users.ts`/Users#find()."] == [12, 0, 14, 3]
    kinds = {one.symbol.rpartition("/")[2]: one.kind for one in users.symbols}
    assert (kinds["Users#"], kinds["Users#find()."], kinds["hello()."]) == (7, 26, 17)
    main = next(d for d in index.documents if d.relative_path == "src/main.ts")
    imported = {o.symbol for o in main.occurrences if o.symbol_roles & IMPORT}
    assert "trivium . express . express/" in imported
    assert made.data == app.code.export_scip("shop").data


def test_a_file_that_changed_since_is_left_out_of_the_index(app: App, folder: Path) -> None:
    app.code.repositories.index(str(folder))
    (folder / "src/users.ts").write_text("// nothing left\n")
    made = app.code.export_scip()
    assert made.stale == ("src/users.ts",)
    assert made.documents == 5


# grammar

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\n"), min_size=1, max_size=12)


# The grammar cannot tell a space at the edge of a part from the space between two parts.
@given(st.lists(NAMES, min_size=1, max_size=4), NAMES.filter(lambda name: name == name.strip(" ")), NAMES)
def test_whatever_is_written_as_a_symbol_is_read_as_the_same(parts: list[str], package: str, name: str) -> None:
    text = head("trivium", "", package, "1 0") + namespaces(parts) + f"{escaped(name)}#{escaped(name)}(+1)."
    symbol = parse(text)
    assert symbol is not None
    assert (symbol.scheme, symbol.manager, symbol.version) == ("trivium", "", "1 0")
    assert symbol.package == ("" if package == "." else package)
    assert [d.name for d in symbol.descriptors] == [*parts, name, name]
    assert [d.suffix for d in symbol.descriptors] == [*"/" * len(parts), "#", "(.)"]


@pytest.mark.parametrize("text", ["local 5", "", "no descriptors", "a b c d `open", "a b c d name"])
def test_what_is_no_global_symbol_is_none(text: str) -> None:
    assert parse(text) is None
