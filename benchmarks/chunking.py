"""How chunk size, passage size and the heading path in front of a passage change what is found.

    python benchmarks/chunking.py DATA [--model all-MiniLM-L6-v2] [--cache DIR]
    python benchmarks/chunking.py DATA --pages CORPUS      pages of a vault found by their own description
    python benchmarks/chunking.py DATA --passages scifact  passage sizes on a set of short documents

DATA holds `chroma_chunking` (questions with the exact excerpts that answer them) and `anthropic_docs`. Per setting:
recall, precision and IoU of the characters in the five best chunks, as in Chroma's report, and on anthropic_docs the
nDCG@10 of documents ranked by their best chunk. Vector search alone, exact. The last rows cut blindly every N tokens
and embed one vector a chunk, so that the encoder loses what it does not read: the usual way, for comparison.
"""

import argparse
import gzip
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trivium.backends.onnx import OnnxEmbedder, open_model
from trivium.backends.quicktok import QuicktokCounter
from trivium.documents.cuts import Span, stretches, word_ends
from trivium.documents.passages import passages_of
from trivium.documents.read import read_document
from trivium.documents.read.front_matter import front_matter
from trivium.documents.split import MERGED_SHARE, split
from trivium.model.chunk import Piece

RETRIEVED = 5
Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    limit: int
    passage: int
    header: bool
    blind: bool = False
    merged: float = MERGED_SHARE

    def __str__(self) -> str:
        kind = (
            "blind cut, one vector"
            if self.blind
            else f"passages {self.passage}, header {'yes' if self.header else 'no'}"
        )
        return f"chunks {self.limit}, {kind}"


