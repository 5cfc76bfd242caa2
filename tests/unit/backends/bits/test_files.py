"""What the index does about its files: damage, leftovers, foreign content, several processes."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trivium.backends.bits import BitsVectorIndex
from trivium.errors import BackendUnavailable, IndexDamaged, InvalidInput, ModelMismatch

QUERY = np.eye(8, dtype=np.float32)[0]


def passages(seed: int, count: int = 1) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, 8)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def opened(folder: Path) -> BitsVectorIndex:
    return BitsVectorIndex(folder, 8, exact_rows=10, least_dead_rows=1000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index = opened(tmp_path)
    index.apply([(chunk, passages(chunk)) for chunk in range(40)], [], 3)
    index.apply([(50, passages(50))], [7], 4)
    return tmp_path


def only(folder: Path, pattern: str) -> Path:
    (file,) = folder.glob(pattern)
    return file


@pytest.mark.parametrize("pattern", ["vectors-*", "chunks-*", "signs-*"])
def test_a_file_cut_short_is_named_with_the_way_out(folder: Path, pattern: str) -> None:
    file = only(folder, pattern)
    os.truncate(file, file.stat().st_size - 1)
    with pytest.raises(IndexDamaged, match=file.name) as caught:
        opened(folder)
    assert "trivium reindex" in str(caught.value.hint)


@pytest.mark.parametrize("pattern", ["vectors-*", "chunks-*", "signs-*"])
def test_a_missing_file_is_named_with_the_way_out(folder: Path, pattern: str) -> None:
    file = only(folder, pattern)
    file.unlink()
    with pytest.raises(IndexDamaged, match=file.name) as caught:
        opened(folder)
    assert "trivium reindex" in str(caught.value.hint)


@pytest.mark.parametrize("pattern", ["chunks-*", "signs-*", "manifest.json"])
def test_a_flipped_bit_is_noticed(folder: Path, pattern: str) -> None:
    file = only(folder, pattern)
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    file.write_bytes(content)
    with pytest.raises(IndexDamaged, match=file.name):
        opened(folder)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"format": "other", "checksum": 1}', b"\x00\xff"])
def test_a_foreign_manifest_is_refused(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(IndexDamaged, match=r"manifest\.json"):
        opened(folder)


def test_vectors_of_another_size_are_another_models(folder: Path) -> None:
    with pytest.raises(ModelMismatch, match=r"8 numbers.* 9") as caught:
        BitsVectorIndex(folder, 9)
    assert "trivium reindex" in str(caught.value.hint)


def test_bytes_beyond_the_manifest_do_not_exist_and_are_overwritten(folder: Path) -> None:
    before = opened(folder).nearest(QUERY, 100)
    for pattern in ("vectors-*", "chunks-*", "signs-*"):
        with only(folder, pattern).open("ab") as file:
            file.write(b"\xff" * 1001)
    index = opened(folder)
    assert [part.tolist() for part in index.nearest(QUERY, 100)] == [part.tolist() for part in before]
    index.apply([(60, QUERY[None])], [], 5)
    assert opened(folder).nearest(QUERY, 1)[0].tolist() == [60]
    assert opened(folder).ids().tolist() == index.ids().tolist()


def test_files_of_a_compaction_that_never_ended_do_no_harm(folder: Path) -> None:
    for name in ("vectors-2.i16", "chunks-2.log", "signs-2.bits", "manifest.json.new"):
        (folder / name).write_bytes(b"\xff" * 5000)
    index = BitsVectorIndex(folder, 8, exact_rows=10, least_dead_rows=1)
    index.apply([], range(30), 5)
    assert opened(folder).ids().tolist() == index.ids().tolist() == [*range(30, 40), 50]


def test_an_index_built_anew_in_its_place_is_noticed(folder: Path) -> None:
    reader = opened(folder)
    shutil.rmtree(folder)
    assert (reader.position, reader.ids().tolist()) == (0, [])
    opened(folder).apply([(chunk, passages(chunk)) for chunk in range(100, 160)], [], 2)
    assert reader.ids().tolist() == list(range(100, 160))
    shutil.rmtree(folder)
    reader.apply([(1, passages(1))], [], 3)
    assert reader.ids().tolist() == opened(folder).ids().tolist() == [1]


def test_a_folder_that_cannot_be_one_is_an_unavailable_backend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here first")
    with pytest.raises(BackendUnavailable, match="file"):
        BitsVectorIndex(tmp_path / "file", 8)


def test_a_full_disk_changes_nothing_and_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = opened(folder)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(BackendUnavailable, match="No space left"):
            index.apply([(99, passages(99))], [1], 9)
    assert index.position == opened(folder).position == 4
    index.apply([(98, passages(98))], [], 5)
    assert {1, 98} <= set(opened(folder).ids().tolist())


@pytest.mark.parametrize(
    "vectors",
    [np.ones((1, 9), np.float32), np.ones(8, np.float32), np.full((1, 8), np.nan, np.float32), 2 * QUERY[None]],
    ids=["too wide", "one-dimensional", "not a number", "not unit length"],
)
def test_what_is_no_unit_vector_of_this_index_is_refused(folder: Path, vectors: np.ndarray) -> None:
    index = opened(folder)
    with pytest.raises(InvalidInput, match="chunk 5") as caught:
        index.apply([(5, vectors)], [], 5)
    assert caught.value.field == "vectors"
    assert index.position == 4


def test_a_query_of_another_size_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\(9,\)"):
        opened(folder).nearest(np.ones(9, np.float32), 3)


def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    program = """
import sys, pathlib, numpy as np
from trivium.backends.bits import BitsVectorIndex
index = BitsVectorIndex(pathlib.Path(sys.argv[1]), 8, exact_rows=10, least_dead_rows=5)
for chunk in range(int(sys.argv[2]), 60, 2):
    index.apply([(chunk, np.eye(8, dtype=np.float32)[:1])], [chunk - 20], chunk)
"""
    children = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path), str(start)]) for start in (0, 1)]
    assert [child.wait() for child in children] == [0, 0]
    assert opened(tmp_path).ids().tolist() == list(range(40, 60))
