"""Finds and ranks chunks for a question: words and vectors, fused as evidence (evidence.py).

A ranking has two stages. The first ranks the best chunks of each side and serves every page people look at. The second,
computed only for pages beyond it, ranks all other allowed chunks after them, so that paging reaches everything, once.
The ranking never depends on the page that is asked for.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from trivium.errors import BackendUnavailable, InvalidInput, VectorsUnavailable
from trivium.model.chunk import SOURCES
from trivium.model.embedding import Ids, Vector
from trivium.model.filters import And, Filter, In
from trivium.model.hits import Ranking, SearchMode, SearchQuery
from trivium.ports.chunks import ChunkStore
from trivium.ports.embedder import Embedder
from trivium.ports.keywords import KeywordIndex, KeywordMatches
from trivium.ports.reranker import Reranker
from trivium.ports.vectors import VectorIndex
from trivium.search import evidence
from trivium.search.boosts import BoostSettings, boost
from trivium.search.evidence import Anchor, Background, Scores
from trivium.search.ranked import Fusion, Ranked, ranked, reordered
from trivium.search.remembered import Remembered

DEPTH = 200  # of each side; between 100 and 1000 no figure on the open sets moves, but the cost does
HEAD = 50  # hits that boosts and the reranker look at, since both need the text


@dataclass(frozen=True, slots=True)
class _Sides:
    """How this query is searched, and what was lost on the way."""

    mode: SearchMode
    vector: Vector | None = None
    background: Background = evidence.PRIOR
    keyword_weight: float = 1.0
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What is worth knowing about one generation of the vectors."""

    with_vectors: Ids
    sample: Ids


_EMPTY = _Corpus(np.empty(0, np.int64), np.empty(0, np.int64))
# Names no address: clients read it.
_NO_VECTORS = "the vector server does not answer or is behind: results are found by their words alone"


