"""nDCG@10 on PostgreSQL beside the embedded store, on every retrieval set, with the same chunks and vectors.

    uv run python benchmarks/postgres_retrieval.py DATA [--keep DIR] [--sets scifact,mbpp] [--url URL]

Each set is ingested into the embedded store (or found in DIR, as benchmarks/retrieval.py leaves it), moved to
PostgreSQL and evaluated there by the same code. HNSW is made whatever the size of the set, or small ones would be
scanned. Bar: no mode of search differs by more than 0.5.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contracts"))

from servers.postgresql import own_schema, start

from retrieval import SETS, measured
from trivium.app import evaluation_index, open_app
from trivium.backends.postgres import vectors
from trivium.search.evaluate import EvalReport, OpenedIndex, Record, evaluate_retrieval
from trivium.settings import Settings

MODEL = "all-MiniLM-L6-v2"
BAR = 0.5


def on_postgresql(folder: Path, keep: Path, scratch: Path, url: str) -> EvalReport:
    there = Settings(data=scratch / folder.name, model=MODEL, store=own_schema(url))
    source, target = open_app(Settings(data=keep / f"{folder.name}-{MODEL}", model=MODEL)), open_app(there)
    try:
        source.move_to(target, lambda *_: None)
    finally:
        source.close()
        target.close()

    def open_index(records: Sequence[Record]) -> AbstractContextManager[OpenedIndex]:
        return evaluation_index(there, records)

    return evaluate_retrieval(folder, open_index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--url", default="", help="a running PostgreSQL; one is started otherwise")
    options = parser.parse_args()
    vectors.EXACT_ROWS = 100
    worst = 0.0
    print(f"{'':16s}{'':12s}{'bm25':>8s} {'vector':>8s} {'hybrid':>8s}")
    with tempfile.TemporaryDirectory() as throwaway:
        scratch = Path(throwaway)
        server = None if options.url else start(scratch)
        url = options.url or (server.url if server else "")
        keep = options.keep or scratch / "embedded"
        for name in options.sets.split(","):
            embedded = measured(options.data / name, MODEL, keep).results
            there = on_postgresql(options.data / name, keep, scratch, url).results
            modes = ("bm25", "vector", "hybrid")
            for place, results in (("embedded", embedded), ("postgresql", there)):
                figures = " ".join(f"{results[mode].ndcg_10:8.2f}" for mode in modes)
                print(f"{name:16s}{place:12s}{figures}", flush=True)
            worst = max(worst, *(abs(embedded[mode].ndcg_10 - there[mode].ndcg_10) for mode in modes))
        if server:
            server.stop()
    print(f"largest difference {worst:.2f} (bar {BAR})")


if __name__ == "__main__":
    main()
