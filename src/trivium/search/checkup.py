"""Compares the indexes with the store, id by id."""

from dataclasses import dataclass

import numpy as np

from trivium.model.embedding import EmbeddingModel, Ids
from trivium.ports.changes import ChangeLog
from trivium.ports.keywords import KeywordIndex
from trivium.ports.vectors import VectorIndex


@dataclass(frozen=True, slots=True)
class IndexState:
    """`missing` and `surplus` are chunk ids; both empty means that index and store agree exactly."""

    name: str
    chunks: int
    missing: list[int]
    surplus: list[int]

    @property
    def agrees(self) -> bool:
        return not self.missing and not self.surplus


def check_keywords(log: ChangeLog, keywords: KeywordIndex) -> IndexState:
    return _compare("keywords", log.chunk_ids(), keywords.ids())


def check_vectors(log: ChangeLog, vectors: VectorIndex, model: EmbeddingModel) -> IndexState:
    return _compare("vectors", log.chunk_ids(model), vectors.ids())


def _compare(name: str, stored: Ids, indexed: Ids) -> IndexState:
    return IndexState(
        name,
        len(indexed),
        np.setdiff1d(stored, indexed).tolist(),
        np.setdiff1d(indexed, stored).tolist(),
    )
