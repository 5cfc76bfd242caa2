"""`--servers`: runs the contracts on real servers as well, and says at the end which of them ran.

The servers are started once, before the test processes; these find them in the environment. On CI a missing one is a
failure.
"""

import importlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from servers import NAMES, VARIABLE, Server, Unavailable, server_url, states

from served import corpus, serve  # noqa: F401 -- fixtures

if TYPE_CHECKING:
    from trivium.backends.neo4j.connection import Neo4jConnection

_running: dict[str, Server] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--servers", action="store_true", help="start real servers and run the contracts on them")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("servers", default=False) and not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="trivium-servers-")
        config.add_cleanup(folder.cleanup)
        os.environ[VARIABLE] = json.dumps({name: _started(name, Path(folder.name) / name) for name in NAMES})


def pytest_unconfigure() -> None:
    while _running:
        _running.popitem()[1].kill()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, state in states().items():
        terminalreporter.write_line(f"{name}: skipped ({state['skipped']})" if "skipped" in state else f"{name}: ran")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("CI") and any("skipped" in state for state in states().values()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _started(name: str, folder: Path) -> dict[str, str]:
    folder.mkdir()
    try:
        _running[name] = importlib.import_module(f"servers.{name}").start(folder)
    except (Unavailable, ModuleNotFoundError) as error:
        return {"skipped": str(error)}
    return {"url": _running[name].url}


@pytest.fixture
def redis_url() -> str:
    return server_url("redis")


@pytest.fixture
def neo4j() -> "Iterator[Neo4jConnection]":
    """The shared server, empty; one test at a time, since it has one database."""
    from filelock import FileLock

    from trivium.backends.neo4j.connection import Neo4jConnection
    from trivium.backends.neo4j.schema import Neo4jSchema

    url = server_url("neo4j")
    with FileLock(Path(tempfile.gettempdir()) / f"trivium-neo4j-{url.rpartition(':')[2]}.lock"):
        connection = Neo4jConnection(url)
        Neo4jSchema(connection, "").clear()
        yield connection
        connection.close()


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own, to be killed."""
    yield from _own("redis", tmp_path)


@pytest.fixture
def own_chroma(tmp_path: Path) -> Iterator[Server]:
    yield from _own("chroma", tmp_path)


@pytest.fixture
def own_neo4j(tmp_path: Path) -> Iterator[Server]:
    yield from _own("neo4j", tmp_path)


def _own(name: str, folder: Path) -> Iterator[Server]:
    server_url(name)
    (folder / name).mkdir()
    server = importlib.import_module(f"servers.{name}").start(folder / name)
    yield server
    server.kill()
