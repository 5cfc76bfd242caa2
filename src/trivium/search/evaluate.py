"""How good a search is on a labelled set: nDCG@10, Recall@100, MRR@10, CPU time, and whether a difference is luck.

A set is a folder with corpus.jsonl (or .jsonl.gz), queries.jsonl and qrels.tsv. What is measured is the product:
records are ingested as documents, cut into chunks like any other, and a record ranks where its best chunk ranks. This
file knows the format and the metrics; the caller hands in what builds the throw-away index.
"""

import gzip
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from trivium.errors import InvalidInput, ModelUnavailable
from trivium.model.hits import Ranking, SearchMode, SearchQuery

_RESAMPLES = 2000
_TIMED_QUERIES = 200
_DEPTH = 100  # records a ranking is followed to
_PAGE = 200  # chunks a page: several chunks of a record count once


@dataclass(frozen=True, slots=True)
class Record:
    """One document of a set. `fields` are its further text fields (author, keywords …), searchable like the text."""

    record_id: str
    title: str
    text: str
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def full_text(self) -> str:
        """Text and further fields as one: what is to be ingested under the title."""
        return "\n".join(part for part in (self.text, *self.fields.values()) if part)


@dataclass(frozen=True, slots=True)
class EvalSet:
    """`judged` has, by query, the grade of every judged record; only queries with a positive grade are kept."""

    name: str
    records: list[Record]
    queries: dict[str, str]
    judged: dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class OpenedIndex:
    """A searchable index of a set's records; `record_of` names the record a chunk belongs to."""

    search: Callable[[SearchQuery], Ranking]
    record_of: Mapping[int, str]


OpenIndex = Callable[[Sequence[Record]], AbstractContextManager[OpenedIndex]]


