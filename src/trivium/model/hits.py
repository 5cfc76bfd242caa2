"""What is asked of a search and what it answers."""

from dataclasses import dataclass
from typing import Literal

from trivium.model.chunk import SOURCES, Source
from trivium.model.filters import Filter

SearchMode = Literal["hybrid", "vector", "bm25"]
MODES: tuple[SearchMode, ...] = ("hybrid", "vector", "bm25")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`offset` and `limit` cut a page out of the ranking of everything that is allowed.

    `chunk_ids` restricts to these chunks, `sources` to these worlds, `condition` to what fulfils it; all that are given
    apply. `min_score` ends the ranking where `hybrid_score` falls below it. `vendors`, `document_types`, `entities` and
    `topics` are what the caller knows the query to be about: they feed the boosts and exclude nothing.
    """

    text: str
    limit: int = 10
    offset: int = 0
    mode: SearchMode = "hybrid"
    sources: tuple[Source, ...] = SOURCES
    condition: Filter | None = None
    chunk_ids: tuple[int, ...] | None = None
    min_score: float = 0.0
    rerank: bool = False
    vendors: tuple[str, ...] = ()
    document_types: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk of a ranking. All scores lie in 0–1 (docs/scores.md).

    `hybrid_score` is the score of the ranking whatever its mode, and falls strictly from rank to rank.
    `similarity_score` is None for a chunk without a vector or a search without vectors; `bm25_score` is 0 where no word
    of the query occurs and None in a search without keywords. `boost` is the factor the boosts came to, 1 without any;
    `rerank_score` is there where a reranker read the chunk.
    """

    chunk_id: int
    rank: int  # from 1, over the whole ranking, not the page
    hybrid_score: float
    similarity_score: float | None
    bm25_score: float | None
    score_type: SearchMode
    boost: float = 1.0
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """A page of a ranking, and what a reader must know to trust it.

    `total` counts the whole ranking, so the last page ends there. `generation` is the store's at the time of the
    search. `mode` is how the search was really done: "bm25" instead of "hybrid" where there was no vector side, with
    the reason in `degraded`. `missing_vectors` counts the allowed chunks the vector side does not know yet.
    `keyword_weight` is what a nat of BM25 counted beside a nat of the vector side: 0 for vectors alone, 1 for words
    alone.
    """

    query: SearchQuery
    generation: int
    total: int
    hits: tuple[Hit, ...]
    mode: SearchMode
    missing_vectors: int = 0
    degraded: str | None = None
    keyword_weight: float = 0.0
