import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.unit.search.conftest import Library

from trivium.errors import InvalidInput
from trivium.search.evaluate import (
    OpenedIndex,
    Record,
    bootstrap,
    evaluate_retrieval,
    load_set,
    ndcg,
    recall,
    reciprocal_rank,
)

CORPUS = [
    {"_id": "a", "title": "Keys", "text": "rotate the key", "author": "Perlis", "language": "en"},
    {"_id": "b", "title": "", "text": "pay the invoice", "author": "Knuth", "language": "en"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in CORPUS)
    queries = [{"_id": "1", "text": "invoice"}, {"_id": "2", "text": "perlis"}, {"_id": "3", "text": "unjudged"}]
    (tmp_path / "queries.jsonl").write_text("\n".join(json.dumps(row) for row in queries))
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\tb\t2\n2\ta\t1\n3\tb\t0\n")
    return tmp_path


def test_a_set_is_read_with_its_telling_fields_and_its_judged_queries(folder: Path) -> None:
    data = load_set(folder)
    assert data.records[0] == Record("a", "Keys", "rotate the key", {"author": "Perlis"})
    assert data.records[0].full_text == "rotate the key\nPerlis"
    assert data.queries == {"1": "invoice", "2": "perlis"}


def test_ndcg_is_that_of_trec_eval() -> None:
    grades = {"x": 3.0, "y": 1.0, "z": 0.0}
    assert ndcg(["x", "y"], grades) == 1.0
    assert ndcg(["y", "z", "x"], grades) == pytest.approx((1 + 3 / 2) / (3 + 1 / 1.5849625))
    assert ndcg(["q"] * 10 + ["x"], grades) == 0.0


def test_recall_and_reciprocal_rank() -> None:
    grades = {"x": 1.0, "y": 2.0, "z": 0.0}
    assert recall(["z", "x"], grades) == 0.5
    assert reciprocal_rank(["z", "x"], grades) == 0.5
    assert reciprocal_rank(["z"], grades) == 0.0


def test_a_clear_gain_is_told_from_luck() -> None:
    clear = bootstrap(np.full(50, 0.1))
    assert (clear.gain, clear.p) == (pytest.approx(10.0), 0.0)
    luck = bootstrap(np.tile([0.1, -0.1], 25))
    assert luck.low < 0 < luck.high


def test_the_report_has_every_mode_in_percent(folder: Path, library: Library) -> None:
    @contextmanager
    def index(records: Sequence[Record]) -> Iterator[OpenedIndex]:
        library.add({i: record.full_text for i, record in enumerate(records, start=1)})
        yield OpenedIndex(library.search().search, {i: r.record_id for i, r in enumerate(records, start=1)})

    def open_index(records: Sequence[Record]) -> AbstractContextManager[OpenedIndex]:
        return index(records)

    report = evaluate_retrieval(folder, open_index)
    found = json.loads(json.dumps(report.as_json()))
    assert list(found["results"]) == ["bm25", "vector", "hybrid"]
    assert found["results"]["hybrid"]["ndcg@10"] == 100.0
    assert set(found["results"]["hybrid"]) == {"ndcg@10", "recall@100", "mrr@10", "cpu_ms"}
    assert set(found["comparisons"]) == {"hybrid - bm25", "hybrid - vector"}
    assert report.degraded is None


def test_without_a_model_the_keyword_figures_remain_and_the_reason_is_told(folder: Path, library: Library) -> None:
    @contextmanager
    def index(records: Sequence[Record]) -> Iterator[OpenedIndex]:
        library.add({i: record.full_text for i, record in enumerate(records, start=1)})
        library.embedder.are_there = False
        yield OpenedIndex(library.search().search, {i: r.record_id for i, r in enumerate(records, start=1)})

    report = evaluate_retrieval(folder, index)
    assert list(report.results) == ["bm25"]
    assert report.degraded == "no weights for hashing-64"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("queries.jsonl", "{", "line 1 is no JSON"),
        ("queries.jsonl", "[]", "line 1 needs _id and text"),
        ("qrels.tsv", "1\tb", "wants query, record and grade"),
        ("qrels.tsv", "1\tb\t0", "no query has a relevant record"),
    ],
)
def test_a_broken_set_is_named_with_its_line(folder: Path, name: str, content: str, message: str) -> None:
    (folder / name).write_text(content)
    with pytest.raises(InvalidInput, match=message):
        load_set(folder)


@pytest.mark.parametrize("name", ["corpus.jsonl.gz", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(InvalidInput, match=name.removesuffix(".gz")):
        load_set(folder)
