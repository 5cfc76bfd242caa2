"""What every store of the code graph does, in memory and on SQLite."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sql_databases import KINDS, open_database

from code_repository import FILES
from trivium.backends.memory.code_graph import MemoryCodeGraph
from trivium.backends.sqlite.code_graph import SqliteCodeGraph
from trivium.backends.sqlite.code_repositories import SqliteRepositories
from trivium.code.analyse import analyse
from trivium.model.code import RELATIONSHIPS, CodeGraph
from trivium.ports.code_graph import CodeGraphStore
from trivium.ports.repositories import Repository
from trivium.ports.sql import SqlDatabase

Open = Callable[..., CodeGraphStore]
ONE = analyse("one", {path: text.encode() for path, text in FILES.items() if path.startswith("src/")})
TWO = analyse("two", {"app.ts": b'import jwt from "jsonwebtoken";\nexport function findUser() { return jwt; }\n'})


@pytest.fixture(params=["memory", *KINDS])
def open_graph(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    database = open_database("sqlite" if request.param == "memory" else request.param, tmp_path)

    def start(*graphs: CodeGraph) -> CodeGraphStore:
        if request.param == "memory":
            return MemoryCodeGraph(graphs)
        return stored(database, *graphs)

    yield start
    database.close()


def stored(database: SqlDatabase, *graphs: CodeGraph) -> SqliteCodeGraph:
    repositories = SqliteRepositories(database)
    for graph in graphs:
        repositories.replace(Repository(graph.repository, "", ""), graph, [])
    return SqliteCodeGraph(database)


def test_edges_leave_and_arrive(open_graph: Open) -> None:
    graph = open_graph(ONE, TWO)
    (edge,) = graph.outgoing(["symbol:one:src/routes/api.ts"], ["imports"])
    assert edge.target == "symbol:one:src/services/auth.ts"
    assert edge in graph.incoming([edge.target], RELATIONSHIPS)
    assert graph.outgoing(["symbol:one:src/routes/api.ts"], ["extends"]) == []


def test_a_file_stands_for_what_is_defined_in_it_where_that_is_asked(open_graph: Open) -> None:
    graph = open_graph(ONE, TWO)
    file = "symbol:one:src/services/auth.ts"
    assert {e.source for e in graph.outgoing([file], ["calls"], True)} == {
        f"{file}::AuthService.check",
        f"{file}::authenticate",
    }
    assert {e.source for e in graph.outgoing([f"{file}::AuthService"], ["calls"], True)} == {
        f"{file}::AuthService.check"
    }


def test_symbols_are_found_by_path_name_and_both(open_graph: Open) -> None:
    graph = open_graph(ONE, TWO)
    assert [s.repository for s in graph.find("findUser", None)] == ["one", "two"]
    assert [s.repository for s in graph.find("findUser", "two")] == ["two"]
    for written in ("AuthService.check", "src/services/auth.ts::AuthService.check", "check"):
        assert [s.qualified_name for s in graph.find(written, "one")] == ["AuthService.check"]
    assert [s.kind for s in graph.find("jsonwebtoken", "two")] == ["package"]
    assert graph.find("nothing", None) == []


def test_symbols_of_a_repository_leave_packages_out(open_graph: Open) -> None:
    graph = open_graph(ONE, TWO)
    assert {s.repository for s in graph.symbols("two")} == {"two"}
    assert len(graph.symbols(None)) == len(graph.symbols("one")) + len(graph.symbols("two"))
    (package,) = graph.symbols(None, ["symbol:package:jsonwebtoken", "symbol:one:gone.ts"])
    assert package.kind == "package"


def test_repositories_come_with_their_blind_spots(open_graph: Open) -> None:
    graph = open_graph(TWO, ONE)
    assert graph.repositories() == {"one": ONE.blind_spots, "two": TWO.blind_spots}


IDS = sorted({s.symbol_id for g in (ONE, TWO) for s in g.symbols})


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.lists(st.sampled_from(IDS), max_size=6, unique=True),
    kinds=st.lists(st.sampled_from(RELATIONSHIPS), min_size=1, unique=True),
    inside=st.booleans(),
)
def test_both_stores_answer_alike(both: tuple[CodeGraphStore, CodeGraphStore], chosen, kinds, inside) -> None:  # type: ignore[no-untyped-def]
    memory, sqlite = both
    assert sqlite.outgoing(chosen, kinds, inside) == memory.outgoing(chosen, kinds, inside)
    assert sqlite.incoming(chosen, kinds, inside) == memory.incoming(chosen, kinds, inside)
    assert sqlite.symbols(None, chosen) == memory.symbols(None, chosen)


@pytest.fixture(scope="module", params=KINDS)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[CodeGraphStore, CodeGraphStore]]:
    database = open_database(request.param, tmp_path_factory.mktemp("graph"))
    yield MemoryCodeGraph([ONE, TWO]), stored(database, ONE, TWO)
    database.close()
