"""Reads many files on all cores: plain child processes that take batches of files and give back their packed facts.

Not `multiprocessing`: a server speaks to its client through stdin and stdout and runs many threads, so a child must
neither inherit those pipes nor be a fork of it. Children get pipes of their own and start from nothing. This process
reads along; with little to read, or one core, it reads alone. Results do not depend on who read what.
"""

import marshal
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from trivium.code.analyse import pack, read_facts, unpack
from trivium.code.lowering import ops
from trivium.errors import InvalidInput

WORTH_BYTES = 2_000_000  # less is read before a child has started
BATCH_BYTES = 150_000
MOST_CHILDREN = 7

Batch = list[tuple[str, bytes]]


class Read(NamedTuple):
    facts: ops.FileFacts
    packed: bytes


def read_all(
    files: Mapping[str, bytes], progress: Callable[[int, str], None], cores: int | None = None
) -> dict[str, Read]:
    """What the files say, for those in a known language, by path. `progress` hears how many are done; it may raise."""
    batches = _batches(sorted(files.items()))
    children = min((cores or _cores()) - 1, MOST_CHILDREN, len(batches) - 1)
    if sum(map(len, files.values())) < WORTH_BYTES or children < 1:
        batches, children = [[one] for one in sorted(files.items())], 0
    found = _Reading(batches, progress).run(children)
    return {path: found[path] for path in sorted(found)}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _batches(files: Sequence[tuple[str, bytes]]) -> list[Batch]:
    found: list[Batch] = []
    size = BATCH_BYTES
    for path, source in files:
        if size >= BATCH_BYTES:
            found.append([])
            size = 0
        found[-1].append((path, source))
        size += len(source)
    return found


class _Reading:
    """The batches that are left, and what was found; whoever is free takes the next."""

    def __init__(self, batches: list[Batch], progress: Callable[[int, str], None]) -> None:
        self._left = iter(batches)
        self._taking = threading.Lock()
        self._progress = progress
        self._found: dict[str, Read] = {}
        self._done = 0
        self._broken: InvalidInput | None = None

    def run(self, children: int) -> dict[str, Read]:
        with _started(children) as running:
            feeders = [threading.Thread(target=self._feed, args=(child,), daemon=True) for child in running]
            for feeder in feeders:
                feeder.start()
            for batch in self._batches():
                self._take(batch, _read(batch))
            for feeder in feeders:
                feeder.join()
        if self._broken is not None:
            raise self._broken
        self._progress(self._done, "")
        return self._found

    def _batches(self) -> Iterator[Batch]:
        while self._broken is None:
            with self._taking:
                batch = next(self._left, None)
            if batch is None:
                return
            yield batch
            self._progress(self._done, batch[-1][0])

    def _take(self, batch: Batch, found: Mapping[str, Read]) -> None:
        with self._taking:
            self._found.update(found)
            self._done += len(batch)

    def _feed(self, child: "subprocess.Popen[bytes]") -> None:
        while self._broken is None:
            with self._taking:
                batch = next(self._left, None)
            if batch is None:
                return
            try:
                _send(child.stdin, batch)
                packed: dict[str, bytes] = _receive(child.stdout)
                self._take(batch, {path: Read(unpack(one), one) for path, one in packed.items()})
            except (OSError, EOFError, ValueError, TypeError):
                self._broken = _broken(child, batch)


@contextmanager
def _started(count: int) -> Iterator[list["subprocess.Popen[bytes]"]]:
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "trivium.code.parallel"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        for _ in range(count)
    ]
    try:
        yield children
    finally:
        for child in children:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()


def _broken(child: "subprocess.Popen[bytes]", batch: Batch) -> InvalidInput:
    child.kill()
    names = ", ".join(path for path, _ in batch[:5])
    return InvalidInput(
        f"a process that reads files ended with status {child.wait()} on one of {len(batch)} files, among them {names}",
        field="source",
        code="INDEXING_FAILED",
        hint="leave out the file it cannot read, with a line in .triviumignore",
    )


def _read(batch: Batch) -> dict[str, Read]:
    found = {path: facts for path, source in batch if (facts := read_facts(path, source)) is not None}
    return {path: Read(facts, pack(facts)) for path, facts in found.items()}


def _send(pipe: IO[bytes] | None, value: Any) -> None:
    if pipe is None:
        raise EOFError
    packed = marshal.dumps(value)
    pipe.write(len(packed).to_bytes(8, "little") + packed)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> Any:
    length = int.from_bytes(_exactly(pipe, 8), "little")
    return marshal.loads(_exactly(pipe, length))


def _exactly(pipe: IO[bytes] | None, length: int) -> bytes:
    found = pipe.read(length) if pipe is not None else b""
    if len(found) < length:
        raise EOFError
    return found


def main() -> None:
    """A child: batches in, packed facts out, until nothing more comes."""
    import gc

    gc.disable()
    while True:
        try:
            batch = _receive(sys.stdin.buffer)
        except EOFError:
            return
        _send(sys.stdout.buffer, {path: read.packed for path, read in _read(batch).items()})


if __name__ == "__main__":
    main()
