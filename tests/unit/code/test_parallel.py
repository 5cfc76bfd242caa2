"""Files are read on all cores, and nobody can tell from the result."""

import subprocess
import sys
import threading

import pytest

from trivium.code import parallel
from trivium.code.analyse import read_facts
from trivium.errors import InvalidInput

FILES = {
    f"pkg/m{n}.py": f"import m{n + 1}\n\ndef f{n}(x):\n    return m{n + 1}.f{n + 1}(x)\n".encode() for n in range(40)
}
FILES["notes.txt"] = b"not code"
FILES["app.ts"] = b"export const go = () => 1;\n"


@pytest.fixture(autouse=True)
def _everything_is_worth_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "WORTH_BYTES", 0)
    monkeypatch.setattr(parallel, "BATCH_BYTES", 300)


def test_children_find_what_one_process_finds() -> None:
    heard: list[int] = []
    alone = parallel.read_all(FILES, lambda done, _: None, cores=1)
    together = parallel.read_all(FILES, lambda done, _: heard.append(done), cores=3)
    assert list(together.items()) == list(alone.items())
    assert {path: read.facts for path, read in alone.items()} == {
        path: facts for path in sorted(FILES) if (facts := read_facts(path, FILES[path])) is not None
    }
    assert heard[-1] == len(FILES)


def test_a_child_that_ends_is_an_error_that_names_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object, **given: object) -> "subprocess.Popen[bytes]":
        return start([sys.executable, "-c", "raise SystemExit(7)"], **given)  # type: ignore[call-overload,no-any-return]

    start, say, is_said = subprocess.Popen, parallel._broken, threading.Event()

    def said(child: "subprocess.Popen[bytes]", batch: parallel.Batch) -> InvalidInput:
        error = say(child, batch)
        is_said.set()
        return error

    def read(_: parallel.Batch) -> dict[str, parallel.Read]:
        assert is_said.wait(60)  # else this process might read everything before the child was asked
        return {}

    monkeypatch.setattr(subprocess, "Popen", dies)
    monkeypatch.setattr(parallel, "_broken", said)
    monkeypatch.setattr(parallel, "_read", read)
    with pytest.raises(InvalidInput, match=r"ended with status .*pkg/m") as caught:
        parallel.read_all(FILES, lambda done, _: None, cores=2)
    assert ".triviumignore" in (caught.value.hint or "")


def test_children_end_when_reading_is_called_off(monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def noted(*args: object, **given: object) -> "subprocess.Popen[bytes]":
        children.append(start(*args, **given))  # type: ignore[call-overload]
        return children[-1]

    def stop(_: int, __: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", noted)
    with pytest.raises(KeyboardInterrupt):
        parallel.read_all(FILES, stop, cores=3)
    assert len(children) == 2
    assert all(child.poll() is not None for child in children)


def test_a_child_leaves_our_input_and_output_alone() -> None:
    program = (
        "from trivium.code import parallel\n"
        "parallel.WORTH_BYTES, parallel.BATCH_BYTES = 0, 10\n"
        "files = {f'a{n}.py': b'def f(): ...' for n in range(30)}\n"
        "assert len(parallel.read_all(files, lambda done, path: None, cores=2)) == 30\n"
        "print(input())\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], input=b"for us\n", capture_output=True, check=True)
    assert ran.stdout == b"for us\n"
