import datetime
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.search.conftest import Library

from trivium.errors import InvalidInput, ModelUnavailable
from trivium.model.filters import Equals, Not
from trivium.model.hits import MODES, Hit, SearchMode, SearchQuery
from trivium.search.boosts import MAX_FACTOR, BoostSettings
from trivium.search.hybrid import HybridSearch

TEXTS = {
    1: "rotate the api key every ninety days",
    2: "an invoice is due within thirty days",
    3: "the lighthouse keeper writes letters",
    4: "api requests are counted by key",
}


@pytest.fixture
def small(library: Library) -> Library:
    library.add(TEXTS)
    return library


def all_hits(search: HybridSearch, text: str, mode: SearchMode, page: int) -> list[Hit]:
    hits: list[Hit] = []
    total = 1
    while len(hits) < total:
        ranking = search.search(SearchQuery(text, limit=page, offset=len(hits), mode=mode))
        assert ranking.hits or not ranking.total
        hits += ranking.hits
        total = ranking.total
    return hits


def test_the_chunk_that_is_meant_comes_first_in_every_mode(small: Library) -> None:
    for mode in MODES:
        ranking = small.search().search(SearchQuery("when is an invoice due", mode=mode))
        assert ranking.hits[0].chunk_id == 2
        assert ranking.mode == mode
        assert {hit.score_type for hit in ranking.hits} == {mode}


def test_a_hybrid_ranking_reaches_every_chunk_and_a_keyword_ranking_those_with_a_word_of_the_query(
    small: Library,
) -> None:
    assert small.search().search(SearchQuery("invoice")).total == 4
    words = small.search().search(SearchQuery("invoice", mode="bm25"))
    assert [hit.chunk_id for hit in words.hits] == [2]
    assert words.total == 1


def test_hits_carry_the_scores_of_both_sides(small: Library) -> None:
    hits = {hit.chunk_id: hit for hit in small.search().search(SearchQuery("invoice due")).hits}
    assert hits[2].bm25_score is not None
    assert hits[2].similarity_score is not None
    assert hits[2].bm25_score > 0.5 > (hits[3].bm25_score or 0)
    assert hits[2].similarity_score > (hits[3].similarity_score or 0)
    only_words = small.search().search(SearchQuery("invoice", mode="bm25")).hits[0]
    assert only_words.similarity_score is None
    assert small.search().search(SearchQuery("invoice", mode="vector")).hits[0].bm25_score is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("page", [50, 333])
def test_pages_reach_everything_once_with_falling_scores(many: Library, mode: SearchMode, page: int) -> None:
    hits = all_hits(many.search(), "word1 word2 word3 word4 word5", mode, page)
    expected = {
        "hybrid": set(range(1, 1301)),
        "vector": set(range(1, 1201)),
        "bm25": set(many.keywords.match("word1 word2 word3 word4 word5", 2000).ids.tolist()),
    }
    assert {hit.chunk_id for hit in hits} == expected[mode]
    assert len(hits) == len(expected[mode])
    scores = [hit.hybrid_score for hit in hits]
    assert all(later < earlier for earlier, later in pairwise(scores))
    assert all(0 < score < 1 for score in scores)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(offset=st.integers(0, 1400), limit=st.integers(0, 60), min_score=st.sampled_from([0.0, 0.01, 0.2]))
def test_a_page_never_depends_on_how_it_is_cut(many: Library, offset: int, limit: int, min_score: float) -> None:
    search = many.search()
    whole = search.search(SearchQuery("word7 word8", limit=2000, min_score=min_score))
    page = search.search(SearchQuery("word7 word8", limit=limit, offset=offset, min_score=min_score))
    assert page.hits == whole.hits[offset : offset + limit]
    assert page.total == whole.total == len(whole.hits)
    assert all(hit.hybrid_score >= min_score for hit in page.hits)


def test_two_searches_over_the_same_chunks_agree(many: Library) -> None:
    query = SearchQuery("word3 word9 word27", limit=300)
    assert many.search().search(query).hits == many.search().search(query).hits


def test_filters_restrict_without_changing_what_a_chunk_scores_beside_its_neighbours(small: Library) -> None:
    small.add({10: "api key of the code"}, source="code", source_file="k.py")
    search = small.search()
    code = search.search(SearchQuery("api key", sources=("code",)))
    assert [hit.chunk_id for hit in code.hits] == [10]
    assert code.total == 1
    rest = search.search(SearchQuery("api key", condition=Not(Equals("source_file", "k.py"))))
    assert {hit.chunk_id for hit in rest.hits} == {1, 2, 3, 4}
    chosen = search.search(SearchQuery("api key", chunk_ids=(4, 2, 4711), sources=("documents",)))
    assert [hit.chunk_id for hit in chosen.hits] == [4, 2]
    assert search.search(SearchQuery("api key", chunk_ids=(4711,))).total == 0


