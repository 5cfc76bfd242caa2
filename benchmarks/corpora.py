"""Real text to measure with: the public sets, found beside the project or through TRIVIUM_BENCH_DATA."""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

DATA = Path(os.environ.get("TRIVIUM_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
RETRIEVAL_SETS = ("scifact", "anthropic_docs", "cranfield", "cacm", "nl2bash", "mbpp", "cosqa_dev")


def corpus_files(name: str) -> Iterator[tuple[str, str]]:
    """(path, text) of every file of a corpus."""
    with gzip.open(DATA / "corpora" / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["_id"], row["text"]


def write_corpus(name: str, folder: Path, limit: int | None = None) -> int:
    """Lays a corpus out as files, as a user would have it; answers how many."""
    number = 0
    for path, text in corpus_files(name):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        number += 1
        if number == limit:
            break
    return number


def retrieval_texts(name: str) -> Iterator[str]:
    with gzip.open(DATA / "retrieval" / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield f"{row.get('title', '')}\n{row['text']}".strip()


def queries(name: str) -> list[str]:
    with (DATA / "retrieval" / name / "queries.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]
