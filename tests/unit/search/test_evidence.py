import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.search import evidence
from trivium.search.evidence import PRIOR, Background


def test_surprise_is_the_tail_of_the_normal_distribution() -> None:
    around = Background(0.2, 0.1)
    found = evidence.surprise(np.array([0.2, 0.3, 0.5, 1.0]), around)
    assert found == pytest.approx([math.log(2), -math.log(0.158655), -math.log(0.0013499), 35.0], rel=1e-3)


@given(st.lists(st.floats(-1, 1), min_size=2, unique=True), st.floats(-0.5, 0.5), st.floats(0.01, 0.5))
def test_a_nearer_chunk_is_never_less_surprising(cosines: list[float], mean: float, deviation: float) -> None:
    found = evidence.surprise(np.array(sorted(cosines)), Background(mean, deviation))
    assert (np.diff(found) >= 0).all()
    assert np.isfinite(found).all()


def test_a_small_corpus_leans_on_the_prior_and_a_large_one_on_itself() -> None:
    assert evidence.background(np.array([])) == PRIOR
    few, many = evidence.background(np.full(2, 0.9)), evidence.background(np.full(2000, 0.9))
    assert abs(few.mean - PRIOR.mean) < 0.1
    assert abs(many.mean - 0.9) < 0.01
    assert many.deviation > 0


@pytest.mark.parametrize("seed", range(20))
def test_one_more_chunk_replaces_at_most_one_of_the_sample(seed: int) -> None:
    ids = np.unique(np.random.default_rng(seed).integers(1, 10**6, 900))
    before = set(evidence.sample_of(ids[ids != ids[seed]]).tolist())
    after = set(evidence.sample_of(ids).tolist())
    assert len(before) == len(after) == evidence.SAMPLE
    assert len(before - after) <= 1


def test_common_words_move_a_ranking_less_than_rare_ones() -> None:
    surprises = np.array([12.0, 9.0])
    assert np.argmax(evidence.fused(surprises, np.array([0.0, 2.0]))) == 0
    assert np.argmax(evidence.fused(surprises, np.array([0.0, 20.0]))) == 1


def test_words_weigh_more_in_a_corpus_too_small_for_rare_ones() -> None:
    weights = [evidence.keyword_weight(chunks) for chunks in (1, 10, 100, 10**6)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] == pytest.approx(evidence.KEYWORD_WEIGHT, rel=1e-3)


def test_reciprocal_ranks_are_a_share_of_the_best_that_can_be_had() -> None:
    shares = evidence.reciprocal_ranks(np.array([5.0, 3.0, np.nan]), np.array([9.0, 0.0, 4.0]))
    assert shares == pytest.approx([1.0, 0.5 * 61 / 62, 0.5 * 61 / 62])
