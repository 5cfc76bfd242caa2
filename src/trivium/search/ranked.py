"""A ranking as arrays: pure arithmetic between what the indexes say and the hits a caller sees."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from trivium.model.embedding import Ids
from trivium.model.hits import Hit, SearchMode
from trivium.search import evidence
from trivium.search.evidence import CURVES, Background, Curve, Scores

Fusion = Literal["adaptive", "rrf"]

_PERFECT = 0.9999  # cosine of a passage with itself, rounding allowed for
_BEST_IMPERFECT = 0.9999
_STRICT = 1e-12  # what a hit's score at least lies below the one before it
_ODDS_ARE_THE_SCORE = Curve(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Chunks best first. `strengths` are what `curve` turns into scores; NaN stands for what a side does not know."""

    ids: Ids
    strengths: Scores
    scores: Scores
    similarities: Scores
    shares: Scores
    boosts: Scores
    reranks: Scores
    curve: Curve

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
            self.strengths[order],
            self.scores[order],
            self.similarities[order],
            self.shares[order],
            self.boosts[order],
            self.reranks[order],
            self.curve,
        )

    def followed_by(self, rest: "Ranked") -> "Ranked":
        """Both as one ranking; where the rest is stronger than the end of the first, it is shown as equal to it."""
        return Ranked(
            np.concatenate((self.ids, rest.ids)),
            np.concatenate((self.strengths, rest.strengths)),
            _strictly_falling(np.concatenate((self.scores, rest.scores))),
            np.concatenate((self.similarities, rest.similarities)),
            np.concatenate((self.shares, rest.shares)),
            np.concatenate((self.boosts, rest.boosts)),
            np.concatenate((self.reranks, rest.reranks)),
            self.curve,
        )


def ranked(
    ids: Ids,
    mode: SearchMode,
    fusion: Fusion,
    cosines: Scores,
    around: Background,
    bm25: Scores,
    bound: float,
) -> Ranked:
    """Ties go to the lower id. `ids` are sorted; `cosines` are on the reference model's scale."""
    surprises = evidence.surprise(cosines, around)
    if mode == "hybrid" and fusion == "rrf":
        shares = np.clip(evidence.reciprocal_ranks(surprises, bm25), 1e-6, 1 - 1e-6)
        strengths, curve = np.log(shares / (1 - shares)), _ODDS_ARE_THE_SCORE
    else:
        sides = {"hybrid": evidence.fused(surprises, bm25), "vector": surprises, "bm25": bm25}
        strengths, curve = sides[mode], CURVES[mode]
    strengths = np.where(cosines >= _PERFECT, np.inf, strengths)
    unknown = np.full(ids.size, np.nan)
    whole = Ranked(
        ids,
        strengths,
        curve.score(strengths),
        evidence.similarity(cosines),
        np.clip(bm25 / bound, 0.0, 1.0) if bound > 0 else (unknown if np.isnan(bound) else np.zeros(ids.size)),
        np.ones(ids.size),
        unknown,
        curve,
    )
    return _in_order(whole, ids.size)


def reordered(whole: Ranked, head: int, factors: Mapping[int, float], judged: Mapping[int, float]) -> Ranked:
    """The first `head` chunks in the order of their boosted and reranked strengths, the others as they were.

    A boost multiplies the odds; a reranker's verdict is averaged, as log-odds, with what the search itself found.
    """
    boosts, reranks = whole.boosts.copy(), whole.reranks.copy()
    boosts[:head] = [factors.get(chunk_id, 1.0) for chunk_id in whole.ids[:head].tolist()]
    reranks[:head] = [judged.get(chunk_id, np.nan) for chunk_id in whole.ids[:head].tolist()]
    odds = (whole.strengths - whole.curve.middle) / whole.curve.width + np.log(boosts)
    verdict = np.clip(reranks, 1e-4, 1 - 1e-4)
    odds = np.where(np.isnan(reranks), odds, (odds + np.log(verdict / (1 - verdict))) / 2)
    strengths = whole.curve.middle + whole.curve.width * odds
    changed = replace(whole, strengths=strengths, scores=whole.curve.score(strengths), boosts=boosts, reranks=reranks)
    return _in_order(changed, head)


def _in_order(whole: Ranked, head: int) -> Ranked:
    order = np.arange(whole.ids.size)
    order[:head] = np.lexsort((whole.ids[:head], -whole.strengths[:head]))
    sorted_ = whole.taken(order)
    is_perfect = np.isinf(sorted_.strengths)
    scores = np.where(is_perfect, 1.0, np.minimum(sorted_.scores, _BEST_IMPERFECT))
    return replace(sorted_, scores=_strictly_falling(scores))


def _strictly_falling(scores: Scores) -> Scores:
    steps = _STRICT * np.arange(scores.size)
    return np.asarray(np.minimum.accumulate(scores + steps) - steps, np.float64)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
