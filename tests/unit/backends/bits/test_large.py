"""The index beyond the size up to which it reads every vector: scan, filters, dead rows, compaction."""

from pathlib import Path

import numpy as np
import pytest

from trivium.backends.bits import BitsVectorIndex
from trivium.model.embedding import Ids, Vectors

DIMENSION = 256
CHUNKS = 12_000


def clustered(count: int, seed: int) -> Vectors:
    """Vectors as encoders make them: off-centre, in clusters, most variance along few axes."""
    random = np.random.default_rng(seed)
    spread = np.linspace(2, 0.3, DIMENSION)
    centres = np.random.default_rng(1).standard_normal((100, DIMENSION)) * spread
    vectors = centres[random.integers(0, 100, count)] + 0.7 * random.standard_normal((count, DIMENSION)) * spread + 0.4
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


VECTORS = clustered(CHUNKS, seed=2)  # chunk n has row n
QUERIES = clustered(12, seed=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Large enough for signs; nobody writes to it after this."""
    path = tmp_path_factory.mktemp("large")
    index = BitsVectorIndex(path, DIMENSION)
    for start in range(0, CHUNKS, 3000):
        index.apply(((chunk, VECTORS[chunk : chunk + 1]) for chunk in range(start, start + 3000)), [], start + 1)
    return path


def exact(query: Vectors, allowed: Ids, limit: int) -> set[int]:
    scores = VECTORS[allowed] @ query
    return set(allowed[np.argsort(-scores)[:limit]].tolist())


def recall(index: BitsVectorIndex, allowed: Ids, within: Ids | None, limit: int = 50) -> float:
    hits = sum(
        len(exact(query, allowed, limit) & set(index.nearest(query, limit, within)[0].tolist())) for query in QUERIES
    )
    return hits / (limit * len(QUERIES))


def test_a_scan_finds_what_reading_every_vector_finds(folder: Path) -> None:
    index = BitsVectorIndex(folder, DIMENSION)
    assert recall(index, np.arange(CHUNKS), None) >= 0.99
    assert recall(index, np.arange(CHUNKS), None, limit=100) >= 0.99


def test_scanned_scores_are_exact(folder: Path) -> None:
    ids, scores = BitsVectorIndex(folder, DIMENSION).nearest(QUERIES[0], 200)
    assert scores == pytest.approx(VECTORS[ids] @ QUERIES[0], abs=2e-4)
    assert (np.diff(scores) <= 0).all()


def test_a_vector_file_that_is_read_answers_like_one_that_is_mapped(folder: Path) -> None:
    mapped, read = BitsVectorIndex(folder, DIMENSION), BitsVectorIndex(folder, DIMENSION, mapped_bytes=0)
    for query in np.concatenate([QUERIES, QUERIES]):
        assert [part.tolist() for part in read.nearest(query, 300)] == [
            part.tolist() for part in mapped.nearest(query, 300)
        ]


@pytest.mark.parametrize("every", [2, 40])
def test_a_filter_is_kept_and_finds_the_nearest_inside(folder: Path, every: int) -> None:
    index, within = BitsVectorIndex(folder, DIMENSION), np.arange(1, CHUNKS, every)
    assert recall(index, within, within) >= 0.99
    assert np.isin(index.nearest(QUERIES[0], 500, within)[0], within).all()


def test_ids_far_apart_are_filtered_alike(tmp_path: Path) -> None:
    far = 2**40 + 1000 * np.arange(CHUNKS)
    index = BitsVectorIndex(tmp_path, DIMENSION)
    index.apply(((int(chunk), VECTORS[row : row + 1]) for row, chunk in enumerate(far)), [], 1)
    within = far[::2]
    ids, scores = index.nearest(QUERIES[0], 50, within)
    assert np.isin(ids, within).all()
    assert index.cosines(QUERIES[0], ids).tolist() == scores.tolist()


def test_asking_for_all_of_a_large_index_gives_all_of_it(folder: Path) -> None:
    ids, _ = BitsVectorIndex(folder, DIMENSION).nearest(QUERIES[0], 2 * CHUNKS)
    assert sorted(ids.tolist()) == list(range(CHUNKS))


def test_many_passages_a_chunk_still_fill_the_limit(tmp_path: Path) -> None:
    index = BitsVectorIndex(tmp_path, DIMENSION)
    index.apply(((chunk, VECTORS[40 * chunk : 40 * chunk + 40]) for chunk in range(300)), [], 1)
    query = VECTORS[7]
    best = (VECTORS @ query).reshape(300, 40).max(axis=1)
    ids, scores = index.nearest(query, 150)
    assert len(ids) == 150
    assert scores == pytest.approx(best[ids], abs=2e-4)
    assert len(set(np.argsort(-best)[:50].tolist()) - set(ids.tolist())) == 0


def test_removed_neighbours_leave_room_for_the_next_nearest(tmp_path: Path) -> None:
    index = BitsVectorIndex(tmp_path, DIMENSION, least_dead_rows=CHUNKS)
    index.apply(((chunk, VECTORS[chunk : chunk + 1]) for chunk in range(CHUNKS)), [], 1)
    gone = np.unique(np.argsort(-(VECTORS @ QUERIES.T), axis=0)[:60])
    index.apply([], gone.tolist(), 2)
    left = np.setdiff1d(np.arange(CHUNKS), gone)
    assert recall(index, left, None) >= 0.99
    assert not np.isin(index.nearest(QUERIES[0], 1000)[0], gone).any()
    assert recall(index, left, np.arange(CHUNKS)) >= 0.99


def test_compaction_gives_the_room_of_dead_rows_back_and_changes_no_answer(tmp_path: Path) -> None:
    index = BitsVectorIndex(tmp_path, DIMENSION)
    index.apply(((chunk, VECTORS[chunk : chunk + 1]) for chunk in range(CHUNKS)), [], 1)
    reader = BitsVectorIndex(tmp_path, DIMENSION)
    before = sum(file.stat().st_size for file in tmp_path.iterdir())
    index.apply([(1, VECTORS[1:2])], range(0, CHUNKS, 3), 2)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 0.75 * before
    left = np.setdiff1d(np.arange(CHUNKS), np.arange(0, CHUNKS, 3))
    for seen in (index, reader, BitsVectorIndex(tmp_path, DIMENSION)):
        assert seen.ids().tolist() == left.tolist()
        assert recall(seen, left, None) >= 0.99


def test_a_corpus_that_grows_elsewhere_is_still_found(tmp_path: Path) -> None:
    """Axes are fitted to the first chunks, which say nothing about the later ones."""
    index = BitsVectorIndex(tmp_path, DIMENSION, exact_rows=1000)
    narrow = np.zeros((1500, DIMENSION), np.float32)
    narrow[:, :3] = np.random.default_rng(5).standard_normal((1500, 3))
    narrow /= np.linalg.norm(narrow, axis=1, keepdims=True)
    index.apply(((CHUNKS + row, narrow[row : row + 1]) for row in range(1500)), [], 1)
    index.apply(((chunk, VECTORS[chunk : chunk + 1]) for chunk in range(CHUNKS)), [], 2)
    assert recall(index, np.arange(CHUNKS), np.arange(CHUNKS)) >= 0.99
