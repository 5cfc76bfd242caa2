"""Finds concepts by meaning, and those that say the same already."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.concepts import rules
from trivium.errors import BackendUnavailable, InvalidInput
from trivium.model.concept import Concept
from trivium.model.embedding import EmbeddingModel, Ids, Vector
from trivium.ports.concept_catalogue import ConceptCatalogue, Selection
from trivium.ports.concept_chunks import ConceptChunks
from trivium.ports.embedder import Embedder
from trivium.ports.vectors import VectorIndex

# Text, conditions, how many -> concept ids and cosines, best first.
NearestConcepts = Callable[[str, Selection, int], Sequence[tuple[str, float]]]
# Text, how many, among which chunks -> chunk ids and cosines, best first.
NearestChunks = Callable[[str, int, Ids], Sequence[tuple[int, float]]]

NEAR_DUPLICATE = 0.9  # similarity; 0.7 begins "strongly related", and neighbours in one topic reach 0.85
MAX_QUERY = 10_000
_REMEMBERED = 256
_BEST = 200  # the index scores more than this exactly anyway
_BEST_PER_RESULT = 10


@dataclass(frozen=True, slots=True)
class Similar:
    concept: Concept
    similarity: float | None  # 0-1, four decimals; None where only the names were compared


class FindConcepts:
    """`model` says which model's cosines `nearest` gives: the bands of similarity are written for all-MiniLM-L6-v2, and
    others are mapped onto them."""

    def __init__(
        self, catalogue: ConceptCatalogue, nearest: NearestConcepts, model: Callable[[], EmbeddingModel]
    ) -> None:
        self._catalogue, self._nearest, self._model = catalogue, nearest, model

    def semantic(self, query: str, wanted: Selection | None = None, limit: int = 10) -> list[Similar]:
        """Most similar first."""
        text = rules.plain_text("query", query)
        if not text or len(text) > MAX_QUERY:
            raise InvalidInput(f"query must be 1-{MAX_QUERY} characters", field="query")
        rules.limited("limit", limit, 1, 50)
        return self._similar(text, rules.checked_selection(wanted or Selection()), limit)

    def duplicates(self, name: str, explanation: str, limit: int = 3) -> list[Similar]:
        """Concepts that say nearly the same or bear the same name. Where meaning cannot be compared, names alone count:
        a warning is not worth an error."""
        try:
            found = self._similar(f"{name.strip()}. {explanation.strip()}", Selection(), limit)
        except BackendUnavailable:
            found = []
        alike = [hit for hit in found if hit.similarity is not None and hit.similarity >= NEAR_DUPLICATE]
        known = {hit.concept.concept_id for hit in alike}
        named = self._catalogue.select(Selection(name=name.strip()), "created", 20)
        same = [concept for concept in named if concept.name.casefold() == name.strip().casefold()]
        return (alike + [Similar(concept, None) for concept in same if concept.concept_id not in known])[:limit]

    def _similar(self, text: str, wanted: Selection, limit: int) -> list[Similar]:
        hits = self._nearest(text, wanted, limit)
        concepts = {concept.concept_id: concept for concept in self._catalogue.get([hit[0] for hit in hits])}
        # Read after the index was asked: what has been deleted meanwhile is gone here too.
        return [
            Similar(concepts[concept_id], self._similarity(cosine))
            for concept_id, cosine in hits
            if concept_id in concepts and concepts[concept_id].deleted_at is None
        ]

    def _similarity(self, cosine: float) -> float:
        model = self._model()
        return round(min(1.0, max(0.0, model.scale * cosine + model.offset)), 4)


class NearestByChunks:
    """`NearestConcepts` over the index that holds the chunks of everything."""

    def __init__(self, chunks: ConceptChunks, nearest: NearestChunks) -> None:
        self._chunks, self._nearest = chunks, nearest

    def __call__(self, text: str, wanted: Selection, limit: int) -> list[tuple[str, float]]:
        live = self._chunks.live()
        if not len(live):
            return []
        hits = self._nearest(text, limit, live) if wanted == Selection() else self._meeting(text, wanted, limit, live)
        ids = self._chunks.concepts([chunk_id for chunk_id, _ in hits])
        return [(ids[chunk_id], cosine) for chunk_id, cosine in hits if chunk_id in ids]

    def _meeting(self, text: str, wanted: Selection, limit: int, live: Ids) -> Sequence[tuple[int, float]]:
        """Looks through the best of all first, which is cheap and enough for a condition that many meet; for a rare one
        everything that meets it is collected."""
        best = self._nearest(text, max(_BEST, _BEST_PER_RESULT * limit), live)
        ranked = np.array([chunk_id for chunk_id, _ in best], dtype=np.int64)
        meeting = set(self._chunks.matching(wanted, np.sort(ranked)).tolist())
        found = [hit for hit in best if hit[0] in meeting][:limit]
        if len(found) == limit or len(best) >= len(live):
            return found
        within = self._chunks.matching(wanted)
        return self._nearest(text, limit, within) if len(within) else []


class NearestByVectors:
    """`NearestChunks` over a vector index. `catch_up` brings the index to the last write before it is asked. The last
    queries keep their vectors, so that asking again costs no embedding."""

    def __init__(self, embedder: Embedder, vectors: VectorIndex, catch_up: Callable[[], object]) -> None:
        self._embedder, self._vectors, self._catch_up = embedder, vectors, catch_up
        self._queries: dict[str, Vector] = {}

    def __call__(self, text: str, limit: int, within: Ids) -> list[tuple[int, float]]:
        self._catch_up()
        ids, cosines = self._vectors.nearest(self._vector(text), limit, within)
        return list(zip(ids.tolist(), cosines.tolist(), strict=True))

    def _vector(self, text: str) -> Vector:
        known = self._queries.get(text)
        if known is not None:
            return known
        vector: Vector = self._embedder.embed_queries([text])[0]
        if len(self._queries) >= _REMEMBERED:
            self._queries.pop(next(iter(self._queries)), None)
        self._queries[text] = vector
        return vector
