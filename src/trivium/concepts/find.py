"""Finds concepts by meaning, and those that say the same already."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.concepts import rules
from trivium.errors import InvalidInput, ModelUnavailable
from trivium.model.concept import Concept
from trivium.model.embedding import EmbeddingModel, Ids
from trivium.ports.concept_catalogue import ConceptCatalogue, ConceptChunks, Selection
from trivium.ports.embedder import Embedder
from trivium.ports.vectors import VectorIndex

# Text, how many, among which chunks -> chunk ids and cosines, best first.
Nearest = Callable[[str, int, Ids], Sequence[tuple[int, float]]]

NEAR_DUPLICATE = 0.9  # similarity; 0.7 begins "strongly related", and neighbours in one topic reach 0.85
MAX_QUERY = 10_000
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Similar:
    concept: Concept
    similarity: float  # 0-1, four decimals


class FindConcepts:
    """`model` says which model's cosines `nearest` gives: the bands of similarity are written for all-MiniLM-L6-v2, and
    others are mapped onto them."""

    def __init__(
        self,
        catalogue: ConceptCatalogue,
        chunks: ConceptChunks,
        nearest: Nearest,
        model: Callable[[], EmbeddingModel],
    ) -> None:
        self._catalogue, self._chunks, self._nearest, self._model = catalogue, chunks, nearest, model

    def semantic(self, query: str, wanted: Selection | None = None, limit: int = 10) -> list[Similar]:
        """Most similar first."""
        text = rules.plain_text("query", query)
        if not text or len(text) > MAX_QUERY:
            raise InvalidInput(f"query must be 1-{MAX_QUERY} characters", field="query")
        rules.limited("limit", limit, 1, 50)
        if wanted is not None and wanted.min_certainty is not None:
            rules.bounded("min_certainty", wanted.min_certainty, 0, 100)
        if wanted is None or wanted == Selection():
            return self._similar(text, self._chunks.live(), limit)
        return self._similar(text, self._chunks.matching(wanted), limit)

    def duplicates(self, text: str, limit: int = 3) -> list[Similar]:
        """Concepts that say nearly the same. None where meaning cannot be compared: a warning is not worth an error."""
        try:
            found = self._similar(text, self._chunks.live(), limit)
        except ModelUnavailable:
            return []
        return [hit for hit in found if hit.similarity >= NEAR_DUPLICATE]

    def _similar(self, text: str, within: Ids, limit: int) -> list[Similar]:
        if not len(within):
            return []
        hits = self._nearest(text, limit, within)
        ids = self._chunks.concepts([chunk_id for chunk_id, _ in hits])
        concepts = {concept.concept_id: concept for concept in self._catalogue.get(list(ids.values()))}
        return [
            Similar(concepts[ids[chunk_id]], self._similarity(cosine))
            for chunk_id, cosine in hits
            if chunk_id in ids and ids[chunk_id] in concepts
        ]

    def _similarity(self, cosine: float) -> float:
        model = self._model()
        return round(min(1.0, max(0.0, model.scale * cosine + model.offset)), 4)


class NearestByText:
    """A `Nearest` over the vector index. `catch_up` brings the index to the last write before it is asked."""

    def __init__(self, embedder: Embedder, vectors: VectorIndex, catch_up: Callable[[], object]) -> None:
        self._embedder, self._vectors, self._catch_up = embedder, vectors, catch_up
        self._queries: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = {}

    def __call__(self, text: str, limit: int, within: Ids) -> list[tuple[int, float]]:
        self._catch_up()
        query = self._queries.get(text)
        if query is None:
            query = self._embedder.embed_queries([text])[0]
            if len(self._queries) >= _REMEMBERED:
                self._queries.pop(next(iter(self._queries)), None)
            self._queries[text] = query
        ids, cosines = self._vectors.nearest(query, limit, within)
        return list(zip(ids.tolist(), cosines.tolist(), strict=True))
