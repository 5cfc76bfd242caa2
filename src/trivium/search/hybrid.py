"""Interim: cosine plus bounded BM25. The search author replaces this file."""

from collections.abc import Callable

import numpy as np

from trivium.errors import ModelUnavailable
from trivium.model.filters import And, In
from trivium.model.hits import Hit, Ranking, SearchQuery
from trivium.ports.chunks import ChunkStore
from trivium.ports.embedder import Embedder
from trivium.ports.keywords import KeywordIndex
from trivium.ports.vectors import VectorIndex


class HybridSearch:
    def __init__(
        self,
        vectors: VectorIndex,
        keywords: KeywordIndex,
        chunks: ChunkStore,
        embedder: Embedder,
        refresh: Callable[[], None] = lambda: None,
    ) -> None:
        self._vectors, self._keywords, self._chunks, self._embedder = vectors, keywords, chunks, embedder
        self._refresh = refresh

    def search(self, query: SearchQuery) -> Ranking:
        self._refresh()
        generation = self._chunks.generation()
        within = None
        if query.condition is not None or len(query.sources) < 3:
            parts = [In("source", query.sources)] + ([query.condition] if query.condition else [])
            within = self._chunks.select(And(tuple(parts)))
        if query.chunk_ids is not None:
            ids = np.unique(np.array(query.chunk_ids, dtype=np.int64))
            within = ids if within is None else np.intersect1d(ids, within)
        matches = self._keywords.match(query.text, 1000, within)
        words = dict(zip(matches.ids.tolist(), (matches.scores / max(matches.bound, 1e-9)).tolist(), strict=True))
        degraded, cosines = None, {}
        try:
            vector = self._embedder.embed_queries([query.text])[0]
            near, _ = self._vectors.nearest(vector, 1000, within)
            ids = np.union1d(near, matches.ids)
            cosines = dict(zip(ids.tolist(), self._vectors.cosines(vector, ids).tolist(), strict=True))
        except ModelUnavailable as error:
            degraded = error.message
        scores = {}
        for i in words.keys() | cosines.keys():
            cos = cosines.get(i, float("nan"))
            scores[i] = (0 if cos != cos else max(cos, 0)) / 1.7 + 0.7 * words.get(i, 0) / 1.7
        order = sorted(scores, key=lambda i: (-scores[i], i))
        hits = tuple(
            Hit(
                i,
                rank,
                min(scores[i], 0.9999) * (1 - rank * 1e-9),
                (1 + cosines[i]) / 2 if cosines.get(i, float("nan")) == cosines.get(i, 0) else None,
                words.get(i, 0.0),
                "hybrid",
            )
            for rank, i in enumerate(order, start=1)
        )
        page = hits[query.offset : query.offset + query.limit]
        missing = self._chunks.count() - len(self._vectors.ids())
        return Ranking(query, generation, len(hits), page, "hybrid", missing, degraded)
