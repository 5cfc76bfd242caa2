"""Runs the command line in this process."""

import json
from pathlib import Path
from typing import Any

import pytest

from trivium.doors.cli.main import run


class Shell:
    def __init__(self, capsys: pytest.CaptureFixture[str], data: Path) -> None:
        self._capsys, self._data = capsys, data

    def __call__(self, *words: str | Path, code: int = 0) -> str:
        self._capsys.readouterr()
        got = run(["--data", str(self._data), *map(str, words)])
        captured = self._capsys.readouterr()
        self.errors = captured.err
        assert got == code, captured
        return captured.out

    def json(self, *words: str | Path) -> Any:
        return json.loads(self(*words, "--json"))
