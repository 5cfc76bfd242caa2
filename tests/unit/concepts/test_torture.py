"""A small run of benchmarks/torture_concepts.py: kill −9 in the middle of writes, and many writers at once."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "torture_concepts.py"


def test_neither_kills_nor_crowds_lose_an_event_or_leave_half_a_write() -> None:
    few = ["--kills", "5", "--processes", "3", "--updates", "30", "--concepts", "2"]
    done = subprocess.run([sys.executable, str(SCRIPT), *few], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert "5 kills" in done.stdout
    assert re.search(r"90 updates: \d+ written, \d+ conflicts, all reported", done.stdout)
