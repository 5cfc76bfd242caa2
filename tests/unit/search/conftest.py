"""A small library in memory: real indexes, chunks in a dictionary, the deterministic embedder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from trivium.backends.bits import BitsVectorIndex
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.tantivy import TantivyKeywordIndex
from trivium.errors import ModelUnavailable
from trivium.model.chunk import Chunk
from trivium.model.embedding import Ids, Vectors
from trivium.model.filters import Filter, fields_of, matches
from trivium.ports.keywords import KeywordRow
from trivium.search.hybrid import HybridSearch

PLAIN = Chunk(0, "documents", "a.md", None, "", 0, 1, "", "", 5, 0, 5, None, "", {})


class MemoryChunks:
    def __init__(self) -> None:
        self.held: dict[int, Chunk] = {}
        self.writes = 0

    def get(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        return [self.held[chunk_id] for chunk_id in chunk_ids if chunk_id in self.held]

    def select(self, condition: Filter) -> Ids:
        return np.array(
            sorted(key for key, chunk in self.held.items() if matches(condition, fields_of(chunk))), np.int64
        )

    def count(self) -> int:
        return len(self.held)

    def generation(self) -> int:
        return self.writes


class Weights(HashingEmbedder):
    """Can lose its weights."""

    are_there = True

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if not self.are_there:
            raise ModelUnavailable("no weights for hashing-64")
        return super().embed_queries(texts)


class Library:
    """Everything a search is made of; `search` builds one over it with further options."""

    def __init__(self, path: Path) -> None:
        self.embedder = Weights()
        self.vectors = BitsVectorIndex(path / "vectors", 64)
        self.keywords = TantivyKeywordIndex(path / "keywords")
        self.chunks = MemoryChunks()

    def add(self, texts: Mapping[int, str], *, with_vectors: bool = True, **values: object) -> None:
        position = self.chunks.writes = self.chunks.writes + 1
        for key, text in texts.items():
            self.chunks.held[key] = replace(PLAIN, chunk_id=key, text=text, **values)  # type: ignore[arg-type]
        self.keywords.apply([KeywordRow(key, "", text) for key, text in texts.items()], [], position)
        rows = self.embedder.embed_passages(list(texts.values())) if with_vectors else []
        self.vectors.apply([(key, row[None]) for key, row in zip(texts, rows, strict=False)], [], position)

    def search(self, **options: object) -> HybridSearch:
        return HybridSearch(self.vectors, self.keywords, self.chunks, self.embedder, **options)  # type: ignore[arg-type]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """1300 chunks: more than the first stage of any search ranks."""
    library = Library(tmp_path_factory.mktemp("many"))
    random = np.random.default_rng(7)
    words = [f"word{number}" for number in range(60)]
    library.add({key: " ".join(random.choice(words, 12)) for key in range(1, 1201)})
    library.add({key: " ".join(random.choice(words, 12)) for key in range(1201, 1301)}, with_vectors=False)
    return library


Pages = Callable[[str], list[int]]
