"""Hostile and generated programs against real workers, at length.

    uv run python benchmarks/torture_sandbox.py [--programs 10000] [--timeout 1] [--layer auto]

First every hostile program of tests/unit/sandbox/hostile.py, with and without the check, while a normal program runs
beside it again and again; then generated ones. Prints the longest overrun of the time limit, escapes, errors nobody
foresaw, processes left behind and memory before and after.
"""

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "unit" / "sandbox"), str(Path(__file__).parent)]

from arena import CODES, Arena, arena  # noqa: E402 -- beside the tests, found by the line above
from fuzzing import Dice  # noqa: E402
from hostile import PROGRAMS, Hostile  # noqa: E402

from sandbox import below  # noqa: E402
from trivium.sandbox.workers import Quota  # noqa: E402

MB = 2**20


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--programs", type=int, default=10_000)
    wanted.add_argument("--timeout", type=float, default=1.0)
    wanted.add_argument("--memory", type=int, default=512)
    wanted.add_argument("--layer", default="auto")
    asked = wanted.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        quota = Quota(asked.timeout, asked.memory * MB, 100)
        with arena(Path(folder), quota, 2, asked.layer) as made:
            made.still_works()
            print(f"layer {made.runner.workers.layer}, {asked.timeout:g} s, {asked.memory} MB")
            ok = hostile(made, quota) & fuzz(made, asked.programs)
        left = below(os.getpid())
        print(f"processes left behind: {len(left)}")
    sys.exit(0 if ok and not left else 1)


def hostile(made: Arena, quota: Quota) -> bool:
    levels = [resident_mb()]
    beside = Beside(made)
    ends: Counter[str] = Counter()
    over, worst, bad = 0.0, "", []
    for is_checked in (True, False, False):
        for program in PROGRAMS:
            started = time.monotonic()
            code, said = attempt(made, program, is_checked, quota)
            late = time.monotonic() - started - quota.timeout_s
            if late > over:
                over, worst = late, program.id
            ends[code] += 1
            if code not in CODES | {"ok"} or made.escapes(said) or (program.endless and code == "ok"):
                bad.append(f"{program.id} ({'checked' if is_checked else 'raw'}): {code} {made.escapes(said)}")
        gc.collect()
        levels.append(resident_mb())
    normal, slowest, failed = beside.stop()
    print(f"hostile: {sum(ends.values())} runs, {dict(ends)}; escapes and unforeseen ends: {bad or 'none'}")
    print(f"longest run {over:.2f} s over its limit ({worst}; bar 0.5)")
    print(f"beside them {normal} normal programs, {failed} failed, the slowest {slowest:.2f} s")
    print(f"memory of the server in MB, at first and after each pass: {', '.join(f'{one:.0f}' for one in levels)}")
    return not bad and failed == 0


def fuzz(made: Arena, programs: int) -> bool:
    ends: Counter[str] = Counter()
    bad = []
    short = Quota(0.5, 128 * MB, 20)
    for seed in range(programs):
        code, said = attempt(made, Hostile("fuzz", str(seed), Dice(seed).program()), seed % 4 > 0, short)
        ends[code] += 1
        if code not in CODES | {"ok"} or made.escapes(said):
            bad.append(f"{seed}: {code}")
    print(f"fuzz: {programs} programs, {dict(ends)}; unforeseen: {bad or 'none'}; still works: {made.still_works()}")
    return not bad


def attempt(made: Arena, program: Hostile, is_checked: bool, quota: Quota) -> tuple[str, str]:
    try:
        return made.run(program, is_checked=is_checked, quota=quota)
    except Exception as error:  # what the server would have had to call an internal error
        return f"BUG {type(error).__name__}: {error}", ""


class Beside(threading.Thread):
    """A normal program, again and again."""

    def __init__(self, made: Arena) -> None:
        super().__init__(daemon=True)
        self._made, self._ended = made, threading.Event()
        self._runs, self._failed, self._slowest = 0, 0, 0.0
        self.start()

    def run(self) -> None:
        while not self._ended.wait(0.05):
            started = time.monotonic()
            try:
                self._failed += not self._made.still_works()
            except Exception as error:
                print(f"a normal program failed: {error}")
                self._failed += 1
            self._runs += 1
            self._slowest = max(self._slowest, time.monotonic() - started)

    def stop(self) -> tuple[int, float, int]:
        self._ended.set()
        self.join()
        return self._runs, self._slowest, self._failed


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MB


if __name__ == "__main__":
    main()
