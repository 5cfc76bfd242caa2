"""Kills writers of concepts at random moments, and lets many write the same ones at once.

    python benchmarks/torture_concepts.py --kills 300 --processes 8 --updates 1000

Kills: a child writes a mix of everything and acknowledges each write through a pipe; SIGKILL ends it at any moment.
After reopening, every acknowledged event must be there, nothing of a half-done write, and every projection must equal a
replay of the log. Writers: all of them update the same 50 concepts under `expected_version`; afterwards versions have
no gap, and every update is either in the log or was reported as a conflict.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from trivium.backends.quicktok import QuicktokCounter
from trivium.backends.sqlite.concepts import open_concepts
from trivium.backends.sqlite.database import Database
from trivium.backends.sqlite.documents import SqliteDocumentStore
from trivium.concepts.replay import batches
from trivium.concepts.room import Concepts
from trivium.errors import Conflict, TriviumError
from trivium.model.concept import ConceptCreated, ConceptUpdated
from trivium.model.embedding import EmbeddingModel
from trivium.ports.concept_catalogue import Selection

KINDS = ("prerequisite", "relates_to", "includes")
TOKENS = QuicktokCounter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--concepts", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    TOKENS.count(["loaded before the forks"])
    with tempfile.TemporaryDirectory() as folder:
        kill_many(Path(folder), options.kills, random.Random(options.seed))
    with tempfile.TemporaryDirectory() as folder:
        race(Path(folder), options.processes, options.updates, options.concepts)


def opened(folder: Path) -> tuple[Concepts, Database]:
    database = Database(folder / "trivium.db")
    store = SqliteDocumentStore(database)
    model = EmbeddingModel("none", 8, 256)
    return open_concepts(database, store, TOKENS, lambda *_: [], lambda: model), database


# Kills


def kill_many(folder: Path, kills: int, chance: random.Random) -> None:
    acknowledged: set[tuple[str, int]] = set()
    for number in range(kills):
        acknowledged |= kill_one(folder, number, chance)
        examine(folder, acknowledged)
    concepts, database = opened(folder)
    print(f"{kills} kills: {len(acknowledged):,} events acknowledged, {concepts.log.head():,} in the log; none lost,")
    print("  no half write, every projection equal to a replay each time", flush=True)
    database.close()


def kill_one(folder: Path, number: int, chance: random.Random) -> set[tuple[str, int]]:
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        write_forever(folder, number, sending)
        os._exit(1)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        first = pipe.readline()
        time.sleep(chance.random() * 0.12)
        os.kill(child, signal.SIGKILL)
        lines = [first, *pipe.readlines()]
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        sys.exit(f"the writer ended by itself: {status}")
    return {(stream, version) for line in lines if line.endswith(b"\n") for stream, version in json.loads(line)}


def write_forever(folder: Path, number: int, sending: int) -> None:
    chance = random.Random(number)
    concepts, _ = opened(folder)
    known = [concept.concept_id for concept in concepts.read.exact(Selection(), 100)]
    links: list[str] = []
    step = 0
    while True:
        step += 1
        before = concepts.log.head()
        try:
            write(concepts, chance, known, links, f"{number}-{step}")
        except TriviumError:
            continue
        done = [(event.stream, event.version) for event in concepts.log.read(before, 100)]
        os.write(sending, json.dumps(done).encode() + b"\n")


def write(concepts: Concepts, chance: random.Random, known: list[str], links: list[str], tag: str) -> None:
    change = concepts.change
    draw = chance.random()
    if len(known) < 3 or draw < 0.25:
        known.append(change.create({"name": f"one {tag}", "explanation": tag, "area": tag[-1]}).concept_id)
    elif draw < 0.35:
        rows = [{"name": f"batch {tag} of 5", "explanation": f"{tag} {row}"} for row in range(5)]
        known.extend(concept.concept_id for concept in change.create_many(rows, tag))
    elif draw < 0.6:
        change.update(chance.choice(known), {"explanation": tag, "area": tag[-1]})
    elif draw < 0.8:
        made = change.relate(chance.choice(known), chance.choice(known), chance.choice(KINDS))
        links.append(made.relationship_id)
    elif draw < 0.87 and links:
        change.unrelate(links.pop())
    elif draw < 0.94:
        change.delete(chance.choice(known))
    else:
        change.restore(chance.choice(known))


def examine(folder: Path, acknowledged: set[tuple[str, int]]) -> None:
    concepts, database = opened(folder)
    logged = [event for part in batches(concepts.log, 0) for event in part]
    there = {(event.stream, event.version) for event in logged}
    if lost := acknowledged - there:
        sys.exit(f"{len(lost)} acknowledged events are lost: {sorted(lost)[:5]}")
    if [event.position for event in logged] != list(range(1, len(logged) + 1)):
        sys.exit("positions have gaps")
    batch = Counter(
        event.event.content["name"]
        for event in logged
        if isinstance(event.event, ConceptCreated) and "batch" in str(event.event.content["name"])
    )
    if halves := [name for name, count in batch.items() if count != 5]:
        sys.exit(f"half a batch: {halves}")
    verdict = concepts.check.verify()
    if not verdict.consistent:
        sys.exit(f"projections differ from a replay: {verdict.summary()}")
    if problems := database.check():
        sys.exit(f"the file is damaged: {problems}")
    database.close()


# Many writers


def race(folder: Path, processes: int, updates: int, count: int) -> None:
    concepts, database = opened(folder)
    rows = [{"name": f"shared {number}", "explanation": "many want it"} for number in range(count)]
    ids = [concept.concept_id for concept in concepts.change.create_many(rows)]
    database.close()
    began = time.perf_counter()
    pipes = [start_writer(folder, number, updates, ids) for number in range(processes)]
    outcomes = [outcome for pipe in pipes for outcome in collect(pipe)]
    took = time.perf_counter() - began
    settle(folder, ids, outcomes, processes * updates, took)


def start_writer(folder: Path, number: int, updates: int, ids: list[str]) -> tuple[int, int]:
    receiving, sending = os.pipe()
    child = os.fork()
    if child:
        os.close(sending)
        return child, receiving
    os.close(receiving)
    with os.fdopen(sending, "wb") as pipe:
        pipe.write(json.dumps(update_all(folder, number, updates, ids)).encode())
    os._exit(0)


def update_all(folder: Path, number: int, updates: int, ids: list[str]) -> list[tuple[str, str | None]]:
    """For every update its tag, and the concept it changed, or None where a conflict was reported."""
    concepts, database = opened(folder)
    chance = random.Random(number)
    outcomes: list[tuple[str, str | None]] = []
    for step in range(updates):
        one, tag = chance.choice(ids), f"{number}-{step}"
        version = concepts.read.get(one).version
        try:
            concepts.change.update(one, {"examples": tag}, expected_version=version)
        except Conflict as error:
            if error.code != "VERSION_CONFLICT":
                raise
            outcomes.append((tag, None))
        else:
            outcomes.append((tag, one))
    database.close()
    return outcomes


def collect(writer: tuple[int, int]) -> list[tuple[str, str | None]]:
    child, receiving = writer
    with os.fdopen(receiving, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(f"a writer failed: {status}")
    return [(tag, one) for tag, one in json.loads(text)]


def settle(folder: Path, ids: list[str], outcomes: list[tuple[str, str | None]], wanted: int, took: float) -> None:
    concepts, database = opened(folder)
    written: dict[str, str] = {}
    for one in ids:
        history = concepts.read.history(one)
        if [event.version for event in history] != list(range(1, len(history) + 1)):
            sys.exit(f"versions of {one} have gaps")
        for event in history[1:]:
            assert isinstance(event.event, ConceptUpdated)
            written[str(event.event.changes["examples"])] = one
    done = {tag: one for tag, one in outcomes if one is not None}
    conflicts = sum(one is None for _, one in outcomes)
    if len(outcomes) != wanted or done != written:
        sys.exit(f"{len(done)} updates were acknowledged, {len(written)} are in the log, {conflicts} conflicts")
    if not concepts.check.verify().consistent:
        sys.exit("projections differ from a replay")
    print(f"{wanted:,} updates: {len(done):,} written, {conflicts:,} conflicts, all reported; {wanted / took:,.0f}/s")
    database.close()


if __name__ == "__main__":
    main()
