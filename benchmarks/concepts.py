"""What concepts cost: writes beside a bare insert, reads at size, replay beside reading, search beside embedding.

    python benchmarks/concepts.py [--concepts 100000] [--relationships 500000] [--events 1000000] [--model NAME]

CPU time of this process throughout. Every figure is printed beside its bar; nothing here is part of the test suite.
"""

import argparse
import gzip
import json
import random
import sqlite3
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from trivium.backends.bits import BitsVectorIndex
from trivium.backends.files import ProcessLock
from trivium.backends.quicktok import QuicktokCounter
from trivium.backends.sqlite.changes import SqliteChangeLog
from trivium.backends.sqlite.concepts import open_concepts
from trivium.backends.sqlite.database import Database
from trivium.backends.sqlite.documents import SqliteDocumentStore
from trivium.backends.sqlite.embeddings import SqliteEmbeddingQueue, SqliteModelRegister
from trivium.concepts.find import NearestByVectors
from trivium.concepts.markdown import read_folder, write_folder
from trivium.concepts.replay import batches
from trivium.concepts.room import Concepts
from trivium.model.concept import ConceptCreated, ConceptUpdated, Pending, RelationshipCreated
from trivium.ports.concept_catalogue import Selection
from trivium.ports.embedder import Embedder
from trivium.search.follow import Follower, FollowingVectors

KINDS = ("prerequisite", "relates_to", "includes")
WORDS = ["loop", "list", "tree", "graph", "cell", "enzyme", "force", "energy", "market", "price", "vector", "matrix"]
AREAS = 13
HUBS = 20


def main() -> None:
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        if options.names:
            bench_names(Path(folder), options)
            return
        if options.vault:
            bench_vault(Path(folder), options.vault)
            return
        bench_writes(Path(folder) / "writes")
        bench_size(Path(folder) / "size", options)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--concepts", type=int, default=100_000)
    parser.add_argument("--relationships", type=int, default=500_000)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--names", action="store_true", help="only this: three ways to find a part of a name")
    parser.add_argument("--vault", type=Path, help="only this: notes as JSON lines (_id, text), gzipped")
    return parser.parse_args()


def open_embedder(name: str) -> Embedder:
    from platformdirs import user_cache_dir

    from trivium.backends.onnx import open_model

    return open_model(name, cache_dir=Path(user_cache_dir("trivium")) / "models")


def open_all(folder: Path, embedder: Embedder) -> tuple[Concepts, Database, Callable[[], object]]:
    database = Database(folder / "trivium.db")
    store = SqliteDocumentStore(database)
    SqliteModelRegister(database).activate(embedder.model)
    vectors = BitsVectorIndex(folder / "vectors", embedder.model.dimension)
    log = SqliteChangeLog(database)
    lock = ProcessLock(folder / "locks" / "index")
    follower = Follower(log, FollowingVectors(log, vectors, embedder.model), lock.hold)
    nearest = NearestByVectors(embedder, vectors, follower.catch_up)
    concepts = open_concepts(database, store, QuicktokCounter(), nearest, lambda: embedder.model)
    return concepts, database, follower.catch_up


# Writes


def bench_writes(folder: Path) -> None:
    from trivium.backends.memory.embedder import HashingEmbedder

    concepts, database, _ = open_all(folder, HashingEmbedder(384))
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute(
        "CREATE TABLE events (position INTEGER PRIMARY KEY, stream TEXT, version INTEGER, kind TEXT, at TEXT,"
        " body TEXT, UNIQUE (stream, version))"
    )
    made: list[str] = []
    fixed = [concepts.change.create(content(0)).concept_id]
    steps: dict[str, Callable[[int], object]] = {
        "bare insert": lambda n: insert(bare, n),
        "create": lambda n: made.append(concepts.change.create(content(n)).concept_id),
        "update, text": lambda n: concepts.change.update(made[n], {"explanation": f"changed {n}"}),
        "update, metadata": lambda n: concepts.change.update(made[n], {"examples": f"changed {n}"}),
        "relate": lambda n: concepts.change.relate(made[n], fixed[0], "relates_to"),
        "delete": lambda n: concepts.change.delete(made[n]),
    }
    times = alternate(steps, rounds=20, size=25)
    base = times["bare insert"]
    print(f"bare durable insert: {base * 1e6:.0f} µs CPU")
    for name, took in list(times.items())[1:]:
        print(f"  {name:<18} {took * 1e6:6.0f} µs  {took / base:4.1f} x   (bar 3 x)")
    database.close()


