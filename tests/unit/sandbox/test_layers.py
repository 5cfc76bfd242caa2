"""What surrounds a worker, seen from outside, for every layer that works on this machine."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from arena import MEMORY

from trivium.sandbox.failures import ProgramTimeout, ProgramTooLarge
from trivium.sandbox.isolation import LAYERS, Layer, isolate
from trivium.sandbox.runner import Functions, Runner
from trivium.sandbox.workers import Quota, Workers, resident_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
NOTHING = Functions(frozenset(), lambda *_: None)


def works(layer: Layer) -> bool:
    try:
        isolate(MEMORY, layer).remove()
    except OSError:
        return False
    return True


@pytest.fixture(params=[layer for layer in LAYERS if works(layer)])
def layered(request: pytest.FixtureRequest) -> Iterator[Runner]:
    runner = Runner(Workers(MEMORY, 1, request.param), 60)
    yield runner
    runner.close()


def inside(runner: Runner) -> Path:
    """/proc of the interpreter itself: bwrap waits outside as its parent."""
    with runner.workers.place("test", Quota(60, MEMORY, 1), 60) as place:
        pid = place.session.worker_pid
        while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            pid = int(children[0])
        return Path(f"/proc/{pid}")


def status(process: Path) -> dict[str, str]:
    lines = (process / "status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_one_layer_works_here() -> None:
    assert any(works(layer) for layer in LAYERS)


def test_the_strongest_layer_is_taken() -> None:
    chosen = isolate(MEMORY)
    chosen.remove()
    assert chosen.layer == next(layer for layer in LAYERS if works(layer))


def test_a_worker_has_no_privileges_no_environment_and_two_pipes(layered: Runner) -> None:
    process = inside(layered)
    state = status(process)
    assert int(state["NoNewPrivs"]) == 1
    assert int(state["CapEff"], 16) == 0
    assert (process / "environ").read_bytes() in (b"", b"PWD=/\0")
    assert os.readlink(process / "cwd") == "/"
    opened = {int(one.name): os.readlink(one) for one in (process / "fd").iterdir()}
    assert opened.keys() == {0, 1, 2}
    assert opened[0].startswith("pipe:")
    assert opened[1].startswith("pipe:")
    assert opened[2] == "/dev/null"
    if os.geteuid() == 0 and layered.workers.layer != "bwrap":
        assert state["Uid"].split()[0] == "65534"


def test_system_calls_are_filtered(layered: Runner) -> None:
    filtered = status(inside(layered))["Seccomp"] == "2"
    assert filtered == (layered.workers.layer in ("bwrap", "confined"))


def test_bwrap_shares_no_namespace(layered: Runner) -> None:
    process = inside(layered)
    if layered.workers.layer != "bwrap":
        pytest.skip("this layer has no namespaces")
    for kind in ("net", "pid", "mnt", "ipc", "uts", "user"):
        assert os.readlink(process / "ns" / kind) != os.readlink(f"/proc/self/ns/{kind}")


def test_memory_and_files_are_limited(layered: Runner) -> None:
    limits = (inside(layered) / "limits").read_text()
    assert "Max core file size        0" in limits
    assert "Max open files            16" in limits
    assert "Max address space         unlimited" not in limits


def test_a_worker_is_killed_when_its_time_is_up_and_leaves_nothing_behind(layered: Runner) -> None:
    process = inside(layered)
    with pytest.raises((ProgramTimeout, ProgramTooLarge)):
        layered.run("x = 3\nwhile True:\n    x = x * x", NOTHING, Quota(0.3, MEMORY, 1))
    assert layered.run("1", NOTHING, Quota(60, MEMORY, 1)).value == 1
    layered.close()
    assert not process.exists() or status(process)["State"].startswith(("Z", "X"))


def test_a_worker_that_keeps_much_memory_is_replaced(layered: Runner) -> None:
    quota = Quota(60, 2**29, 1)
    roomy = Runner(Workers(2**29, 1, layered.workers._wanted), 60)
    try:
        before = inside(roomy)
        assert roomy.run("x = [str(i) for i in range(1_500_000)]\nlen(x)", NOTHING, quota).value == 1_500_000
        after = inside(roomy)
        assert after != before or resident_bytes(int(after.name)) < 2**27
    finally:
        roomy.close()


def test_workers_start_even_after_the_system_cleared_its_temporary_files(layered: Runner) -> None:
    layered.run("1", NOTHING, Quota(60, MEMORY, 1))
    isolation = layered.workers._isolation
    assert isolation is not None
    isolation.remove()
    with pytest.raises(ProgramTimeout):
        layered.run("while True:\n    pass", NOTHING, Quota(0.2, MEMORY, 1))  # the worker is killed
    assert layered.run("1", NOTHING, Quota(60, MEMORY, 1)).value == 1


def test_the_folder_of_the_start_script_goes_with_the_workers(layered: Runner) -> None:
    layered.run("1", NOTHING, Quota(60, MEMORY, 1))
    isolation = layered.workers._isolation
    assert isolation is not None
    folder = isolation.folder
    assert folder is not None
    assert folder.is_dir()
    layered.close()
    assert not folder.exists()
