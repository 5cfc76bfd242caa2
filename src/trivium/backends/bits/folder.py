"""Files of the index: appended behind what the manifest counts, then counted by a new manifest.

A crash in between leaves bytes no manifest counts; the next writer cuts them off. Nothing that is counted is ever
changed, so readers of other processes need no lock.
"""

import mmap
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.backends.bits import manifest as manifests
from trivium.backends.bits.directory import RECORD, Records
from trivium.backends.bits.manifest import REBUILD, Manifest
from trivium.backends.bits.signs import Axes, Words, words_of
from trivium.backends.bits.vectors import Stored, VectorFile, row_bytes
from trivium.errors import IndexDamaged


@dataclass(frozen=True, slots=True)
class Commit:
    """A manifest as read. The map keeps its inode from being used again: another inode is another commit."""

    manifest: Manifest
    held: mmap.mmap | None
    inode: int


class Folder:
    def __init__(self, path: Path, dimension: int, mapped_bytes: int) -> None:
        self.path = path
        self._mapped_bytes = mapped_bytes
        self.dimension = dimension
        self.lock_file = path / "writer.lock"
        self._manifest_file = path / manifests.NAME
        self.create()

    def create(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)

    # what is committed

    def inode(self) -> int:
        try:
            return os.stat(self._manifest_file).st_ino
        except FileNotFoundError:
            return 0

    def commit_in_force(self) -> Commit:
        try:
            with self._manifest_file.open("rb") as file:
                manifest = manifests.decoded(file.read(), self._manifest_file, self.dimension)
                held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                return Commit(manifest, held, os.fstat(file.fileno()).st_ino)
        except FileNotFoundError:
            return Commit(Manifest(self.dimension), None, 0)

    def vectors(self, manifest: Manifest) -> VectorFile:
        return VectorFile(self.vectors_file(manifest), manifest.rows, self.dimension, self._mapped_bytes)

    def records(self, manifest: Manifest, start: int = 0, crc: int = 0) -> Records:
        file = self.records_file(manifest)
        content = _read(file, start * RECORD.itemsize, (manifest.records - start) * RECORD.itemsize)
        if zlib.crc32(content, crc) != manifest.records_crc:
            raise IndexDamaged(f"{file} is not what this index wrote", hint=REBUILD)
        return np.frombuffer(content, RECORD)

    def axes(self, manifest: Manifest) -> Axes:
        return Axes.decoded(_read(self.signs_file(manifest), 0, Axes.size(self.dimension)), self.dimension)

    def signs(self, manifest: Manifest, start: int = 0, crc: int = 0) -> Words:
        words, file = words_of(self.dimension), self.signs_file(manifest)
        offset = Axes.size(self.dimension) + start * words * 8
        content = _read(file, offset, (manifest.rows - start) * words * 8)
        if zlib.crc32(content, crc) != manifest.signs_crc:
            raise IndexDamaged(f"{file} is not what this index wrote", hint=REBUILD)
        return np.frombuffer(content, "<u8").reshape(-1, words)

    # what is about to be

    def commit(self, manifest: Manifest) -> None:
        manifests.replace(self.path, manifest)

    def clean(self, manifest: Manifest) -> None:
        """Removes files of earlier numbers. Readers that have them open keep them."""
        used = {self.vectors_file(manifest), self.records_file(manifest), self.signs_file(manifest)}
        for pattern in ("vectors-*", "chunks-*", "signs-*"):
            for file in self.path.glob(pattern):
                if file not in used:
                    file.unlink(missing_ok=True)

    def vectors_file(self, manifest: Manifest) -> Path:
        return self.path / f"vectors-{manifest.segment}.i16"

    def records_file(self, manifest: Manifest) -> Path:
        return self.path / f"chunks-{manifest.segment}.log"

    def signs_file(self, manifest: Manifest) -> Path:
        return self.path / f"signs-{manifest.signs}.bits"

    def appending_vectors(self, manifest: Manifest) -> "Appending":
        return Appending(self.vectors_file(manifest), manifest.rows * row_bytes(self.dimension))

    def appending_records(self, manifest: Manifest) -> "Appending":
        return Appending(self.records_file(manifest), manifest.records * RECORD.itemsize, manifest.records_crc)

    def appending_signs(self, manifest: Manifest, rows: int) -> "Appending":
        start = Axes.size(self.dimension) + rows * words_of(self.dimension) * 8
        return Appending(self.signs_file(manifest), start, manifest.signs_crc)


class Appending:
    """A file being written from `start` on; whatever lay behind is cut off first. Durable once the block is left."""

    def __init__(self, path: Path, start: int, crc: int = 0) -> None:
        self.crc = crc
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b")
        self._file.truncate(start)
        self._file.seek(start)

    def write(self, rows: Stored | Words | Records) -> None:
        content = np.ascontiguousarray(rows).tobytes()
        self.crc = zlib.crc32(content, self.crc)
        self._file.write(content)

    def write_head(self, content: bytes) -> None:
        self._file.seek(0)
        self._file.write(content)

    def __enter__(self) -> "Appending":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._file:
            if kind is None:
                self._file.flush()
                os.fsync(self._file.fileno())


def _read(file: Path, offset: int, size: int) -> bytes:
    if not size:
        return b""
    with file.open("rb") as stream:
        stream.seek(offset)
        content = stream.read(size)
    if len(content) < size:
        raise IndexDamaged(f"{file} is shorter than its manifest says", hint=REBUILD)
    return content