def alternate(steps: dict[str, Callable[[int], object]], rounds: int, size: int) -> dict[str, float]:
    """Medians over rounds in which every step has its turn, so that a busy machine slows all of them alike."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds):
        for name, step in steps.items():
            began = time.process_time()
            for number in range(turn * size, (turn + 1) * size):
                step(number)
            times[name].append((time.process_time() - began) / size)
    return {name: statistics.median(taken[2:]) for name, taken in times.items()}


def insert(bare: sqlite3.Connection, number: int) -> None:
    bare.execute("BEGIN IMMEDIATE")
    row = (str(uuid.uuid4()), 1, "ConceptCreated", "2026-03-01T12:00:00.000Z", json.dumps(content(number)))
    bare.execute("INSERT INTO events (stream, version, kind, at, body) VALUES (?, ?, ?, ?, ?)", row)
    bare.execute("COMMIT")


def content(number: int) -> dict[str, object]:
    return {
        "name": f"Concept number {number}",
        "explanation": "Iterates over the items of a sequence and runs its block once for each. " * 3,
        "area": f"Area {number % AREAS}",
        "topic": f"Topic {number % 50}",
        "certainty_score": float(number % 100),
    }


# Size


def bench_size(folder: Path, options: argparse.Namespace) -> None:
    chance = random.Random(options.seed)
    embedder = open_embedder(options.model)
    concepts, database, catch_up = open_all(folder, embedder)
    ids = fill(concepts, chance, options)
    bench_replay(concepts)
    give_vectors(database, embedder, catch_up)
    bench_reads(concepts, ids, chance, embedder)
    database.close()


def fill(concepts: Concepts, chance: random.Random, options: argparse.Namespace) -> list[str]:
    """Events straight into the log; the rows follow by replay, which is what is measured next."""
    ids = [f"{chance.randrange(10**8):08d}-0000-4000-8000-{n:012d}" for n in range(options.concepts)]
    pending: list[Pending] = []
    for event in events(ids, chance, options):
        pending.append(event)
        if len(pending) == 20_000:
            concepts.log.append(pending)
            pending = []
    concepts.log.append(pending)
    return ids


def events(ids: Sequence[str], chance: random.Random, options: argparse.Namespace) -> Iterator[Pending]:
    for number, one in enumerate(ids):
        yield Pending(one, 1, ConceptCreated(random_content(number, chance)))
    seen: set[tuple[int, int, str]] = set()
    while len(seen) < options.relationships:
        edge = random_edge(len(ids), chance)
        if edge not in seen:
            seen.add(edge)
            link = RelationshipCreated(ids[edge[0]], ids[edge[1]], edge[2], 1.0)  # type: ignore[arg-type]
            yield Pending(f"rel-{len(seen):012x}", 1, link)
    versions = dict.fromkeys(ids, 1)
    for number in range(options.events - len(ids) - options.relationships):
        one = ids[chance.randrange(len(ids))]
        versions[one] += 1
        yield Pending(one, versions[one], ConceptUpdated({"certainty_score": float(number % 101)}))


def random_content(number: int, chance: random.Random) -> dict[str, object]:
    words = " ".join(chance.choices(WORDS, k=3))
    return {
        "name": f"{words} {number}",
        "explanation": " ".join(chance.choices(WORDS, k=30)),
        "area": f"Area {chance.randrange(AREAS)}",
        "topic": f"Topic {chance.randrange(50)}",
        "certainty_score": round(chance.random() * 100, 1),
    }


def random_edge(count: int, chance: random.Random) -> tuple[int, int, str]:
    """Mostly near neighbours, as in a field of knowledge, and a few hubs that include a lot. Upwards only, so that
    there is no circle of prerequisites."""
    draw = chance.random()
    if draw < 0.02:
        return chance.randrange(HUBS), chance.randrange(HUBS, count), "includes"
    source = chance.randrange(count - 1)
    reach = 2_000 if draw < 0.9 else count
    target = source + 1 + chance.randrange(min(reach, count - 1 - source))
    return source, target, chance.choice(KINDS)


def bench_replay(concepts: Concepts) -> None:
    began = time.process_time()
    read = sum(len(part) for part in batches(concepts.log, 0))
    reading = time.process_time() - began
    began = time.process_time()
    concepts.check.rebuild()
    first = time.process_time() - began
    began = time.process_time()
    concepts.check.rebuild()
    again = time.process_time() - began
    print(f"reading {read:,} events: {reading:.1f} s CPU")
    print(f"  replay into empty rows and text  {first:6.1f} s  {first / reading:4.1f} x   (bar 5 x)")
    print(f"  replay over what is there        {again:6.1f} s  {again / reading:4.1f} x")
    began = time.process_time()
    assert concepts.check.verify().consistent
    print(f"  verify                           {time.process_time() - began:6.1f} s")


def give_vectors(database: Database, embedder: Embedder, catch_up: Callable[[], object]) -> None:
    """Random unit vectors in place of 100 000 embeddings: what is measured is finding, not embedding."""
    queue = SqliteEmbeddingQueue(database)
    chance = np.random.default_rng(1)
    while waiting := queue.take(embedder.model, 10_000):
        vectors = chance.standard_normal((len(waiting), embedder.model.dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        hashes = [item.chunk_id.to_bytes(16, "big") for item in waiting]
        rows = [(item, [key]) for item, key in zip(waiting, hashes, strict=True)]
        queue.store(embedder.model, dict(zip(hashes, vectors, strict=True)), rows)
    catch_up()


def bench_reads(concepts: Concepts, ids: Sequence[str], chance: random.Random, embedder: Embedder) -> None:
    read, find = concepts.read, concepts.find
    one = lambda: chance.choice(ids)  # noqa: E731 - a name for the table below
    area = lambda: f"Area {chance.randrange(AREAS)}"  # noqa: E731
    topic = lambda: f"Topic {chance.randrange(50)}"  # noqa: E731
    show("get", 0.3, lambda: read.get(one()))
    show("exact, name seldom", 5, lambda: read.exact(Selection(name=f"k {chance.randrange(len(ids))}")))
    show("exact, name often", 5, lambda: read.exact(Selection(name=chance.choice(WORDS))))
    show("exact, name nowhere", 5, lambda: read.exact(Selection(name=f"zz{chance.random()}")))
    show("exact, area", 5, lambda: read.exact(Selection(area=area())))
    show("exact, topic", 5, lambda: read.exact(Selection(topic=topic())))
    show("exact, area + topic", 5, lambda: read.exact(Selection(area=area(), topic=topic())))
    show("exact, certainty seldom", 5, lambda: read.exact(Selection(min_certainty=99.9)))
    show("exact, area + topic + cert.", 5, lambda: read.exact(Selection(area=area(), topic=topic(), min_certainty=90)))
    show("exact, name + area", 5, lambda: read.exact(Selection(name=chance.choice(WORDS), area=area())))
    show("recent", 5, lambda: read.recent(30, 100))
    show("by certainty", 5, lambda: read.by_certainty(50, 60))
    show("related, 3 hops", 5, lambda: read.related(one(), max_depth=3))
    show("prerequisites, depth 10", 10, lambda: read.prerequisites(one(), 10))
    show("chain", 20, lambda: read.chain(one(), one()))
    show("hierarchy", 2, read.hierarchy)
    question = lambda: " ".join(chance.choices(WORDS, k=8))  # noqa: E731
    embedding = show("embedding a query", None, lambda: embedder.embed_queries([question()]))
    show("semantic", 2.5 * embedding, lambda: find.semantic(question()))
    show("semantic, area", 2.5 * embedding, lambda: find.semantic(question(), Selection(area=area())))
    wide = Selection(min_certainty=50)
    show("semantic, half of all", 2.5 * embedding, lambda: find.semantic(question(), wide))


def show(name: str, bar_ms: float | None, action: Callable[[], object], repeats: int = 40) -> float:
    """Median and worst CPU milliseconds; answers the median."""
    action()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        action()
        times.append((time.process_time() - began) * 1000)
    median = statistics.median(times)
    bar = f"(bar {bar_ms:.1f} ms)" if bar_ms is not None else ""
    print(f"  {name:<28} {median:8.3f} ms   worst {max(times):8.2f}   {bar}", flush=True)
    return median


# Names


def bench_names(folder: Path, options: argparse.Namespace) -> None:
    """A part of a name among many: LIKE, FTS5 trigrams, one string in memory; and what a write pays for the index."""
    chance = random.Random(options.seed)
    names = [str(random_content(number, chance)["name"]) for number in range(options.concepts)]
    text = "\0".join(names)
    db = sqlite3.connect(folder / "names.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE plain (key INTEGER PRIMARY KEY, name TEXT)")
    db.execute("CREATE VIRTUAL TABLE grams USING fts5 (name, tokenize = 'trigram', detail = none, content = '')")
    db.execute("BEGIN")
    db.executemany("INSERT INTO plain VALUES (?, ?)", enumerate(names))
    db.executemany("INSERT INTO grams (rowid, name) VALUES (?, ?)", enumerate(names))
    db.execute("COMMIT")
    part = lambda: f"e {chance.randrange(options.concepts)}"  # noqa: E731
    like = "SELECT key FROM plain WHERE name LIKE '%' || ? || '%' ORDER BY key DESC LIMIT 20"
    show("LIKE", None, lambda: db.execute(like, (part(),)).fetchall())
    gram = "SELECT rowid FROM grams WHERE grams MATCH ? ORDER BY rowid DESC LIMIT 20"
    show("FTS5 trigrams (candidates)", None, lambda: db.execute(gram, (trigrams(part()),)).fetchall())
    show("str.find over all names", None, lambda: text.find(part()))
    number = iter(range(options.concepts, 10**9))
    writes: dict[str, Callable[[int], object]] = {
        "a row": lambda _: db.execute("INSERT INTO plain VALUES (?, ?)", (next(number), "a name like others")),
        "a row in FTS5": lambda _: db.execute(
            "INSERT INTO grams (rowid, name) VALUES (?, ?)", (next(number), "a name")
        ),
    }
    for name, took in alternate(writes, rounds=12, size=20).items():
        print(f"  writing {name:<20} {took * 1e6:8.0f} µs")


def trigrams(part: str) -> str:
    return " AND ".join(f'"{part[at : at + 3]}"' for at in range(len(part) - 2))


# A vault


def bench_vault(folder: Path, corpus: Path) -> None:
    """Imports a vault, exports it, imports that: the same concepts and relationships, or an error."""
    from trivium.backends.memory.embedder import HashingEmbedder

    for line in gzip.decompress(corpus.read_bytes()).decode().splitlines():
        note = json.loads(line)
        path = folder / "vault" / note["_id"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(note["text"].encode())
    first, database, _ = open_all(folder / "first", HashingEmbedder())
    began = time.process_time()
    brought = first.transfer.bring_in(read_folder(folder / "vault"))
    took = time.process_time() - began
    write_folder(folder / "out", first.transfer.hand_out())
    second, other, _ = open_all(folder / "second", HashingEmbedder())
    second.transfer.bring_in(read_folder(folder / "out"))
    assert whole(first) == whole(second)
    print(
        f"{brought.created} notes, {brought.relationships} relationships, {took:.1f} s CPU; out and in again: the same"
    )
    print(f"  links to nothing: {sorted({target for _, target in brought.unresolved})}")
    database.close()
    other.close()


def whole(concepts: Concepts) -> list[object]:
    drafts = concepts.transfer.hand_out()
    return sorted((d.concept_id, sorted(d.content.items()), sorted(map(repr, d.links))) for d in drafts)


if __name__ == "__main__":
    main()
