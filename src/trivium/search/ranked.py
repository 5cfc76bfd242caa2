"""A ranking as arrays: pure arithmetic between what the indexes say and the hits a caller sees."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from trivium.model.embedding import Ids
from trivium.model.hits import Hit, SearchMode
from trivium.search import evidence
from trivium.search.evidence import BM25, PER_NAT, VECTOR, Anchor, Background, Scores

Fusion = Literal["adaptive", "rrf"]

_PERFECT = 0.9999  # cosine of a passage with itself, rounding allowed for
_BEST_IMPERFECT = 0.9999
_STRICT = 1e-12  # what a hit's score at least lies below the one before it


@dataclass(frozen=True, slots=True)
class Ranked:
    """Chunks best first. A score is the probability its `log_odds` stand for; NaN is what a side does not know."""

    ids: Ids
    log_odds: Scores
    scores: Scores
    similarities: Scores
    shares: Scores
    boosts: Scores
    reranks: Scores
    anchor: Anchor

    def hits(self, start: int, end: int, mode: SearchMode) -> tuple[Hit, ...]:
        return tuple(
            Hit(
                int(self.ids[i]),
                i + 1,
                float(self.scores[i]),
                _known(self.similarities[i]),
                _known(self.shares[i]),
                mode,
                float(self.boosts[i]),
                _known(self.reranks[i]),
            )
            for i in range(start, min(end, self.ids.size))
        )

    def taken(self, order: Ids) -> "Ranked":
        return Ranked(
            self.ids[order],
            self.log_odds[order],
            self.scores[order],
            self.similarities[order],
            self.shares[order],
            self.boosts[order],
            self.reranks[order],
            self.anchor,
        )

    def followed_by(self, rest: "Ranked") -> "Ranked":
        """Both as one ranking; where the rest is stronger than the end of the first, it is shown as equal to it."""
        return Ranked(
            np.concatenate((self.ids, rest.ids)),
            np.concatenate((self.log_odds, rest.log_odds)),
            _strictly_falling(np.concatenate((self.scores, rest.scores))),
            np.concatenate((self.similarities, rest.similarities)),
            np.concatenate((self.shares, rest.shares)),
            np.concatenate((self.boosts, rest.boosts)),
            np.concatenate((self.reranks, rest.reranks)),
            self.anchor,
        )


def ranked(
    ids: Ids,
    mode: SearchMode,
    fusion: Fusion,
    cosines: Scores,
    around: Background,
    bm25: Scores,
    bound: float,
    keyword_weight: float,
    anchor: Anchor | None = None,
) -> Ranked:
    """Ties go to the lower id. `ids` are sorted, `cosines` on the reference model's scale, `bound` NaN without words.

    `anchor` is that of the ranking these chunks continue; without one they start a ranking of their own.
    """
    shares = np.clip(bm25 / bound, 0.0, 1.0) if bound > 0 else np.full(ids.size, bound)
    log_odds, anchor = _log_odds(mode, fusion, cosines, around, bm25, shares, keyword_weight, anchor)
    log_odds = np.where(cosines >= _PERFECT, np.inf, log_odds)
    ones, unknown = np.ones(ids.size), np.full(ids.size, np.nan)
    similarities = evidence.similarity(cosines)
    whole = Ranked(ids, log_odds, _probability(log_odds), similarities, shares, ones, unknown, anchor)
    return _in_order(whole, ids.size)


def _log_odds(
    mode: SearchMode,
    fusion: Fusion,
    cosines: Scores,
    around: Background,
    bm25: Scores,
    shares: Scores,
    keyword_weight: float,
    anchor: Anchor | None,
) -> tuple[Scores, Anchor]:
    nowhere = Anchor(0.0, 0.0)
    if mode == "vector":
        return VECTOR.constant + VECTOR.per_cosine * cosines, nowhere
    if mode == "bm25":
        return BM25.constant + BM25.per_share * shares, nowhere
    surprises = evidence.surprise(cosines, around)
    if fusion == "rrf":
        rrf = np.clip(evidence.reciprocal_ranks(surprises, bm25), 1e-6, 1 - 1e-6)
        return np.log(rrf / (1 - rrf)), nowhere
    fused = evidence.fused(surprises, bm25, keyword_weight)
    anchor = anchor or evidence.anchored(fused, cosines, shares)
    return anchor.log_odds + PER_NAT * (fused - anchor.evidence), anchor


def _probability(log_odds: Scores) -> Scores:
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)), np.float64)


def reordered(whole: Ranked, head: int, factors: Mapping[int, float], judged: Mapping[int, float]) -> Ranked:
    """The first `head` chunks in the order of their boosted and reranked odds, the others as they were.

    A boost multiplies the odds; a reranker's verdict is averaged, as log-odds, with what the search itself found.
    """
    boosts, reranks = whole.boosts.copy(), whole.reranks.copy()
    boosts[:head] = [factors.get(chunk_id, 1.0) for chunk_id in whole.ids[:head].tolist()]
    reranks[:head] = [judged.get(chunk_id, np.nan) for chunk_id in whole.ids[:head].tolist()]
    log_odds = whole.log_odds + np.log(boosts)
    verdict = np.clip(reranks, 1e-4, 1 - 1e-4)
    log_odds = np.where(np.isnan(reranks), log_odds, (log_odds + np.log(verdict / (1 - verdict))) / 2)
    changed = replace(whole, log_odds=log_odds, scores=_probability(log_odds), boosts=boosts, reranks=reranks)
    return _in_order(changed, head)


def _in_order(whole: Ranked, head: int) -> Ranked:
    order = np.arange(whole.ids.size)
    order[:head] = np.lexsort((whole.ids[:head], -whole.log_odds[:head]))
    sorted_ = whole.taken(order)
    is_perfect = np.isposinf(sorted_.log_odds)
    scores = np.where(is_perfect, 1.0, np.minimum(sorted_.scores, _BEST_IMPERFECT))
    return replace(sorted_, scores=_strictly_falling(scores))


def _strictly_falling(scores: Scores) -> Scores:
    steps = _STRICT * np.arange(scores.size)
    return np.asarray(np.minimum.accumulate(scores + steps) - steps, np.float64)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
