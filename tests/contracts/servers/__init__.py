"""Real servers for tests: one module for each, with `start(folder) -> Server`. None of them is a fake.

What has to be fetched first is kept in TRIVIUM_TEST_CACHE (default: the user's cache folder).
"""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

NAMES = ("postgresql", "redis", "chroma", "neo4j")
VARIABLE = "TRIVIUM_TEST_SERVERS"  # {name: {"url": …} or {"skipped": reason}}, set by conftest.py
START_S = 180.0


class Unavailable(Exception):
    """The server cannot be had on this machine; the text says why."""


def states() -> dict[str, dict[str, str]]:
    known: dict[str, dict[str, str]] = json.loads(os.environ.get(VARIABLE, "{}"))
    return known


def server_url(name: str) -> str:
    """Where the server listens; skips the test where it does not run."""
    state = states().get(name, {"skipped": "only with --servers"})
    if "skipped" in state:
        pytest.skip(f"{name}: {state['skipped']}")
    return state["url"]


def cache_folder(name: str) -> Path:
    base = os.environ.get("TRIVIUM_TEST_CACHE") or Path.home() / ".cache" / "trivium-test-servers"
    folder = Path(base) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Server:
    """A process that can be killed and started again over the same data and port."""

    url: str
    command: Sequence[str]
    folder: Path
    answers: Callable[[str], object]  # raises while the server does not answer yet
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Server":
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, stdout=log, stderr=log, env=os.environ | dict(self.environment)
            )
        ends = time.monotonic() + START_S
        while True:
            try:
                self.answers(self.url)
                return self
            except Exception as error:
                if self.process.poll() is not None or time.monotonic() > ends:
                    self.kill()
                    raise Unavailable(f"did not start: {self._last_words() or error}") from error
                time.sleep(0.05)

    def stop(self) -> None:
        self._end(lambda process: process.terminate())

    def kill(self) -> None:
        self._end(lambda process: process.kill())

    def freeze(self) -> None:
        """Connections stay open and nothing answers, as behind a network that lost its way."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def _end(self, how: Callable[["subprocess.Popen[bytes]"], None]) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        how(process)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _last_words(self) -> str:
        lines = (self.folder / "server.log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""
