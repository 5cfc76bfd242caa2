"""The whole hybrid search on PostgreSQL beside the embedded one, over the same chunks, in one run.

    uv run python benchmarks/postgres.py --texts DATA --cache FOLDER --size 100000

DATA and FOLDER as in benchmarks/search.py, whose embedded store is built there first and then moved to PostgreSQL (the
server that the tests start, or the one in --url). Questions are real and asked of both in turn, so that whatever else
the machine does weighs on both alike. Bar: hybrid on PostgreSQL ≤ 3 × embedded. CPU is this process's and the server's.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contracts"))

import numpy as np
import psycopg
from servers.postgresql import own_schema, start

from search import build
from trivium.app import App, open_app
from trivium.model.filters import Equals
from trivium.model.hits import SearchQuery
from trivium.settings import Settings
from vectors import queries_in


@contextmanager
def server(url: str, folder: Path) -> Iterator[str]:
    if url:
        yield url
        return
    running = start(folder, "shared_buffers=1GB", "max_wal_size=4GB")
    try:
        yield running.url
    finally:
        running.stop()


def moved(source: App, url: str, folder: Path) -> App:
    """Once; a database that holds the chunks already is used as it is."""
    target = open_app(Settings(data=folder, store=url))
    if target.chunks.count() != source.chunks.count():
        started = time.perf_counter()
        source.move_to(target, lambda *_: None)
        print(f"moved and verified in {time.perf_counter() - started:.0f} s")
    target.catch_up()
    return target


def server_cpu_ms(url: str) -> float:
    """Of the processes that serve us, as the system counts it."""
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'trivium'").fetchall()
    ticks = 0
    for (pid,) in rows:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return 10.0 * ticks


def compared(apps: dict[str, App], queries: list[SearchQuery], url: str) -> dict[str, tuple[float, float]]:
    """By name: wall and CPU milliseconds a search; a median, and a mean since the server's clock ticks coarsely."""
    for app in apps.values():
        for query in queries[:10]:
            app.search.search(query)
    walls: dict[str, list[float]] = {name: [] for name in apps}
    cpu = dict.fromkeys(apps, 0.0)
    before = server_cpu_ms(url)
    for query in queries:
        for name, app in apps.items():
            began, used = time.perf_counter(), time.process_time()
            app.search.search(query)
            walls[name].append(1000 * (time.perf_counter() - began))
            cpu[name] += 1000 * (time.process_time() - used)
    cpu["postgresql"] += server_cpu_ms(url) - before
    return {name: (statistics.median(walls[name]), cpu[name] / len(queries)) for name in apps}


def agreement(apps: dict[str, App], queries: list[SearchQuery]) -> tuple[float, float]:
    """Share of the first ten hits that both have, and of questions whose first ten are the same in order."""
    shared, same = [], []
    for query in queries:
        one, other = ([hit.chunk_id for hit in app.search.search(query).hits] for app in apps.values())
        shared.append(len(set(one) & set(other)) / max(1, len(one)))
        same.append(one == other)
    return float(np.mean(shared)), float(np.mean(same))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--embed", type=int, default=0)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--url", default="", help="a running PostgreSQL; one is started otherwise")
    options = parser.parse_args()
    folder = options.cache / f"store-{options.size}"
    if not (folder / "built").exists():
        build(options, folder)
        (folder / "built").touch()
    texts = list(queries_in(options.texts))[: options.queries]
    with tempfile.TemporaryDirectory() as scratch, server(options.url, Path(scratch)) as url:
        own = own_schema(url, f"bench_{options.size}")
        embedded = open_app(Settings(data=folder))
        apps = {"embedded": embedded, "postgresql": moved(embedded, own, options.cache / f"node-{options.size}")}
        print(f"{embedded.chunks.count():,} chunks, {len(texts)} questions asked of both in turn")
        for kind, queries in {
            "hybrid": [SearchQuery(text) for text in texts],
            "hybrid, 1 % filter": [SearchQuery(text, condition=Equals("file", "3000.md")) for text in texts],
            "words alone": [SearchQuery(text, mode="bm25") for text in texts],
        }.items():
            found = compared(apps, queries, url)
            (wall, cpu), (wall_there, cpu_there) = found["embedded"], found["postgresql"]
            print(
                f"{kind:20} embedded {wall:6.1f} ms, CPU {cpu:6.1f}; PostgreSQL {wall_there:6.1f} ms, CPU"
                f" {cpu_there:6.1f}: wall {wall_there / wall:.2f} ×, CPU {cpu_there / cpu:.2f} ×"
            )
        shared, same = agreement(apps, [SearchQuery(text) for text in texts])
        print(f"first ten hits: {100 * shared:.1f} % in common, {100 * same:.1f} % of questions the same in order")
        for app in apps.values():
            app.close()


if __name__ == "__main__":
    main()
