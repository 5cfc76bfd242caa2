"""What a chunk costs: disk by part, CPU by step; and what an entry costs on each server that is at hand. docs/sizing.md
multiplies these.

    uv run python benchmarks/unit_costs.py [--files 120] [--servers redis,chroma,neo4j,postgresql]

Real documentation, the real model. Figures per chunk leave out what an empty installation has. CPU is process time, one
thread.
"""

import argparse
import atexit
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from corpora import write_corpus
from trivium.app import App, open_app
from trivium.model.embedding import Vector, Vectors
from trivium.model.hits import SearchQuery
from trivium.ports.vectors import VectorIndex
from trivium.settings import Settings


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=120)
    parser.add_argument("--corpus", default="corpus_kubernetes_docs")
    parser.add_argument("--servers", default="redis,chroma,neo4j,postgresql")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        app = open_app(Settings(data=folder / "data", threads=1))
        before = sizes(app)
        write_corpus(options.corpus, folder / "docs", options.files)
        _, read = spent(lambda: app.documents.add([folder / "docs"]))
        _, embedded = spent(app.embedding.run)
        chunks, after = app.chunks.count(), sizes(app)
        tokens = sum(chunk.token_count for chunk in app.chunks.get(app.log.chunk_ids().tolist()))
        passages = sum(len(vectors) for _, vectors in stored_vectors(app))
        print(
            f"{options.files} files, {chunks} chunks,"
            f" {tokens / chunks:.0f} tokens and {passages / chunks:.2f} passages a chunk"
        )
        for part in after:
            print(f"  {part:10} {(after[part] - before.get(part, 0)) / chunks:10.0f} bytes a chunk")
        print(f"  reading, splitting, storing  {read / chunks * 1000:8.2f} ms CPU a chunk")
        print(f"  embedding                    {embedded / chunks * 1000:8.2f} ms CPU a chunk")
        queries = [chunk.text[:60] for chunk in app.chunks.get(app.log.chunk_ids()[:20].tolist())]
        _, searched = spent(lambda: [app.search.search(SearchQuery(query)) for query in queries])
        print(f"  a search, uncached           {searched / len(queries) * 1000:8.2f} ms CPU")
        for server in options.servers.split(","):
            if server:
                SERVERS[server](app, folder / server)
        app.close()


def sizes(app: App) -> dict[str, int]:
    with sqlite3.connect(app.data / "trivium.db") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    parts = {"store": "trivium.db*", "keywords": "keywords/**/*", "vectors": "vectors/**/*"}
    return {
        part: sum(path.stat().st_size for path in app.data.glob(pattern) if path.is_file())
        for part, pattern in parts.items()
    }


def spent(work: Callable[[], object]) -> tuple[object, float]:
    began = time.process_time()
    return work(), time.process_time() - began


def stored_vectors(app: App) -> list[tuple[int, Vectors]]:
    return list(app.log.vectors(app.log.chunk_ids().tolist(), app.embedder.model))


def started(name: str, folder: Path):  # type: ignore[no-untyped-def]
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contracts"))
    import importlib

    folder.mkdir()
    server = importlib.import_module(f"servers.{name}").start(folder)
    atexit.register(server.kill)  # whatever breaks
    return server


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def waited(index: VectorIndex, query: Vector) -> float:
    began = time.perf_counter()
    index.nearest(query, 200)
    return time.perf_counter() - began


def redis(app: App, folder: Path) -> None:
    from redis import Redis

    from trivium.backends.redis.connection import RedisConnection
    from trivium.backends.redis.limits import RedisLimitStore
    from trivium.backends.sqlite.limits import SqliteLimitStore
    from trivium.doors.mcp.rankings import BLOCKS, Block
    from trivium.ports.limits import Bucket

    server = started("redis", folder)
    connection = RedisConnection(server.url, b"k")
    with Redis.from_url(server.url) as client:
        used = client.info("memory")["used_memory"]
        stored = BLOCKS.encode(Block(app.search.search(SearchQuery("pod network", limit=50))))
        for number in range(500):
            client.set(connection.name("result", str(number)), stored, px=60_000)
        entry = (client.info("memory")["used_memory"] - used) / 500
        limits = RedisLimitStore(connection, SqliteLimitStore(app.database))
        used = client.info("memory")["used_memory"]
        buckets = [[Bucket(f"key:{n}", tier, 100, 3600.0) for tier in ("minute", "hour", "day")] for n in range(500)]
        began = time.perf_counter()
        for three in buckets:
            limits.take(three, 0.0)
        took = (time.perf_counter() - began) / 500
        caller = (client.info("memory")["used_memory"] - used) / 500
    print(
        f"Redis: {entry:.0f} bytes a cached ranking, {caller:.0f} bytes a caller's limits;"
        f" the limits of a call {took * 1000:.2f} ms"
    )
    server.kill()


def chroma(app: App, folder: Path) -> None:
    from trivium.backends.chroma import ChromaVectorIndex

    server = started("chroma", folder)
    index = ChromaVectorIndex(server.url, "unit-costs", app.embedder.model.dimension)
    rows = stored_vectors(app)
    empty = on_disk(folder)
    began = time.perf_counter()
    index.apply(rows, [], 1)
    took = time.perf_counter() - began
    passages = sum(len(vectors) for _, vectors in rows)
    here = app._current().vectors
    times, embedded = ([waited(one, vectors[0]) for _, vectors in rows[:30]] for one in (index, here))
    print(
        f"Chroma: {(on_disk(folder) - empty) / passages:.0f} bytes on disk a passage,"
        f" {passages / took:.0f} passages a second written; nearest 200: {np.median(times) * 1000:.1f} ms,"
        f" embedded {np.median(embedded) * 1000:.2f} ms"
    )
    server.kill()


def neo4j(_: App, folder: Path) -> None:
    from graph_server import random_graph
    from trivium.backends.neo4j.connection import Neo4jConnection
    from trivium.backends.neo4j.mirror import Neo4jMirror
    from trivium.backends.neo4j.schema import Neo4jSchema
    from trivium.backends.sqlite.graph_sources import code_copy

    server = started("neo4j", folder)
    connection = Neo4jConnection(server.url)
    schema = Neo4jSchema(connection, "unit-costs")
    schema.migrate()
    empty = on_disk(folder / "data" / "databases")
    graph = random_graph(2_000, 10_000)
    Neo4jMirror(connection, schema).write("code", code_copy("1", graph.symbols, graph.edges))
    connection.close()
    server.stop()  # writes everything down
    grown = on_disk(folder / "data" / "databases") - empty
    print(f"Neo4j: {grown / 2_000:.0f} bytes on disk a symbol with its 5 relationships")


def postgresql(app: App, folder: Path) -> None:
    server = started("postgresql", folder)
    other = open_app(Settings(data=folder / "node", store=server.url, threads=1))
    other.concepts, other.code  # noqa: B018 -- their tables belong to what is there when nothing is stored
    size = "SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind IN ('r', 'm') AND c.oid > 16384"
    with other.database.read() as db:
        empty = db.execute(size).fetchone()[0]
    other.import_lines(app.export_lines())
    other.catch_up()
    with other.database.read() as db:
        grown = db.execute(size).fetchone()[0] - empty
    print(f"PostgreSQL: {grown / app.chunks.count():.0f} bytes a chunk, tables and indexes")
    other.close()
    server.kill()


SERVERS: dict[str, Callable[[App, Path], None]] = {
    "redis": redis,
    "chroma": chroma,
    "neo4j": neo4j,
    "postgresql": postgresql,
}

if __name__ == "__main__":
    main()
