"""What a whole hybrid search costs beside embedding its query alone, in CPU time, at a given number of chunks.

    python benchmarks/retrieval_cost.py DATA [--chunks 100000] [--cache MODELS]

DATA holds the retrieval sets; their texts, cut into stretches, are repeated until there are enough, and their queries
are asked. Vectors are drawn around a thousand centres (what is timed does not depend on what they mean). Parts are
timed in the same run, one thread each.
"""

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from trivium.backends.bits import BitsVectorIndex
from trivium.backends.onnx import open_model
from trivium.backends.tantivy import TantivyKeywordIndex
from trivium.model.chunk import Chunk
from trivium.model.embedding import Ids, Vectors
from trivium.model.filters import Filter
from trivium.model.hits import SearchQuery
from trivium.ports.keywords import KeywordRow
from trivium.search.hybrid import DEPTH, HybridSearch

WORDS_A_CHUNK = 150
BATCH = 20_000


class CountedChunks:
    """Only the number of chunks matters here: nothing reads a text."""

    def __init__(self, count: int) -> None:
        self._count = count

    def get(self, _chunk_ids: Sequence[int]) -> list[Chunk]:
        return []

    def select(self, _condition: Filter) -> Ids:
        return np.arange(1, self._count + 1)

    def count(self) -> int:
        return self._count

    def generation(self) -> int:
        return 1


def texts(data: Path) -> list[str]:
    found = []
    for corpus in sorted(data.glob("*/corpus.jsonl.gz")):
        with gzip.open(corpus, "rt", encoding="utf-8") as lines:
            words = [word for line in lines for word in json.loads(line)["text"].split()]
        found += [" ".join(words[i : i + WORDS_A_CHUNK]) for i in range(0, len(words), WORDS_A_CHUNK)]
    return found


def queries(data: Path, count: int) -> list[str]:
    rows = [json.loads(line) for path in sorted(data.glob("*/queries.jsonl")) for line in path.open(encoding="utf-8")]
    chosen = np.random.default_rng(1).choice(len(rows), count, replace=False)
    return [rows[i]["text"] for i in chosen]


def rows(pieces: Sequence[str], first: int, end: int) -> Iterator[KeywordRow]:
    """Every repetition of the texts leaves out other words, so that no two chunks are the same."""
    for number in range(first, end):
        turn, at = divmod(number, len(pieces))
        words = pieces[at].split()
        yield KeywordRow(number + 1, "", " ".join(word for i, word in enumerate(words) if not turn or (i + turn) % 7))


def vectors(count: int, seed: int) -> Vectors:
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((1000, 384), np.float32)
    drawn = centres[random.integers(0, 1000, count)] + 1.2 * random.standard_normal((count, 384), np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def cpu_ms(call: Callable[[str], object], asked: Sequence[str]) -> float:
    started = time.process_time()
    for text in asked:
        call(text)
    return 1000 * (time.process_time() - started) / len(asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "trivium" / "models")
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    options = parser.parse_args()
    embedder = open_model(options.model, cache_dir=options.cache)
    asked = queries(options.data, options.queries)
    pieces = texts(options.data)
    with tempfile.TemporaryDirectory() as folder:
        keywords = TantivyKeywordIndex(Path(folder) / "keywords")
        index = BitsVectorIndex(Path(folder) / "vectors", 384)
        for first in range(0, options.chunks, BATCH):
            end = min(first + BATCH, options.chunks)
            keywords.apply(rows(pieces, first, end), (), end)
            drawn = vectors(end - first, first + 1)
            index.apply(((first + i + 1, row[None]) for i, row in enumerate(drawn)), (), end)
        search = HybridSearch(index, keywords, CountedChunks(options.chunks), embedder)
        probes = {text: embedder.embed_queries([text])[0] for text in asked}
        for text in asked[:20]:
            search.search(SearchQuery(text))
        alone = cpu_ms(lambda text: embedder.embed_queries([text]), asked)
        parts = {
            "embed the query": alone,
            f"keywords, best {DEPTH}": cpu_ms(lambda text: keywords.match(text, DEPTH), asked),
            f"vectors, best {DEPTH}": cpu_ms(lambda text: index.nearest(probes[text], DEPTH), asked),
            "whole hybrid search": cpu_ms(lambda text: search.search(SearchQuery(text)), asked),
        }
    print(f"{options.chunks} chunks, {len(asked)} queries, {options.model}")
    for name, spent in parts.items():
        print(f"{name:24s} {spent:7.2f} ms CPU  {spent / alone:5.2f} x embedding")


if __name__ == "__main__":
    main()
