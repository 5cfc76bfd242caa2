"""Kills PostgreSQL, and the processes that write to it, at random moments, and looks at what is left.

    uv run python benchmarks/torture_postgres.py --faults 12 --writers 3

Writers add documents and concepts and embed what waits, and say so after each step; where the store does not answer
they try the same step again. Meanwhile the server is killed (-9), stopped or frozen for a moment and goes on, and
writers are killed and go on. At the end every acknowledged step must be there once, nothing else, both indexes must
hold exactly the chunks of the store, and the rows of concepts must be those that their events give.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contracts"))

from servers import Server
from servers.postgresql import start

from trivium.app import App, open_app
from trivium.errors import BackendUnavailable, Conflict
from trivium.settings import Settings

TEXT = "Step {step} of writer {writer}: alpha beta gamma delta {step}."


def opened(folder: Path, url: str) -> App:
    given = {"store": url, "model": "hashing-64", "extractor": "rules", "store_wait_s": 2.0}
    return open_app(Settings(data=folder, **given))


def work(folder: Path, url: str, writer: int, step: int) -> None:
    """A writer: goes on for ever from `step`, and prints each one that the store has acknowledged."""
    app: App | None = None
    while True:
        try:
            app = app or opened(folder, url)
            _step(app, writer, step)
        except BackendUnavailable:
            time.sleep(0.05)
            continue
        print(step, flush=True)
        step += 1


def _step(app: App, writer: int, step: int) -> None:
    app.documents.add_texts(f"w{writer}", [(str(step), "", TEXT.format(step=step, writer=writer))])
    with suppress(Conflict):  # it was there: the answer had been lost, not the write
        concept_id = f"00000000-0000-4000-8000-{writer:04d}{step:08d}"
        app.concepts.change.create({"name": f"w{writer} {step}", "explanation": "torture"}, concept_id)
    if step % 5 == 0:
        app.embedding.run()


class Writer:
    def __init__(self, folder: Path, url: str, number: int) -> None:
        self._arguments = [str(folder / f"writer{number}"), url, str(number)]
        self._file = folder / f"acknowledged{number}"
        self.number = number
        self.start()

    @property
    def acknowledged(self) -> int:
        """The last step that was; a line that was cut off was not."""
        lines = self._file.read_text().split("\n")[:-1] if self._file.exists() else []
        return int(lines[-1]) if lines else -1

    def start(self) -> None:
        own = [sys.executable, __file__, "--work", *self._arguments, str(self.acknowledged + 1)]
        with self._file.open("a") as out:
            self._process = subprocess.Popen(own, stdout=out)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def fault(dice: random.Random, server: Server, writers: list[Writer]) -> str:
    what = dice.choice(["kill server", "stop server", "freeze server", "kill writer", "kill writer"])
    if what == "kill writer":
        one = dice.choice(writers)
        one.kill()
        one.start()
    elif what == "freeze server":
        assert server.process is not None
        os.kill(server.process.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(server.process.pid, signal.SIGCONT)
    else:
        (server.kill if what == "kill server" else server.stop)()
        time.sleep(dice.random())
        server.start()
    return what


def lost(app: App, writers: list[Writer]) -> list[str]:
    """What is not as it was acknowledged."""
    wrong = []
    stored = {(file.root, file.source_file): file for file in app.store.files("documents")}
    for writer in writers:
        steps = range(writer.acknowledged + 1)
        missing = [step for step in steps if (f"w{writer.number}", str(step)) not in stored]
        surplus = [name for root, name in stored if root == f"w{writer.number}" and int(name) > writer.acknowledged + 1]
        ids = [f"00000000-0000-4000-8000-{writer.number:04d}{step:08d}" for step in steps]
        concepts = _known(app, ids)
        if missing or surplus or concepts != len(ids):
            wrong.append(
                f"writer {writer.number}: {missing} missing, {surplus} surplus, {len(ids) - concepts} concepts"
            )
    texts = [chunk.text for chunk in app.chunks.get(app.log.chunk_ids().tolist()) if chunk.source == "documents"]
    if len(texts) != len(set(texts)) or len(texts) != len(stored):
        wrong.append(f"{len(texts)} chunks, {len(set(texts))} different, {len(stored)} documents")
    return wrong


def _known(app: App, ids: list[str]) -> int:
    with app.database.read() as db:
        return sum(bool(db.execute("SELECT 1 FROM concepts WHERE concept_id = ?", (i,)).fetchone()) for i in ids)


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=12)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "server").mkdir()
        server = start(folder / "server")
        writers = [Writer(folder, server.url, number) for number in range(options.writers)]
        faults: dict[str, int] = {}
        for _ in range(options.faults):
            before = [writer.acknowledged for writer in writers]
            while not all(writer.acknowledged > old for writer, old in zip(writers, before, strict=True)):
                time.sleep(0.1)  # a fault counts when everybody has got over the one before
            time.sleep(dice.random())
            what = fault(dice, server, writers)
            faults[what] = faults.get(what, 0) + 1
        for writer in writers:
            writer.kill()
        app = opened(folder / "check", server.url)
        app.embedding.run()
        wrong = lost(app, writers) + [str(state) for state in app.check() if not state.agrees]
        verdict = app.concepts.check.verify()
        wrong += [] if verdict.consistent else [str(verdict.summary())]
        print(f"{faults}: {sum(writer.acknowledged + 1 for writer in writers)} steps acknowledged")
        print("nothing lost, nothing twice, indexes agree" if not wrong else "\n".join(wrong))
        app.close()
        server.kill()
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
