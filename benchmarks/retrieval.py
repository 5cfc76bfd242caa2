"""nDCG@10 of bm25, vector and hybrid search on every retrieval set, beside the bars it has to pass.

    python benchmarks/retrieval.py DATA [--model NAME] [--keep DIR] [--sets scifact,mbpp]

DATA holds the sets, one folder each. The product itself is measured: records are ingested, cut, indexed and searched as
any document (`trivium eval retrieval` does the same for one set). `--keep` leaves the indexes in DIR for the next run.
"""

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from trivium.app import evaluation_index
from trivium.search.evaluate import EvalReport, OpenedIndex, Record, evaluate_retrieval
from trivium.settings import Settings

SETS = ("scifact", "anthropic_docs", "cranfield", "cacm", "nl2bash", "mbpp", "cosqa_dev")
BARS = {
    "all-MiniLM-L6-v2": {
        "scifact": 72.0,
        "anthropic_docs": 79.0,
        "cranfield": 41.0,
        "cacm": 51.5,
        "nl2bash": 55.0,
        "mbpp": 75.0,
        "cosqa_dev": 59.0,
    },
    "granite-embedding-30m-english": {
        "scifact": 73.5,
        "anthropic_docs": 82.5,
        "cranfield": 43.5,
        "cacm": 53.0,
        "mbpp": 76.0,
    },
}
LOSS_ALLOWED = 1.0
MEAN_GAIN = 2.5


def measured(folder: Path, model: str, keep: Path) -> EvalReport:
    settings = Settings(data=keep / f"{folder.name}-{model}", model=model)

    def open_index(records: Sequence[Record]) -> AbstractContextManager[OpenedIndex]:
        return evaluation_index(settings, records)

    return evaluate_retrieval(folder, open_index)


def gain(report: EvalReport) -> float:
    found = {name: result.ndcg_10 for name, result in report.results.items()}
    return found["hybrid"] - max(found["bm25"], found["vector"])


def told(report: EvalReport, bar: float | None) -> str:
    found = report.results
    figures = " ".join(f"{found[mode].ndcg_10:8.2f}" for mode in ("bm25", "vector", "hybrid"))
    verdict = "" if bar is None else ("ok" if found["hybrid"].ndcg_10 >= bar else "MISSED")
    lower = "" if gain(report) >= -LOSS_ALLOWED else "  WORSE THAN A HALF"
    shown = "    -" if bar is None else f"{bar:5.1f}"
    return f"{report.name:16s}{figures}  {gain(report):+6.2f}   {shown} {verdict}{lower}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    bars = BARS.get(options.model, {})
    print(f"{options.model}\n{'':16s}{'bm25':>8s} {'vector':>8s} {'hybrid':>8s}  {'gain':>6s}     bar")
    reports = []
    with tempfile.TemporaryDirectory() as throwaway:
        for name in options.sets.split(","):
            reports.append(measured(options.data / name, options.model, options.keep or Path(throwaway)))
            print(told(reports[-1], bars.get(name)), flush=True)
    mean = sum(map(gain, reports)) / len(reports)
    print(f"mean gain over the better half {mean:+.2f} (bar {MEAN_GAIN:+.2f})")


if __name__ == "__main__":
    main()