@dataclass(frozen=True, slots=True)
class Result:
    """In percent, CPU in milliseconds a query; `ndcgs` are the single queries', for comparison."""

    ndcg_10: float
    recall_100: float
    mrr_10: float
    cpu_ms: float
    ndcgs: npt.NDArray[np.float64]

    def as_json(self) -> dict[str, float]:
        values = {"ndcg@10": self.ndcg_10, "recall@100": self.recall_100, "mrr@10": self.mrr_10, "cpu_ms": self.cpu_ms}
        return {name: round(value, 3) for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The gain in nDCG@10 points with its 95 % interval; `p` is the share of resampled query sets without a gain."""

    gain: float
    low: float
    high: float
    p: float

    def as_json(self) -> dict[str, float]:
        return {"gain": round(self.gain, 3), "low": round(self.low, 3), "high": round(self.high, 3), "p": self.p}


@dataclass(frozen=True, slots=True)
class EvalReport:
    name: str
    records: int
    queries: int
    results: dict[str, Result]
    comparisons: dict[str, Comparison]
    degraded: str | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "set": self.name,
            "records": self.records,
            "queries": self.queries,
            "results": {name: result.as_json() for name, result in self.results.items()},
            "comparisons": {name: comparison.as_json() for name, comparison in self.comparisons.items()},
            "degraded": self.degraded,
        }


def evaluate_retrieval(folder: Path, open_index: OpenIndex, *, rerank: bool = False) -> EvalReport:
    """Every mode on every query; `rerank` adds hybrid+rerank, for a search that has a reranker."""
    data = load_set(folder)
    results: dict[str, Result] = {}
    degraded = None
    with open_index(data.records) as index:
        for name, asked in _modes(rerank):
            try:
                results[name] = _measured(data, index, asked)
            except ModelUnavailable as error:
                degraded = error.message
    return EvalReport(data.name, len(data.records), len(data.queries), results, _compared(results), degraded)


def _modes(rerank: bool) -> Iterator[tuple[str, SearchQuery]]:
    modes: tuple[SearchMode, ...] = ("bm25", "vector", "hybrid")
    for mode in modes:
        yield mode, SearchQuery("", limit=_PAGE, mode=mode)
    if rerank:
        yield "hybrid+rerank", SearchQuery("", limit=_PAGE, rerank=True)


def _measured(data: EvalSet, index: OpenedIndex, asked: SearchQuery) -> Result:
    rankings = {key: _records(index, text, asked) for key, text in data.queries.items()}
    judged = [(rankings[key], data.judged[key]) for key in data.queries]
    ndcgs = np.array([ndcg(ranking, grades) for ranking, grades in judged])
    return Result(
        100 * float(ndcgs.mean()),
        100 * float(np.mean([recall(ranking, grades) for ranking, grades in judged])),
        100 * float(np.mean([reciprocal_rank(ranking, grades) for ranking, grades in judged])),
        _cpu_ms(index, list(data.queries.values())[:_TIMED_QUERIES], asked),
        ndcgs,
    )


def _records(index: OpenedIndex, text: str, asked: SearchQuery) -> list[str]:
    """The first records of the ranking, each where its best chunk is."""
    found: dict[str, None] = {}
    offset = 0
    while True:
        ranking = index.search(_asking(asked, text, offset, _PAGE))
        if ranking.degraded and asked.mode == "hybrid":
            raise ModelUnavailable(ranking.degraded)
        found.update((index.record_of[hit.chunk_id], None) for hit in ranking.hits)
        offset += _PAGE
        if len(found) >= _DEPTH or offset >= ranking.total:
            return list(found)[:_DEPTH]


def _cpu_ms(index: OpenedIndex, texts: Sequence[str], asked: SearchQuery) -> float:
    started = time.process_time()
    for text in texts:
        index.search(_asking(asked, text, 0, 10))
    return 1000 * (time.process_time() - started) / max(1, len(texts))


def _asking(asked: SearchQuery, text: str, offset: int, limit: int) -> SearchQuery:
    return SearchQuery(text, limit=limit, offset=offset, mode=asked.mode, rerank=asked.rerank)


def ndcg(ranking: Sequence[str], grades: Mapping[str, float], depth: int = 10) -> float:
    """As trec_eval computes it: the gain of a record is its grade."""
    gained = sum(max(0.0, grades.get(record, 0.0)) / math.log2(i + 2) for i, record in enumerate(ranking[:depth]))
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    return gained / sum(grade / math.log2(i + 2) for i, grade in enumerate(best))


def recall(ranking: Sequence[str], grades: Mapping[str, float], depth: int = _DEPTH) -> float:
    relevant = {record for record, grade in grades.items() if grade > 0}
    return len(relevant & set(ranking[:depth])) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, float], depth: int = 10) -> float:
    return next((1 / (i + 1) for i, record in enumerate(ranking[:depth]) if grades.get(record, 0) > 0), 0.0)


def _compared(results: Mapping[str, Result]) -> dict[str, Comparison]:
    if "hybrid" not in results:
        return {}
    pairs = [("hybrid", "bm25"), ("hybrid", "vector"), ("hybrid+rerank", "hybrid")]
    return {
        f"{one} - {other}": bootstrap(results[one].ndcgs - results[other].ndcgs)
        for one, other in pairs
        if one in results and other in results
    }


def bootstrap(differences: npt.NDArray[np.float64]) -> Comparison:
    """Paired: the queries are drawn again with replacement, always the same way."""
    drawn = np.random.default_rng(0).integers(0, differences.size, (_RESAMPLES, differences.size))
    means = 100 * differences[drawn].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Comparison(100 * float(differences.mean()), float(low), float(high), float((means <= 0).mean()))


def load_set(folder: Path) -> EvalSet:
    rows = list(_rows(_corpus_file(folder)))
    telling = _telling_fields(rows)
    records = [_record(row, telling) for row in rows]
    queries = {str(row["_id"]): str(row["text"]) for row in _rows(folder / "queries.jsonl")}
    judged = {
        key: grades
        for key, grades in _judgements(folder / "qrels.tsv").items()
        if key in queries and any(_positive(grades))
    }
    if not judged:
        raise InvalidInput(f"{folder}: no query has a relevant record in qrels.tsv", field="DIR")
    return EvalSet(folder.name, records, {key: text for key, text in queries.items() if key in judged}, judged)


def _positive(grades: Mapping[str, float]) -> Iterator[bool]:
    return (grade > 0 for grade in grades.values())


def _corpus_file(folder: Path) -> Path:
    for name in ("corpus.jsonl.gz", "corpus.jsonl"):
        if (folder / name).is_file():
            return folder / name
    raise InvalidInput(
        f"{folder} has no corpus.jsonl", field="DIR", allowed=["corpus.jsonl[.gz]", "queries.jsonl", "qrels.tsv"]
    )


def _telling_fields(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The further fields that tell records apart: a language all records share says nothing about any of them."""
    names = {key: None for row in rows for key in row if key not in ("_id", "title", "text")}
    return [name for name in names if len({str(row.get(name)) for row in rows}) > 1]


def _record(row: Mapping[str, object], telling: Sequence[str]) -> Record:
    further = {name: value for name in telling if isinstance(value := row.get(name), str) and value}
    return Record(str(row["_id"]), str(row.get("title") or ""), str(row["text"]), further)


def _rows(path: Path) -> Iterator[Mapping[str, object]]:
    if not path.is_file():
        raise InvalidInput(f"{path.parent} has no {path.name}", field="DIR")
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _row(path, number, line)


def _row(path: Path, number: int, line: str) -> Mapping[str, object]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"{path.name}, line {number} is no JSON: {error}", field="DIR") from error
    if not isinstance(row, dict) or not {"_id", "text"} <= row.keys():
        raise InvalidInput(
            f"{path.name}, line {number} needs _id and text", field="DIR", allowed=["_id", "title", "text"]
        )
    return row


def _judgements(path: Path) -> dict[str, dict[str, float]]:
    """Rows of query, record, grade; the first line may be a header."""
    if not path.is_file():
        raise InvalidInput(f"{path.parent} has no {path.name}", field="DIR")
    judged: dict[str, dict[str, float]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        parts = line.split("\t")
        if not line.strip() or (number == 1 and parts[-1].strip() == "score"):
            continue
        try:
            query, record, grade = parts
            judged.setdefault(query, {})[record] = float(grade)
        except ValueError as error:
            raise InvalidInput(f"{path.name}, line {number}: wants query, record and grade", field="DIR") from error
    return judged
