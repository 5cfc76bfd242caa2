"""The whole hybrid search, from the question to the ranked chunks, beside embedding the question alone.

    uv run python benchmarks/search.py --texts DATA --cache FOLDER --size 100000

DATA and FOLDER as in benchmarks/vectors.py: real texts, real vectors as far as they were embedded. The store is built
once in FOLDER and kept. CPU time is the process's own, median over real questions. Bars: ≤ 2.5 × embedding the question
at 100 000 chunks, ≤ 5 × at 1 000 000; resident memory ≤ 1 GB.
"""

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from trivium.app import open_app
from trivium.model.chunk import Piece
from trivium.model.hits import SearchQuery
from trivium.ports.documents import DocumentDraft
from trivium.settings import Settings
from vectors import collected, memory_mb, queries_in, shuffled_passages

PER_DOCUMENT = 1_000
QUERIES = 200


def build(options: argparse.Namespace, folder: Path) -> None:
    """Chunks with ready vectors, straight through the store's ports: what is measured is the search, not ingestion."""
    vectors = collected(options)
    texts = shuffled_passages(options.texts)
    app = open_app(Settings(data=folder))
    model = app.embedder.model
    for start in range(0, options.size, PER_DOCUMENT):
        rows = range(start, min(start + PER_DOCUMENT, options.size))
        pieces = [Piece(f"{texts[i % len(texts)]} ({i})", 0, 1, "", 20) for i in rows]
        app.store.save([DocumentDraft("documents", "bench", f"{start}.md", None, "", None, "h", pieces)])
        waiting = app.queue.take(model, PER_DOCUMENT)
        hashes = [hashlib.blake2b(item.text.encode(), digest_size=16).digest() for item in waiting]
        fresh = {digest: vectors[i].astype(np.float32) for digest, i in zip(hashes, rows, strict=True)}
        app.queue.store(model, fresh, [(item, [digest]) for item, digest in zip(waiting, hashes, strict=True)])
    app.catch_up()
    app.close()


def measure(folder: Path, queries: list[str]) -> dict[str, float]:
    app = open_app(Settings(data=folder))
    for text in queries[:5]:
        app.search.search(SearchQuery(text))
    whole = [cpu_ms(lambda text=text: app.search.search(SearchQuery(text))) for text in queries]
    embed = [cpu_ms(lambda text=text: app.embedder.embed_queries([text])) for text in queries]
    words = [cpu_ms(lambda text=text: app.search.search(SearchQuery(text, mode="bm25"))) for text in queries]
    figures = {
        "chunks": float(app.chunks.count()),
        "search_ms": statistics.median(whole),
        "embed_ms": statistics.median(embed),
        "bm25_ms": statistics.median(words),
    }
    return figures | memory_mb()


def cpu_ms(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return 1000 * (time.process_time() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--embed", type=int, default=0)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.cache / f"store-{options.size}"
    if options.measure:
        print(json.dumps(measure(folder, list(queries_in(options.texts))[:QUERIES])))
        return
    if not (folder / "built").exists():
        build(options, folder)
        (folder / "built").touch()
    own = [sys.executable, *sys.argv, "--measure"]
    figures = json.loads(subprocess.run(own, check=True, capture_output=True, text=True).stdout)
    ratio = figures["search_ms"] / figures["embed_ms"]
    print(f"{figures['chunks']:,.0f} chunks, CPU medians over {QUERIES} questions")
    print(f"embedding the question {figures['embed_ms']:6.2f} ms")
    print(f"words alone            {figures['bm25_ms']:6.2f} ms")
    print(f"whole hybrid search    {figures['search_ms']:6.2f} ms = {ratio:.2f} × embedding it")
    print(f"resident {figures['resident_mb']:.0f} MB, peak {figures['peak_mb']:.0f} MB")


if __name__ == "__main__":
    main()
