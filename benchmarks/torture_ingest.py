"""Kills an ingesting process at random moments and looks at what is left.

    uv run python benchmarks/torture_ingest.py --kills 100

A child adds, changes and removes documents, embeds them, and says so after each step. It is killed with SIGKILL at a
random moment, and the folder is opened again: every acknowledged step must be there, at most one step beyond it, and
both indexes must hold exactly the chunks of the store.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trivium.app import App, open_app
from trivium.settings import Settings

MODEL = "hashing-64"


def steps(seed: int) -> "list[tuple[str, str, str]]":
    """A fixed list of (what, file, content); the model of the store after n steps follows from it."""
    dice = random.Random(seed)
    script: list[tuple[str, str, str]] = []
    for number in range(100_000):
        name = f"file{dice.randrange(40)}.md"
        if dice.random() < 0.25:
            script.append(("remove", name, ""))
        else:
            words = " ".join(dice.choice(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]) for _ in range(40))
            sections = "\n\n".join(f"# Part {i} of {number}\n\n{words} {number}." for i in range(dice.randrange(1, 8)))
            script.append(("add", name, sections))
        if number > 3000:
            break
    return script


def work(folder: Path, seed: int, start: int) -> None:
    """The child: carries out the script from `start` on and acknowledges each step."""
    app = _open(folder)
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    print("ready", flush=True)
    for number, (what, name, content) in enumerate(steps(seed)):
        if number < start:
            continue
        if what == "add":
            (docs / name).write_text(content)
            app.documents.add([docs / name])
        elif name in {file.source_file for file in app.documents.files()}:
            app.documents.remove([str(docs / name)])
        if number % 3 == 0:
            app.embedding.run()
        print(number, flush=True)


def expected(seed: int, count: int) -> dict[str, str]:
    state: dict[str, str] = {}
    for what, name, content in steps(seed)[:count]:
        if what == "add":
            state[name] = content
        else:
            state.pop(name, None)
    return state


def found(app: App) -> dict[str, str]:
    """The text of every stored document, put together from its chunks."""
    ids = app.log.chunk_ids().tolist()
    texts: dict[str, list[tuple[int, str]]] = {file.source_file: [] for file in app.documents.files()}
    for chunk in app.chunks.get(ids):
        texts[chunk.source_file].append((chunk.chunk_index, chunk.text))
    return {name: "".join("".join(text.split()) for _, text in sorted(parts)) for name, parts in texts.items()}


def squeezed(state: dict[str, str]) -> dict[str, str]:
    return {name: "".join(text.split()) for name, text in state.items()}


def torture(kills: int, seed: int, folder: Path) -> int:
    dice = random.Random(seed + 1)
    done = 0
    for kill in range(kills):
        done = _one_life(folder, seed, done, dice)
        app = _open(folder)
        states = app.check()
        assert all(state.agrees for state in states), (kill, states)
        now = found(app)
        candidates = [n for n in (done, done + 1) if squeezed(expected(seed, n)) == now]
        assert candidates, (kill, done)
        done = candidates[0]
        assert not app.database.check()
        app.close()
    return done


def _one_life(folder: Path, seed: int, start: int, dice: random.Random) -> int:
    command = [sys.executable, __file__, "--child", str(folder), "--seed", str(seed), "--start", str(start)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "ready"
    os.set_blocking(child.stdout.fileno(), False)
    time.sleep(dice.uniform(0.01, 2.5))
    child.send_signal(signal.SIGKILL)
    child.wait()
    acknowledged = [int(line) for line in (child.stdout.read() or "").splitlines()]
    child.stdout.close()
    return acknowledged[-1] + 1 if acknowledged else start


def _open(folder: Path) -> App:
    return open_app(Settings(data=folder / "data", model=MODEL))


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    arguments.add_argument("--child", type=Path)
    arguments.add_argument("--start", type=int, default=0)
    options = arguments.parse_args()
    if options.child:
        work(options.child, options.seed, options.start)
        return
    with tempfile.TemporaryDirectory() as folder:
        done = torture(options.kills, options.seed, Path(folder))
    print(f"{options.kills} kills, seed {options.seed}: {done} steps acknowledged, none lost, indexes equal the store")


if __name__ == "__main__":
    main()