@dataclass(frozen=True)
class Index:
    documents: list[str]  # per chunk
    pieces: list[Piece]
    owners: npt.NDArray[np.int64]  # per passage: its chunk
    vectors: npt.NDArray[np.float32]

    def chunk_scores(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        best = np.full(len(self.pieces), -1.0, dtype=np.float32)
        np.maximum.at(best, self.owners, self.vectors @ query)
        return best


class Bench:
    def __init__(self, embedder: OnnxEmbedder) -> None:
        self._embedder = embedder
        self._tokens = QuicktokCounter()
        self._seen: dict[str, npt.NDArray[np.float32]] = {}

    def index(self, documents: Sequence[Row], setting: Setting) -> Index:
        names, pieces = [], []
        for row in documents:
            cut = self._blind(row, setting.limit) if setting.blind else self._structured(row, setting)
            pieces += cut
            names += [row["_id"]] * len(cut)
        rows = self._passages(pieces, setting)
        owners = np.repeat(np.arange(len(pieces)), [len(row) for row in rows])
        return Index(names, pieces, owners, self._embedded([text for row in rows for text in row]))

    def whole(self, documents: Sequence[Row], passage: int) -> Index:
        """One chunk a document, under its title."""
        chunks = [(str(row.get("title", "")), str(row["text"])) for row in documents]
        cut = passages_of(chunks, self._embedder.count_tokens, self._embedder.model.max_tokens, passage)
        pieces = [Piece(text, 0, len(text), title, 0) for title, text in chunks]
        owners = np.repeat(np.arange(len(pieces)), [len(row) for row in cut])
        return Index([row["_id"] for row in documents], pieces, owners, self._embedded([t for row in cut for t in row]))

    def queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._embedder.embed_queries(texts)

    def _passages(self, pieces: Sequence[Piece], setting: Setting) -> list[list[str]]:
        if setting.blind:
            return [[piece.text] for piece in pieces]
        chunks = [(piece.context_header if setting.header else "", piece.text) for piece in pieces]
        return passages_of(chunks, self._embedder.count_tokens, self._embedder.model.max_tokens, setting.passage)

    def _structured(self, row: Row, setting: Setting) -> list[Piece]:
        document = read_document(Path(row["name"]), row["text"].encode())
        titled = replace(document, title=row["title"]) if row.get("title") else document
        return split(titled, self._tokens.count, setting.limit, setting.merged)

    def _blind(self, row: Row, limit: int) -> list[Piece]:
        text = row["text"]
        words = stretches([Span(text, 0, len(text), (word_ends,), 50)], self._tokens.count)[0]
        return [Piece(text[a:b], a, b, "", limit) for a, b in _runs(words, limit)]

    def _embedded(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        new = sorted({text for text in texts if text not in self._seen}, key=len)
        if new:
            self._seen.update(zip(new, self._embedder.embed_passages(new), strict=True))
        return np.stack([self._seen[text] for text in texts])


def _runs(words: Sequence[Any], limit: int) -> Iterator[tuple[int, int]]:
    start, size = 0, 0
    for i, word in enumerate(words):
        if size and size + word.tokens > limit:
            yield words[start].start, words[i - 1].end
            start, size = i, 0
        size += word.tokens
    if words:
        yield words[start].start, words[-1].end


def excerpts(index: Index, queries: Sequence[Row], vectors: npt.NDArray[np.float32]) -> dict[str, float]:
    """Character-wise recall, precision and IoU of the retrieved chunks, averaged over questions."""
    found = []
    for query, vector in zip(queries, vectors, strict=True):
        best = np.argsort(-index.chunk_scores(vector), kind="stable")[:RETRIEVED]
        spans = [(index.pieces[i].start, index.pieces[i].end) for i in best if index.documents[i] == query["document"]]
        shared = sum(_overlap(r["start"], r["end"], spans) for r in query["references"])
        wanted = sum(r["end"] - r["start"] for r in query["references"])
        retrieved = sum(index.pieces[i].end - index.pieces[i].start for i in best)
        found.append((shared / wanted, shared / retrieved, shared / (retrieved + wanted - shared)))
    recall, precision, iou = np.mean(found, axis=0)
    return {"recall": recall, "precision": precision, "iou": iou}


def _overlap(start: int, end: int, spans: Sequence[tuple[int, int]]) -> int:
    return sum(max(0, min(end, b) - max(start, a)) for a, b in spans)  # chunks do not overlap one another


def ndcg(
    index: Index, vectors: npt.NDArray[np.float32], queries: Sequence[Row], relevant: dict[str, dict[str, int]]
) -> float:
    names = sorted(set(index.documents))
    position = {name: i for i, name in enumerate(names)}
    owner = np.array([position[name] for name in index.documents])
    gains = []
    for query, vector in zip(queries, vectors, strict=True):
        best = np.full(len(names), -1.0, dtype=np.float32)
        np.maximum.at(best, owner, index.chunk_scores(vector))
        wanted = relevant[query["_id"]]
        ranked = [wanted.get(names[i], 0) for i in np.argsort(-best, kind="stable")[:10]]
        ideal = sorted(wanted.values(), reverse=True)[:10]
        gains.append(_dcg(ranked) / _dcg(ideal))
    return float(np.mean(gains))


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


def rows(path: Path) -> list[Row]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def relevance(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            found.setdefault(query, {})[document] = int(grade)
    return found


SETTINGS = (
    Setting(500, 128, header=True),  # what is built in
    Setting(500, 128, header=False),
    Setting(500, 256, header=True),
    Setting(500, 256, header=False),
    Setting(500, 64, header=True),
    Setting(300, 128, header=True),
    Setting(200, 128, header=True),
    Setting(500, 256, header=False, blind=True),
    Setting(250, 256, header=False, blind=True),
)


PAGE_SETTINGS = (
    Setting(500, 128, header=True),
    Setting(500, 128, header=False),
    Setting(500, 256, header=True),
    Setting(500, 256, header=True, merged=0.0),
    Setting(500, 256, header=True, merged=0.6),
)


def measure_chunks(bench: Bench, data: Path, chosen: Sequence[Setting]) -> None:
    excerpt_set, document_set = data / "chroma_chunking", data / "anthropic_docs"
    long = [{**row, "name": f"{row['_id']}.txt"} for row in rows(excerpt_set / "documents.jsonl.gz")]
    pages = [{**row, "name": "section.md"} for row in rows(document_set / "corpus.jsonl.gz")]
    questions, searches = rows(excerpt_set / "queries.jsonl"), rows(document_set / "queries.jsonl")
    wanted = relevance(document_set / "qrels.tsv")
    searches = [query for query in searches if query["_id"] in wanted]
    question_vectors, search_vectors = (bench.queries([q["text"] for q in some]) for some in (questions, searches))
    print(f"{'setting':<48} chunks passages  recall precision    IoU  anthropic nDCG@10   CPU s")
    for setting in chosen:
        started = time.process_time()
        index = bench.index(long, setting)
        found = excerpts(index, questions, question_vectors)
        score = ndcg(bench.index(pages, setting), search_vectors, searches, wanted)
        sizes = f"{len(index.pieces):6} {len(index.owners):8}"
        scores = f"{found['recall']:7.1%} {found['precision']:9.1%} {found['iou']:6.1%} {score:18.1%}"
        print(f"{setting!s:<48} {sizes} {scores} {time.process_time() - started:7.0f}", flush=True)


def measure_pages(bench: Bench, corpus: Path, chosen: Sequence[Setting]) -> None:
    """The `description` in a page's front matter, which is no part of its text, has to find the page."""
    # A page goes by its file's name, as it does when it is added; the set's own titles are whatever heading came first.
    pages = [{**row, "name": row["_id"], "title": ""} for row in rows(corpus / "corpus.jsonl.gz")]
    described = {row["_id"]: front_matter(row["text"]).metadata.get("description") for row in pages}
    queries = [
        {"_id": key, "text": text} for key, text in described.items() if isinstance(text, str) and len(text) > 20
    ]
    vectors = bench.queries([query["text"] for query in queries])
    wanted = {query["_id"]: {query["_id"]: 1} for query in queries}
    print(f"{len(pages)} pages, {len(queries)} descriptions\n{'setting':<48} merged  chunks passages  nDCG@10")
    for setting in chosen:
        index = bench.index(pages, setting)
        score = ndcg(index, vectors, queries, wanted)
        print(
            f"{setting!s:<48} {setting.merged:6} {len(index.pieces):7} {len(index.owners):8} {score:8.1%}", flush=True
        )


def measure_passages(bench: Bench, folder: Path, sample: int) -> None:
    """Short documents, each one chunk: does cutting them finer than the encoder needs do harm?"""
    wanted = relevance(folder / "qrels.tsv")
    queries = [query for query in rows(folder / "queries.jsonl") if query["_id"] in wanted]
    relevant = {name for names in wanted.values() for name in names}
    corpus = rows(folder / "corpus.jsonl.gz")
    random.Random(1).shuffle(corpus)
    others = [row for row in corpus if row["_id"] not in relevant][:sample]
    documents = [row for row in corpus if row["_id"] in relevant] + others
    vectors = bench.queries([query["text"] for query in queries])
    print(f"{folder.name}: {len(documents)} documents, {len(queries)} queries\npassage size  passages  nDCG@10")
    for size in (256, 128, 64):
        index = bench.whole(documents, size)
        print(f"{size:12} {len(index.owners):9} {ndcg(index, vectors, queries, wanted):8.1%}", flush=True)


def _chosen(all_settings: Sequence[Setting], only: Sequence[int] | None) -> Sequence[Setting]:
    return all_settings if only is None else [all_settings[i] for i in only]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "trivium")
    parser.add_argument("--only", type=int, nargs="+", help="rows to measure, counted from 0 (each takes minutes)")
    parser.add_argument("--pages", type=Path, help="folder with a corpus.jsonl.gz of Markdown pages")
    parser.add_argument("--passages", help="a set in DATA")
    parser.add_argument("--sample", type=int, default=500, help="documents beside the relevant ones, for --passages")
    args = parser.parse_args()
    bench = Bench(open_model(args.model, cache_dir=args.cache))
    if args.pages:
        measure_pages(bench, args.pages, _chosen(PAGE_SETTINGS, args.only))
    elif args.passages:
        measure_passages(bench, args.data / args.passages, args.sample)
    else:
        measure_chunks(bench, args.data, _chosen(SETTINGS, args.only))


if __name__ == "__main__":
    main()
