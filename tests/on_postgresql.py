"""Runs tests that know nothing of it on PostgreSQL: `pytest -p on_postgresql tests/tools tests/seeds`.

Every data folder has a database of its own; a copy of a folder has a copy of that database. Processes that tests start
are taken along by `tests/sites/sitecustomize.py`.
"""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "TRIVIUM_TEST_ON_POSTGRESQL"
MARKER = "database-of-this-test"
HERE = Path(__file__).parent
_server: list[Any] = []


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        import sys

        sys.path.insert(0, str(HERE / "contracts"))
        from servers.postgresql import start

        folder = tempfile.TemporaryDirectory(prefix="trivium-postgresql-")
        config.add_cleanup(folder.cleanup)
        _server.append(start(Path(folder.name), "fsync=off"))
        os.environ[VARIABLE] = _server[0].url
        os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), str(HERE / "sites"), os.environ.get("PYTHONPATH", "")])
    patch()


def pytest_unconfigure() -> None:
    while _server:
        _server.pop().kill()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"postgresql: ran, {_databases()} databases")


def patch() -> None:
    """From now on, settings that name no store name the database of their data folder."""
    from trivium.settings import Settings

    plain = Settings.__init__

    def on_postgresql(self: Settings, **given: Any) -> None:
        plain(self, **given)
        if not self.store:
            plain(self, **given, store=url_of(self.data))

    Settings.__init__ = on_postgresql  # type: ignore[method-assign]
    _take_processes_along()


def _take_processes_along() -> None:
    """Tests start processes with an environment of their own making; these need to know the server all the same."""
    import subprocess

    plain = subprocess.Popen.__init__

    def start(self: Any, *arguments: Any, **given: Any) -> None:
        if given.get("env") is not None:
            given["env"] = {name: os.environ[name] for name in (VARIABLE, "PYTHONPATH")} | dict(given["env"])
        plain(self, *arguments, **given)

    subprocess.Popen.__init__ = start  # type: ignore[method-assign]


def url_of(folder: Path) -> str:
    base = os.environ[VARIABLE].rpartition("/")[0]
    name = "t" + hashlib.blake2b(str(folder.absolute()).encode(), digest_size=8).hexdigest()
    marker = folder / MARKER
    known = marker.read_text() if marker.exists() else ""
    if known != name:
        folder.mkdir(parents=True, exist_ok=True)
        _make(name, known or "template1")
        marker.write_text(name)
    return f"{base}/{name}"


def _make(name: str, template: str) -> None:
    import psycopg

    with psycopg.connect(os.environ[VARIABLE], autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is None:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")


def _databases() -> int:
    import psycopg

    with psycopg.connect(os.environ[VARIABLE]) as connection:
        row = connection.execute("SELECT COUNT(*) - 3 FROM pg_database").fetchone()
    return int(row[0]) if row else 0
