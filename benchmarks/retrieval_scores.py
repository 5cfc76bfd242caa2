"""Fits the scores: how likely a search is answered, from how its best hit looks. Writes the curve for docs/scores.md.

    python benchmarks/retrieval_scores.py DATA --keep DIR [--models a,b] [--sets scifact,mbpp] [--svg docs/scores.svg]

Answered means: a relevant record is on the first page. Half of the questions are foreign (they belong to another set,
so nothing here answers them). Every set counts the same. Prints the fitted constants, what leaving a set out does to
them, and a table of promised against actual shares. DIR holds the indexes of benchmarks/retrieval.py (or will).
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from retrieval import SETS
from trivium.app import evaluation_index
from trivium.model.hits import MODES, SearchMode, SearchQuery
from trivium.search.evaluate import EvalSet, OpenedIndex, load_set
from trivium.search.evidence import PER_NAT
from trivium.settings import Settings

FOREIGN_A_SET = 40
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Best hits: rows of (1, cosine, share), whether the search was answered, and what each counts."""

    name: str
    features: Array
    answered: Array
    weights: Array


def best_hits(index: OpenedIndex, asked: dict[str, str], data: EvalSet, mode: SearchMode, name: str) -> Sample:
    rows, answered = [], []
    for key, text in asked.items():
        hits = index.search(SearchQuery(text, mode=mode)).hits
        if not hits:
            continue
        cosine = 2 * (hits[0].similarity_score or 0.5) - 1
        rows.append((1.0, cosine, hits[0].bm25_score or 0.0))
        grades = data.judged.get(key, {})
        answered.append(any(grades.get(index.record_of[hit.chunk_id], 0) > 0 for hit in hits))
    return Sample(name, np.array(rows), np.array(answered, float), np.full(len(rows), 1 / max(1, len(rows))))


def sampled(data: EvalSet, others: list[EvalSet], index: OpenedIndex, mode: SearchMode) -> list[Sample]:
    random = np.random.default_rng(1)
    foreign = {}
    for other in others:
        keys = list(other.queries)
        for i in random.choice(len(keys), min(FOREIGN_A_SET, len(keys)), replace=False):
            foreign[f"{other.name} {keys[i]}"] = other.queries[keys[i]]
    own = best_hits(index, data.queries, data, mode, data.name)
    return [own, best_hits(index, foreign, data, mode, data.name)]


def fitted(samples: list[Sample], columns: list[int]) -> Array:
    """Logistic regression by Newton's method."""
    x = np.concatenate([sample.features for sample in samples])[:, columns]
    y = np.concatenate([sample.answered for sample in samples])
    w = np.concatenate([sample.weights for sample in samples])
    found = np.zeros(len(columns))
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ found))
        slope, curvature = x.T @ (w * (y - p)), (x * (w * p * (1 - p))[:, None]).T @ x
        step = np.linalg.solve(curvature + 1e-9 * np.eye(len(columns)), slope)
        found += step
        if np.abs(step).max() < 1e-10:
            break
    return found


def falls(index: OpenedIndex, data: EvalSet) -> Sample:
    """Of the first ten hits of every query: how far behind the best, in nats, how the best one looks, and relevance."""
    rows, relevant = [], []
    for key, text in data.queries.items():
        hits = index.search(SearchQuery(text)).hits
        odds = [math.log(hit.hybrid_score / (1 - hit.hybrid_score)) for hit in hits if hit.hybrid_score < 1]
        for hit, log_odds in zip(hits[-len(odds) :], odds, strict=True):
            cosine, share = 2 * (hits[0].similarity_score or 0.5) - 1, hits[0].bm25_score or 0.0
            rows.append((1.0, (log_odds - odds[0]) / PER_NAT, cosine, share))
            relevant.append(data.judged[key].get(index.record_of[hit.chunk_id], 0) > 0)
    return Sample(data.name, np.array(rows), np.array(relevant, float), np.full(len(rows), 1 / len(rows)))


def reliability(samples: list[Sample], columns: list[int], constants: Array) -> list[tuple[float, float, float]]:
    """Per tenth of the scale: promised, actual, share of all searches."""
    promised = np.concatenate([1 / (1 + np.exp(-sample.features[:, columns] @ constants)) for sample in samples])
    actual = np.concatenate([sample.answered for sample in samples])
    weights = np.concatenate([sample.weights for sample in samples])
    rows = []
    for low in np.arange(0, 10) / 10:
        inside = (promised >= low) & (promised < low + 0.1)
        if inside.any():
            part = weights[inside]
            rows.append(
                (
                    float(np.average(promised[inside], weights=part)),
                    float(np.average(actual[inside], weights=part)),
                    float(part.sum() / weights.sum()),
                )
            )
    return rows


def svg(rows: list[tuple[float, float, float]]) -> str:
    """Promised against actual; a dot's area is the share of searches it stands for."""
    dots = "".join(
        f'<circle cx="{40 + 300 * promised:.0f}" cy="{340 - 300 * actual:.0f}" r="{3 + 22 * share**0.5:.1f}"/>'
        for promised, actual, share in rows
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 390" font-family="sans-serif" font-size="12">'
        '<rect width="380" height="390" fill="white"/><path d="M40 340V40M40 340H340" stroke="black" fill="none"/>'
        '<path d="M40 340L340 40" stroke="grey" stroke-dasharray="4"/>'
        f'<g fill="steelblue" fill-opacity=".7">{dots}</g>'
        '<text x="120" y="375">hybrid_score of the best hit</text>'
        '<text x="16" y="260" transform="rotate(-90 16 260)">share of searches answered</text>'
        '<text x="34" y="356">0</text><text x="334" y="356">1</text><text x="24" y="44">1</text></svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--models", default="all-MiniLM-L6-v2,granite-embedding-30m-english")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    sets = [load_set(options.data / name) for name in options.sets.split(",")]
    samples: dict[str, list[Sample]] = {mode: [] for mode in MODES}
    behind: list[Sample] = []
    for model in options.models.split(","):
        for data in sets:
            settings = Settings(data=options.keep / f"{data.name}-{model}", model=model)
            with evaluation_index(settings, data.records) as index:
                behind.append(falls(index, data))
                for mode in MODES:
                    samples[mode] += sampled(data, [other for other in sets if other is not data], index, mode)
    print(f"log-odds lost with each nat behind the best hit: {fitted(behind, [0, 1, 2, 3])[1]:.3f}")
    for mode, columns in (("hybrid", [0, 1, 2]), ("vector", [0, 1]), ("bm25", [0, 2])):
        constants = fitted(samples[mode], columns)
        print(f"{mode}: constant, per cosine, per share (those it has): {constants.round(2)}")
        for data in sets if len(sets) > 2 else []:
            rest = [sample for sample in samples[mode] if sample.name != data.name]
            print(f"   without {data.name:16s} {fitted(rest, columns).round(2)}")
        rows = reliability(samples[mode], columns, constants)
        for promised, actual, share in rows:
            print(f"   promised {promised:.2f}  answered {actual:.2f}  of all searches {share:.0%}")
        if mode == "hybrid" and options.svg:
            options.svg.write_text(svg(rows), "utf-8")


if __name__ == "__main__":
    main()