def test_a_write_shows_in_the_next_search(small: Library) -> None:
    search = small.search()
    condition = Equals("source_category", "guides")
    before = search.search(SearchQuery("zebra", condition=condition))
    small.add({11: "zebra crossing"}, source_category="guides")
    after = search.search(SearchQuery("zebra", condition=condition))
    assert (before.total, after.total) == (0, 1)
    assert after.generation > before.generation


def test_refresh_is_called_before_every_search(small: Library) -> None:
    search = small.search(refresh=lambda: small.add({12: "only just written"}))
    assert search.search(SearchQuery("only just written")).hits[0].chunk_id == 12


def test_without_a_model_words_alone_answer_and_the_reason_is_told(small: Library) -> None:
    small.embedder.are_there = False
    ranking = small.search().search(SearchQuery("invoice"))
    assert [hit.chunk_id for hit in ranking.hits] == [2]
    assert ranking.mode == "bm25"
    assert ranking.degraded == "no weights for hashing-64"
    with pytest.raises(ModelUnavailable):
        small.search().search(SearchQuery("invoice", mode="vector"))


def test_chunks_without_vectors_are_found_by_their_words_and_counted(small: Library) -> None:
    small.add({20: "quarterly invoice archive"}, with_vectors=False)
    ranking = small.search().search(SearchQuery("invoice archive"))
    assert ranking.hits[0].chunk_id == 20
    assert ranking.hits[0].similarity_score is None
    assert ranking.missing_vectors == 1
    assert small.search().search(SearchQuery("invoice", chunk_ids=(1, 2))).missing_vectors == 0


def test_before_the_first_vector_search_is_by_words_and_says_so(library: Library) -> None:
    library.add(TEXTS, with_vectors=False)
    ranking = library.search().search(SearchQuery("invoice"))
    assert ranking.mode == "bm25"
    assert ranking.degraded
    assert ranking.missing_vectors == 4


def test_an_empty_library_answers_with_nothing(library: Library) -> None:
    for mode in MODES:
        ranking = library.search().search(SearchQuery("anything", mode=mode))
        assert (ranking.total, ranking.hits) == (0, ())


def test_only_the_text_itself_scores_one(small: Library) -> None:
    search = small.search()
    assert search.search(SearchQuery(TEXTS[3])).hits[0].hybrid_score == 1.0
    assert search.search(SearchQuery("lighthouse keeper")).hits[0].hybrid_score < 1.0


def test_reciprocal_rank_fusion_is_a_setting(small: Library) -> None:
    hits = small.search(fusion="rrf").search(SearchQuery("invoice due")).hits
    assert hits[0].chunk_id == 2
    assert hits[0].hybrid_score > 0.99


def test_a_boost_lifts_what_fits_and_lowers_nothing(small: Library) -> None:
    small.add({30: "api key rotated"}, date="2026-01-01", metadata={"vendor": "Acme"})
    query = SearchQuery("api key", vendors=("acme",), limit=5)
    today = datetime.date(2026, 1, 1)
    plain = {hit.chunk_id: hit for hit in small.search().search(query).hits}
    boosted = small.search(boosts=BoostSettings(vendor=1.0, recency=1.0), today=lambda: today).search(query)
    for hit in boosted.hits:
        assert hit.hybrid_score >= plain[hit.chunk_id].hybrid_score - 1e-9
        assert 1.0 <= hit.boost <= MAX_FACTOR
    factors = {hit.chunk_id: hit.boost for hit in boosted.hits}
    assert factors == {1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 30: 4.0}


class LongestFirst:
    """A reranker with a simple taste."""

    name = "longest"
    is_there = True

    def rerank(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if not self.is_there:
            raise ModelUnavailable("no cross-encoder")
        return np.array([0.999 if "lighthouse" in text else 0.001 for text in texts], np.float32)


def test_a_reranker_has_its_say_only_when_asked(small: Library) -> None:
    reranker = LongestFirst()
    search = small.search(reranker=reranker)
    assert search.search(SearchQuery("invoice due")).hits[0].chunk_id == 2
    ranking = search.search(SearchQuery("invoice due", rerank=True))
    assert ranking.hits[0].chunk_id == 3
    assert ranking.hits[0].rerank_score == pytest.approx(0.999)
    reranker.is_there = False
    without = search.search(SearchQuery("invoice due", rerank=True))
    assert without.hits[0].chunk_id == 2
    assert without.degraded == "no cross-encoder"


def test_negative_pages_are_refused(small: Library) -> None:
    with pytest.raises(InvalidInput, match="count from 0"):
        small.search().search(SearchQuery("x", offset=-1))
