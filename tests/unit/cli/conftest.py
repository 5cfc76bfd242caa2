"""A shell over a fresh data folder, with the small embedder."""

from pathlib import Path

import pytest

from shell import Shell
from trivium.doors.cli.context import chosen


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], data: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("TRIVIUM_MODEL", "hashing-64")
    monkeypatch.setattr(chosen, "data", None)
    return Shell(capsys, data)
