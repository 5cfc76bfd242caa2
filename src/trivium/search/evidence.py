"""What each side of a search is worth, in one currency: nats of evidence that a chunk is meant.

The vector side is worth its surprise: how unlikely a chunk drawn at random would lie as near to this query. The corpus
itself says what random is, so the measure needs no knowledge of the model and a side that tells chunks apart badly
yields little. The keyword side is worth its BM25 score, which is a sum of surprises already (a term's idf), discounted
because words of one sentence are not independent. Common words say little on any scale, so a query of common words is
decided by the vectors and a query of rare ones by the words: nothing is tuned to a corpus. Measured in
docs/decisions/fusion.md; the curves from evidence to a score in 0–1 are in docs/scores.md.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trivium.model.embedding import EmbeddingModel, Ids

Scores = npt.NDArray[np.float64]

KEYWORD_WEIGHT = 0.4
_PRIOR_WORLD = 100  # chunks a small corpus is believed to be cut from: in ten chunks no word is rare enough to say much
SAMPLE = 512  # chunks that stand for the corpus; more changed no figure
RRF_K = 60

_PRIOR_CHUNKS = 20  # what the prior counts for beside the chunks of the sample
_LARGEST_Z = 37.0  # beyond it the probability is below the smallest double


@dataclass(frozen=True, slots=True)
class Background:
    """How the cosines of one query lie over the corpus, on the scale of the reference model."""

    mean: float
    deviation: float


PRIOR = Background(0.17, 0.105)  # all-MiniLM-L6-v2 on the open sets: what is believed of a corpus too small to say


@dataclass(frozen=True, slots=True)
class Calibration:
    """Log-odds that a search is answered, from how its best hit looks: its cosine and its share of the BM25 bound."""

    constant: float
    per_cosine: float
    per_share: float

    def log_odds(self, cosine: float, share: float) -> float:
        return self.constant + self.per_cosine * cosine + self.per_share * share


# Fitted by benchmarks/retrieval_scores.py on the seven open sets with both models (docs/scores.md).
HYBRID = Calibration(-8.3, 13.8, 4.4)
VECTOR = Calibration(-8.9, 16.1, 0.0)
BM25 = Calibration(-3.3, 0.0, 9.3)
PER_NAT = 0.16  # log-odds a hit loses for each nat of evidence it lies behind the best


@dataclass(frozen=True, slots=True)
class Anchor:
    """The best hit of a ranking: every other score is told by how far its evidence lies behind."""

    evidence: float
    log_odds: float


def anchored(evidence: Scores, cosines: Scores, shares: Scores) -> Anchor:
    """Words alone tell where the best hit has no vector."""
    if not evidence.size:
        return Anchor(0.0, BM25.constant)
    best = int(np.argmax(evidence))
    cosine, share = float(cosines[best]), float(shares[best])
    log_odds = BM25.log_odds(0.0, share) if math.isnan(cosine) else HYBRID.log_odds(cosine, share)
    return Anchor(float(evidence[best]), log_odds)


def on_reference_scale(cosines: npt.NDArray[np.float32], model: EmbeddingModel) -> Scores:
    return cosines.astype(np.float64) * model.scale + model.offset


def similarity(reference_cosines: Scores) -> Scores:
    """(1 + cosine) / 2, kept in 0–1 where the model's map leads outside."""
    return np.clip((1.0 + reference_cosines) / 2.0, 0.0, 1.0)


def sample_of(ids: Ids) -> Ids:
    """The chunks that stand for the corpus: those whose hashed id is smallest, so that a write replaces few of them."""
    if ids.size <= SAMPLE:
        return ids
    hashed = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.sort(ids[np.argpartition(hashed, SAMPLE)[:SAMPLE]])


def background(reference_cosines: Scores) -> Background:
    """From the cosines of the sample, leaning on the prior while there are few of them."""
    known = reference_cosines[~np.isnan(reference_cosines)]
    trust = known.size / (known.size + _PRIOR_CHUNKS)
    if not known.size:
        return PRIOR
    mean = trust * float(known.mean()) + (1 - trust) * PRIOR.mean
    variance = trust * float(known.var()) + (1 - trust) * PRIOR.deviation**2
    return Background(mean, max(math.sqrt(variance), 1e-3))


def surprise(reference_cosines: Scores, around: Background) -> Scores:
    """-log P(a random chunk lies this near or nearer), for a normal background."""
    z = np.minimum((reference_cosines - around.mean) / around.deviation, _LARGEST_Z)
    tails = np.fromiter(map(math.erfc, (z / math.sqrt(2)).tolist()), np.float64, z.size)
    return np.asarray(-np.log(tails / 2), np.float64)


def with_vectors_imputed(surprises: Scores, bm25: Scores) -> Scores:
    """A chunk without a vector counts as near as the chunks whose words match as well do on average."""
    missing = np.isnan(surprises)
    if not missing.any():
        return surprises
    matched = surprises[~missing & (bm25 > 0)]
    believed = float(matched.mean()) if matched.size else 1.0  # 1: the mean surprise of a random chunk
    return np.where(missing, np.where(bm25 > 0, believed, 0.0), surprises)


def keyword_weight(chunks: int) -> float:
    """KEYWORD_WEIGHT, and more where the corpus is so small that every idf in it is."""
    return KEYWORD_WEIGHT * math.log(2 + chunks + _PRIOR_WORLD) / math.log(2 + chunks)


def fused(surprises: Scores, bm25: Scores, weight: float = KEYWORD_WEIGHT) -> Scores:
    return with_vectors_imputed(surprises, bm25) + weight * bm25


def reciprocal_ranks(surprises: Scores, bm25: Scores) -> Scores:
    """Reciprocal rank fusion: 1 / (k + rank) of each side, as a share of the most that can be had."""
    total = np.zeros(surprises.size)
    for side, present in ((surprises, ~np.isnan(surprises)), (bm25, bm25 > 0)):
        order = np.lexsort((np.arange(side.size), -np.where(present, side, -np.inf)))
        ranks = np.empty(side.size)
        ranks[order] = np.arange(1, side.size + 1)
        total += np.where(present, (RRF_K + 1) / (RRF_K + ranks), 0.0)
    return total / 2
