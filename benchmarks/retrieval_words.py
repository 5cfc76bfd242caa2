"""What each choice of the keyword side is worth: nDCG@10 of BM25 alone, one choice changed at a time.

    python benchmarks/retrieval_words.py DATA [--sets scifact,mbpp]

BM25 is computed here in plain Python (k1 1.2, b 0.75 as in tantivy) over whole records, so that analysis and fields can
be varied; the first row is what the index does.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tantivy

from retrieval import SETS
from trivium.backends.tantivy.words import Analyzer
from trivium.search.evaluate import EvalSet, load_set, ndcg

K1, B = 1.2, 0.75
HEADER_WEIGHT = 0.35
Terms = Callable[[str], list[str]]
Scores = npt.NDArray[np.float64]


class Bm25:
    def __init__(self, texts: Sequence[list[str]]) -> None:
        self._count = len(texts)
        lengths = np.array([len(terms) for terms in texts], float)
        self._norms = K1 * (1 - B + B * lengths / max(lengths.mean(), 1e-9))
        postings: dict[str, list[tuple[int, int]]] = {}
        for i, terms in enumerate(texts):
            for term, times in Counter(terms).items():
                postings.setdefault(term, []).append((i, times))
        self._postings = {term: np.array(rows) for term, rows in postings.items()}

    def scores(self, terms: list[str]) -> Scores:
        total = np.zeros(self._count)
        for term in dict.fromkeys(terms):
            if (rows := self._postings.get(term)) is not None:
                at, times = rows[:, 0], rows[:, 1].astype(float)
                idf = math.log(1 + (self._count - at.size + 0.5) / (at.size + 0.5))
                total[at] += idf * times * (K1 + 1) / (times + self._norms[at])
        return total


class PartsOnly(Analyzer):
    """Identifiers are split but not kept whole."""

    def _analysed(self, token: str) -> Iterator[str]:
        terms = list(super()._analysed(token))
        yield from terms[:-1] if len(terms) > 1 else terms


class WholeOnly(Analyzer):
    """Identifiers are kept whole and not split."""

    def _analysed(self, token: str) -> Iterator[str]:
        yield from list(super()._analysed(token))[-1:]


def quality(data: EvalSet, index_terms: Terms, query_terms: Terms, header_weight: float) -> float:
    whole = Bm25([index_terms(f"{record.title}\n{record.full_text}") for record in data.records])
    header = Bm25([index_terms(record.title) for record in data.records])
    names = [record.record_id for record in data.records]
    found = []
    for key, text in data.queries.items():
        scores = whole.scores(query_terms(text)) + header_weight * header.scores(query_terms(text))
        best = [i for i in np.argsort(-scores, kind="stable")[:10] if scores[i] > 0]
        found.append(ndcg([names[i] for i in best], data.judged[key]))
    return 100 * float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    stemmer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer("english")).build()

    def stem(word: str) -> str:
        return next(iter(stemmer.analyze(word)), word)

    ours, unstemmed, parts, wholes = Analyzer(stem), Analyzer(str), PartsOnly(stem), WholeOnly(stem)
    choices: list[tuple[str, Terms, Terms, float]] = [
        ("as it is", ours.terms, ours.query_terms, HEADER_WEIGHT),
        ("no stemming", unstemmed.terms, unstemmed.query_terms, HEADER_WEIGHT),
        ("stopwords asked for", ours.terms, ours.terms, HEADER_WEIGHT),
        ("identifiers only split", parts.terms, parts.query_terms, HEADER_WEIGHT),
        ("identifiers only whole", wholes.terms, wholes.query_terms, HEADER_WEIGHT),
        *((f"header weight {weight}", ours.terms, ours.query_terms, weight) for weight in (0.0, 0.2, 0.5, 0.7)),
    ]
    sets = [load_set(options.data / name) for name in options.sets.split(",")]
    print(f"{'':24s}" + " ".join(f"{data.name[:8]:>8s}" for data in sets) + "     mean")
    for name, index_terms, query_terms, weight in choices:
        row = [quality(data, index_terms, query_terms, weight) for data in sets]
        print(f"{name:24s}" + " ".join(f"{value:8.2f}" for value in row) + f" {np.mean(row):8.2f}", flush=True)


if __name__ == "__main__":
    main()
