"""What every VectorIndex promises, run on each backend."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from vector_backends import BACKENDS, DIMENSION, REMOTE, Backend, state_at, step

from trivium.model.embedding import Vectors
from trivium.ports.vectors import VectorIndex

Opener = Callable[[], VectorIndex]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
def open_index(backend: Backend, tmp_path: Path) -> Opener:
    return lambda: backend(tmp_path / "vectors")


def axis(*numbers: int) -> Vectors:
    """Passages along these axes: their cosines are exactly 1 and 0."""
    return np.eye(DIMENSION, dtype=np.float32)[list(numbers)]


def leaning(cosine: float) -> Vectors:
    """A passage with this cosine to axis 0."""
    vector = np.zeros((1, DIMENSION), np.float32)
    vector[0, :2] = cosine, (1 - cosine**2) ** 0.5
    return vector


QUERY = axis(0)[0]
HALF_PRECISION = 2e-4  # what rounding two large components to half precision may cost; many small ones cost far less


@pytest.fixture
def index(open_index: Opener) -> VectorIndex:
    """Five chunks; the nearer to the query, the lower the id."""
    filled = open_index()
    filled.apply([(chunk, leaning(1 - chunk / 10)) for chunk in (1, 2, 3, 4, 5)], [], 5)
    return filled


def found(index: VectorIndex, limit: int = 10, within: Sequence[int] | None = None) -> list[int]:
    allowed = None if within is None else np.array(within, np.int64)
    return index.nearest(QUERY, limit, allowed)[0].tolist()


def cosines(index: VectorIndex, *chunks: int) -> list[float]:
    return index.cosines(QUERY, np.array(chunks, np.int64)).tolist()


def test_a_new_index_is_empty_and_stands_at_zero(open_index: Opener) -> None:
    index = open_index()
    assert index.position == 0
    assert index.ids().tolist() == []
    assert found(index) == []
    assert np.isnan(cosines(index, 1)).all()


def test_the_nearest_come_best_first_with_their_cosines(index: VectorIndex) -> None:
    ids, scores = index.nearest(QUERY, 3)
    assert ids.tolist() == [1, 2, 3]
    assert scores == pytest.approx([0.9, 0.8, 0.7], abs=HALF_PRECISION)
    assert (ids.dtype, scores.dtype) == (np.int64, np.float32)


def test_a_limit_beyond_the_index_gives_everything(index: VectorIndex) -> None:
    assert found(index, limit=1000) == [1, 2, 3, 4, 5]


def test_a_limit_of_zero_gives_nothing(index: VectorIndex) -> None:
    assert found(index, limit=0) == []


def test_ties_go_to_the_lower_id(open_index: Opener) -> None:
    index = open_index()
    index.apply([(chunk, leaning(0.3)) for chunk in (9, 2, 7, 4, 1)], [], 1)
    assert found(index) == [1, 2, 4, 7, 9]
    assert found(index, limit=2) == [1, 2]


def test_a_chunk_scores_by_its_best_passage_and_counts_once(open_index: Opener) -> None:
    index = open_index()
    index.apply([(1, np.concatenate([axis(3, 4), leaning(0.9)])), (2, leaning(0.8)), (3, axis(5))], [], 1)
    ids, scores = index.nearest(QUERY, 2)
    assert ids.tolist() == [1, 2]
    assert scores == pytest.approx([0.9, 0.8], abs=HALF_PRECISION)
    assert cosines(index, 1) == pytest.approx([0.9], abs=HALF_PRECISION)


def test_adding_a_chunk_again_replaces_its_passages(index: VectorIndex) -> None:
    index.apply([(1, leaning(0.1))], [], 6)
    assert found(index) == [2, 3, 4, 5, 1]
    assert cosines(index, 1) == pytest.approx([0.1], abs=HALF_PRECISION)


def test_the_last_of_two_additions_in_one_call_counts(index: VectorIndex) -> None:
    index.apply([(6, leaning(0.95)), (6, leaning(0.05))], [], 6)
    assert found(index)[-1] == 6
    assert index.ids().tolist() == [1, 2, 3, 4, 5, 6]


def test_a_chunk_removed_and_added_in_one_call_is_there(index: VectorIndex) -> None:
    index.apply([(1, leaning(0.1))], [1, 2], 6)
    assert found(index) == [3, 4, 5, 1]


def test_a_chunk_without_passages_is_not_there(index: VectorIndex) -> None:
    index.apply([(1, axis()), (8, axis())], [], 6)
    assert index.ids().tolist() == [2, 3, 4, 5]


def test_removed_chunks_are_gone_and_unknown_ones_are_no_matter(index: VectorIndex) -> None:
    index.apply([], [2, 77, 4, 2], 6)
    assert index.ids().tolist() == [1, 3, 5]
    assert found(index) == [1, 3, 5]
    assert np.isnan(cosines(index, 2)).all()
    assert index.position == 6


def test_everything_removed_leaves_an_index_that_works(index: VectorIndex) -> None:
    index.apply([], range(10), 6)
    assert found(index) == []
    index.apply([(3, leaning(0.5))], [], 7)
    assert found(index) == [3]


def test_nothing_but_a_position_moves_the_position(index: VectorIndex, open_index: Opener) -> None:
    index.apply([], [], 9)
    assert index.position == open_index().position == 9
    assert found(index) == [1, 2, 3, 4, 5]


def test_within_limits_the_answer_to_these_chunks(index: VectorIndex) -> None:
    assert found(index, within=[2, 5, 80]) == [2, 5]
    assert found(index, within=[1, 2, 4, 5], limit=3) == [1, 2, 4]
    assert found(index, within=[80]) == []
    assert found(index, within=[]) == []


def test_cosines_come_in_the_order_asked_with_nan_for_the_missing(index: VectorIndex) -> None:
    scores = cosines(index, 5, 80, 1, 5, 0)
    assert scores == pytest.approx([0.5, np.nan, 0.9, 0.5, np.nan], abs=HALF_PRECISION, nan_ok=True)
    assert cosines(index) == []


def test_nearest_and_cosines_agree_to_the_last_bit(index: VectorIndex) -> None:
    ids, scores = index.nearest(QUERY, 4)
    assert index.cosines(QUERY, ids).tolist() == scores.tolist()


def test_chunks_and_position_survive_reopening(index: VectorIndex, open_index: Opener) -> None:
    index.apply([(9, leaning(0.99))], [3], 6)
    again = open_index()
    assert again.position == 6
    assert again.ids().tolist() == [1, 2, 4, 5, 9]
    assert found(again) == [9, 1, 2, 4, 5]


def test_what_one_instance_writes_another_finds_at_once(open_index: Opener) -> None:
    writer, reader = open_index(), open_index()
    for chunk in range(1, 9):
        writer.apply([(chunk, leaning(chunk / 10))], [chunk - 3], chunk)
        assert reader.position == chunk
        assert reader.ids().tolist() == writer.ids().tolist()
        assert found(reader) == sorted(reader.ids().tolist(), reverse=True)


def test_two_instances_write_in_turn(open_index: Opener) -> None:
    one, other = open_index(), open_index()
    one.apply([(1, leaning(0.1))], [], 1)
    other.apply([(2, leaning(0.2))], [], 2)
    one.apply([(3, leaning(0.3))], [1], 3)
    assert found(one) == found(other) == [3, 2]


def test_an_apply_that_fails_midway_leaves_nothing_behind(index: VectorIndex, open_index: Opener) -> None:
    def breaking() -> object:
        yield 6, leaning(0.99)
        raise RuntimeError("the embedder gave up")

    with pytest.raises(RuntimeError):
        index.apply(breaking(), [1], 6)  # type: ignore[arg-type]
    for seen in (index, open_index()):
        assert seen.position == 5
        assert found(seen) == [1, 2, 3, 4, 5]
    index.apply([(7, leaning(0.95))], [], 7)
    assert found(open_index()) == [7, 1, 2, 3, 4, 5]


POOL = np.random.default_rng(7).standard_normal((12, DIMENSION)).astype(np.float32)
POOL /= np.linalg.norm(POOL, axis=1, keepdims=True)  # so few that equal scores mean equal vectors
chunk_ids = st.integers(0, 30)
passages = st.lists(st.integers(0, len(POOL) - 1), min_size=1, max_size=3)


class Model(RuleBasedStateMachine):
    """The index beside a plain dictionary."""

    backend: Backend

    @initialize()
    def start(self) -> None:
        self.folder = TemporaryDirectory()
        self.index = self.backend(Path(self.folder.name))
        self.chunks: dict[int, list[int]] = {}
        self.position = 0

    @rule(added=st.dictionaries(chunk_ids, passages, max_size=8), removed=st.lists(chunk_ids, max_size=8))
    def apply(self, added: dict[int, list[int]], removed: list[int]) -> None:
        self.position += 1
        self.index.apply([(chunk, POOL[rows]) for chunk, rows in added.items()], removed, self.position)
        self.chunks = {chunk: rows for chunk, rows in self.chunks.items() if chunk not in removed} | added

    @rule()
    def reopen(self) -> None:
        self.index = self.backend(Path(self.folder.name))

    @rule(query=st.integers(0, len(POOL) - 1), limit=st.integers(0, 40), within=st.none() | st.sets(chunk_ids))
    def search(self, query: int, limit: int, within: set[int] | None) -> None:
        scores = self.expected(query)
        ranked = sorted(
            (chunk for chunk in scores if within is None or chunk in within), key=lambda chunk: (-scores[chunk], chunk)
        )[:limit]
        allowed = None if within is None else np.array(sorted(within), np.int64)
        ids, got = self.index.nearest(POOL[query], limit, allowed)
        assert ids.tolist() == ranked
        assert got == pytest.approx([scores[chunk] for chunk in ranked], abs=1e-3)

    @rule(query=st.integers(0, len(POOL) - 1), asked=st.lists(chunk_ids))
    def compare(self, query: int, asked: list[int]) -> None:
        scores = self.expected(query)
        got = self.index.cosines(POOL[query], np.array(asked, np.int64))
        assert got == pytest.approx([scores.get(chunk, np.nan) for chunk in asked], abs=1e-3, nan_ok=True)

    @invariant()
    def holds_what_was_applied(self) -> None:
        assert self.index.ids().tolist() == sorted(self.chunks)
        assert self.index.position == self.position

    def expected(self, query: int) -> dict[int, float]:
        similar = np.round((POOL @ POOL[query]).astype(np.float64), 5)
        return {chunk: float(similar[rows].max()) for chunk, rows in self.chunks.items()}

    def teardown(self) -> None:
        self.folder.cleanup()


def test_any_history_leaves_what_a_dictionary_would_hold(backend: Backend) -> None:
    machine = type("Machine", (Model,), {"backend": staticmethod(backend)})
    run_state_machine_as_test(machine, settings=settings(max_examples=15, stateful_step_count=15, deadline=None))


@pytest.mark.parametrize("name", BACKENDS)
def test_kill_9_leaves_the_state_before_or_after(name: str, tmp_path: Path) -> None:
    """A remote index: or a mixture of both under the old position, which applying the call again makes whole."""
    BACKENDS[name](tmp_path)
    for acknowledgements in (1, 7, 2, 4):
        program = [sys.executable, str(Path(__file__).with_name("vector_backends.py")), name, str(tmp_path)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            seen = [int(child.stdout.readline()) for _ in range(acknowledgements)]
            os.kill(child.pid, signal.SIGKILL)
            seen += [int(line) for line in child.stdout.read().split()]
        index = BACKENDS[name](tmp_path)
        assert index.position in (seen[-1], seen[-1] + 1)
        if name in REMOTE:
            added, removed = step(index.position + 1)
            index.apply(added.items(), removed, index.position + 1)
        expected = state_at(index.position)
        ids = index.ids()
        assert ids.tolist() == sorted(expected)
        for query in np.eye(DIMENSION, dtype=np.float32)[:3]:
            wanted = [float(expected[chunk][0] @ query) for chunk in ids.tolist()]
            assert index.cosines(query, ids) == pytest.approx(wanted, abs=1e-3)