class HybridSearch:
    """Thread-safe. `refresh` is called before every search, so that the indexes can catch up with the store."""

    def __init__(
        self,
        vectors: VectorIndex,
        keywords: KeywordIndex,
        chunks: ChunkStore,
        embedder: Embedder,
        refresh: Callable[[], None] = lambda: None,
        *,
        fusion: Fusion = "adaptive",
        boosts: BoostSettings | None = None,
        reranker: Reranker | None = None,
        today: Callable[[], datetime.date] = datetime.date.today,
    ) -> None:
        self._vectors, self._keywords, self._chunks, self._embedder = vectors, keywords, chunks, embedder
        self._refresh, self._fusion, self._reranker, self._today = refresh, fusion, reranker, today
        self._boosts = boosts or BoostSettings()
        self._corpora: Remembered[tuple[int, int], _Corpus] = Remembered(1)
        self._allowed_ids: Remembered[tuple[int, Filter], Ids] = Remembered(16)
        self._wholes: Remembered[tuple[SearchQuery, SearchMode, int], Ranked] = Remembered(2)

    def search(self, query: SearchQuery) -> Ranking:
        """The page `query` asks for. BM25 alone, and the reason in `degraded`, where there is no model or the vectors
        are out of reach."""
        if query.limit < 0 or query.offset < 0:
            raise InvalidInput("limit and offset count from 0", field="limit" if query.limit < 0 else "offset")
        try:
            self._refresh()
            generation = self._chunks.generation()
            corpus = self._corpora.get((generation, self._vectors.position), self._corpus)
            return self._rank(query, generation, corpus, self._sides(query, corpus))
        except VectorsUnavailable:
            if query.mode == "vector":
                raise
            sides = _Sides("bm25", degraded=None if query.mode == "bm25" else _NO_VECTORS)
            return self._rank(query, self._chunks.generation(), _EMPTY, sides)

    def _rank(self, query: SearchQuery, generation: int, corpus: _Corpus, sides: _Sides) -> Ranking:
        allowed = self._allowed(query, generation)
        first = self._first_stage(query, sides, allowed)
        first, unread = self._read(query, first)
        found, total = self._reaching(query, sides, allowed, corpus, generation, first)
        return Ranking(
            query,
            generation,
            total,
            found.hits(query.offset, min(query.offset + query.limit, total), sides.mode),
            sides.mode,
            self._missing(corpus, allowed) if corpus is not _EMPTY else 0,
            sides.degraded or unread,
            sides.keyword_weight,
        )

    def _corpus(self) -> _Corpus:
        ids = self._vectors.ids()
        return _Corpus(ids, evidence.sample_of(ids))

    def _allowed(self, query: SearchQuery, generation: int) -> Ids | None:
        """The sorted ids the query is restricted to; None for no restriction."""
        conditions: list[Filter] = [query.condition] if query.condition is not None else []
        if set(query.sources) != set(SOURCES):
            conditions.append(In("source", tuple(query.sources)))
        allowed = None
        if conditions:
            whole = And(tuple(conditions))
            allowed = self._allowed_ids.get((generation, whole), lambda: self._chunks.select(whole))
        if query.chunk_ids is not None:
            chosen = np.unique(np.array(query.chunk_ids, np.int64))
            known = np.sort(np.array([chunk.chunk_id for chunk in self._chunks.get(chosen.tolist())], np.int64))
            allowed = known if allowed is None else np.intersect1d(known, allowed, assume_unique=True)
        return allowed

    def _sides(self, query: SearchQuery, corpus: _Corpus) -> _Sides:
        if query.mode == "bm25":
            return _Sides("bm25")
        if query.mode == "hybrid" and not corpus.with_vectors.size:
            return _Sides("bm25", degraded="no chunk has a vector yet" if self._chunks.count() else None)
        try:
            vector = self._embedder.embed_queries([query.text])[0]
        except BackendUnavailable as error:
            if query.mode == "vector":
                raise
            return _Sides("bm25", degraded=error.message)
        around = evidence.background(self._on_scale(self._vectors.cosines(vector, corpus.sample)))
        weight = 0.0 if query.mode == "vector" else evidence.keyword_weight(self._chunks.count())
        return _Sides(query.mode, vector, around, weight)

    def _on_scale(self, cosines: npt.NDArray[np.float32]) -> Scores:
        return evidence.on_reference_scale(cosines, self._embedder.model)

    def _cosines(self, sides: _Sides, ids: Ids) -> Scores:
        if sides.vector is None:
            return np.full(ids.size, np.nan)
        return self._on_scale(self._vectors.cosines(sides.vector, ids))

    def _first_stage(self, query: SearchQuery, sides: _Sides, allowed: Ids | None) -> Ranked:
        near, cosines = np.empty(0, np.int64), np.empty(0, np.float32)
        if sides.vector is not None:
            near, cosines = self._vectors.nearest(sides.vector, DEPTH, allowed)
        by_id = np.argsort(near)
        near, cosines = near[by_id], cosines[by_id]
        if sides.mode == "vector":
            return self._ranked(sides, near, self._on_scale(cosines), [])
        words = [self._keywords.match(query.text, DEPTH, allowed)]
        only_near = np.setdiff1d(near, words[0].ids, assume_unique=True)
        if words[0].ids.size == DEPTH and only_near.size:
            # The keyword list was cut: near chunks that are not on it may still contain words of the query.
            words.append(self._keywords.match(query.text, only_near.size, only_near))
        only_words = np.setdiff1d(words[0].ids, near, assume_unique=True)
        ids = np.concatenate((near, only_words))
        both = np.concatenate((self._on_scale(cosines), self._cosines(sides, only_words)))
        by_id = np.argsort(ids)
        return self._ranked(sides, ids[by_id], both[by_id], words)

    def _ranked(
        self, sides: _Sides, ids: Ids, cosines: Scores, words: list[KeywordMatches], anchor: Anchor | None = None
    ) -> Ranked:
        bm25 = np.zeros(ids.size)
        for matches in words:
            bm25[np.searchsorted(ids, matches.ids)] = matches.scores
        bound = words[0].bound if words else np.nan
        return ranked(
            ids, sides.mode, self._fusion, cosines, sides.background, bm25, bound, sides.keyword_weight, anchor
        )

    def _read(self, query: SearchQuery, first: Ranked) -> tuple[Ranked, str | None]:
        """Boosts and the reranker have their say on the head; the second value tells what could not be done."""
        wants_reranking = query.rerank and self._reranker is not None
        if not first.ids.size or not (wants_reranking or self._boosts.is_on):
            return first, None
        head = self._chunks.get(first.ids[:HEAD].tolist())
        today = self._today()
        factors = {chunk.chunk_id: boost(self._boosts, query, chunk, today) for chunk in head}
        judged: dict[int, float] = {}
        unread = None
        if wants_reranking and self._reranker is not None:
            try:
                scores = self._reranker.rerank(query.text, [_readable(c.context_header, c.text) for c in head])
                judged = {chunk.chunk_id: float(score) for chunk, score in zip(head, scores, strict=True)}
            except BackendUnavailable as error:
                unread = error.message
        return reordered(first, min(HEAD, first.ids.size), factors, judged), unread

    def _reaching(
        self,
        query: SearchQuery,
        sides: _Sides,
        allowed: Ids | None,
        corpus: _Corpus,
        generation: int,
        first: Ranked,
    ) -> tuple[Ranked, int]:
        """The ranking as far as the page reaches, and where the whole of it ends."""
        within_first = int(np.count_nonzero(first.scores >= query.min_score))
        if within_first < first.ids.size:
            return first, within_first
        everything = self._size(query, sides, allowed, corpus, first)
        is_enough = query.offset + query.limit <= first.ids.size and query.min_score <= 0
        if is_enough or everything <= first.ids.size:
            return first, max(everything, first.ids.size)
        key = (replace(query, offset=0, limit=0, min_score=0.0), sides.mode, generation)
        whole = self._wholes.get(
            key, lambda: first.followed_by(self._second_stage(query, sides, allowed, corpus, first))
        )
        return whole, int(np.count_nonzero(whole.scores >= query.min_score))

    def _size(self, query: SearchQuery, sides: _Sides, allowed: Ids | None, corpus: _Corpus, first: Ranked) -> int:
        """How many chunks the whole ranking has."""
        if sides.mode == "bm25":
            return first.ids.size if first.ids.size < DEPTH else self._keywords.count(query.text, allowed)
        if sides.mode == "vector":
            return corpus.with_vectors.size if allowed is None else allowed.size - self._missing(corpus, allowed)
        return self._chunks.count() if allowed is None else allowed.size

    def _second_stage(
        self, query: SearchQuery, sides: _Sides, allowed: Ids | None, corpus: _Corpus, first: Ranked
    ) -> Ranked:
        words = []
        everything = corpus.with_vectors if sides.mode == "vector" else self._keywords.ids()
        if sides.mode != "vector":
            words = [self._keywords.match(query.text, max(1, everything.size), allowed)]
        if sides.mode == "bm25":
            everything = np.sort(words[0].ids)
        elif allowed is not None:
            everything = np.intersect1d(everything, allowed, assume_unique=True)
        rest = np.setdiff1d(everything, first.ids, assume_unique=True)
        return self._ranked(
            sides, rest, self._cosines(sides, rest), [_only(matches, rest) for matches in words], first.anchor
        )

    def _missing(self, corpus: _Corpus, allowed: Ids | None) -> int:
        """How many of the allowed chunks have no vector."""
        missing = max(0, self._chunks.count() - corpus.with_vectors.size)
        if allowed is None or not missing:
            return missing
        at = np.searchsorted(corpus.with_vectors, allowed)
        padded = np.append(corpus.with_vectors, -1)
        return int(np.count_nonzero(padded[at] != allowed))


def _only(matches: KeywordMatches, ids: Ids) -> KeywordMatches:
    inside = np.isin(matches.ids, ids)
    return KeywordMatches(matches.ids[inside], matches.scores[inside], matches.bound)


def _readable(header: str, text: str) -> str:
    return f"{header}\n{text}" if header else text
