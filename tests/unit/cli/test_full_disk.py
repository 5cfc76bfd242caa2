"""A disk with no room left: a clear message, nothing half-written, and the run can be repeated."""

import json
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

FILES = 16
ROOM = 400_000  # bytes a file may grow to: the system refuses the write beyond it, as on a full disk


def trivium(data: Path, *words: str, full: bool = False) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))

    return subprocess.run(
        [sys.executable, "-m", "trivium", "--data", str(data), *words],
        env=os.environ | {"TRIVIUM_MODEL": "hashing-64"},
        preexec_fn=limit if full else None,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_full_disk_is_said_clearly_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    dice = random.Random(1)
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(FILES):
        words = [f"w{dice.randrange(99_999)}" for _ in range(6_000)]
        (docs / f"{number}.md").write_text("\n\n".join(" ".join(words[i : i + 60]) for i in range(0, 6_000, 60)))
    data = tmp_path / "data"
    failed = trivium(data, "add", str(docs), full=True)
    assert failed.returncode == 1, failed.stderr
    assert "full" in failed.stderr
    assert "internal error" not in failed.stderr
    again = trivium(data, "add", str(docs), "--json")
    assert json.loads(again.stdout)["skipped"] == []
    findings = json.loads(trivium(data, "doctor", "--json").stdout)
    assert {finding["level"] for finding in findings} == {"ok"}
    status = json.loads(trivium(data, "status", "--json").stdout)
    assert (status["documents"], status["waiting_for_vectors"]) == (FILES, 0)
