"""Changes the files: appends, compacts, fits new axes. Callers hold the folder's lock.

Every step writes data first and commits by one manifest, so it is wholly there after a crash or not at all.
"""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from trivium.backends.bits.directory import RECORD, Records, spans
from trivium.backends.bits.folder import Folder
from trivium.backends.bits.manifest import Manifest
from trivium.backends.bits.signs import Axes, Rows, Words, fitted_axes
from trivium.backends.bits.vectors import Stored, to_stored
from trivium.backends.bits.view import View
from trivium.errors import InvalidInput
from trivium.model.embedding import Vectors

_DEAD_SHARE = 0.25  # of all rows, from which on compaction pays
_REFIT_FACTOR = 4
_SAMPLE_ROWS = 20_000
_BLOCK_ROWS = 8_192
_BATCH_CHUNKS = 1_024


def append(
    folder: Folder, view: View, added: Iterable[tuple[int, Vectors]], removed: Iterable[int], position: int
) -> Manifest:
    """Removals and additions as one commit."""
    manifest = view.manifest
    gone = np.unique(np.fromiter(removed, np.int64))
    records = [(int(chunk), 0, 0) for chunk in gone[view.directory.find(gone) >= 0]]
    rows = _append_vectors(folder, manifest, added, records)
    if records:
        manifest = _more_signs(folder, view, replace(manifest, rows=rows))
        manifest = _more_records(folder, manifest, np.array(records, RECORD))
    manifest = replace(manifest, position=position, origin=manifest.origin or secrets.token_hex(8))
    folder.commit(manifest)
    return manifest


def compacted(folder: Folder, view: View, least_dead_rows: int) -> Manifest | None:
    """Writes the live rows to files of their own, if enough rows are dead."""
    directory = view.directory
    dead = directory.rows - directory.live_rows
    if dead < max(least_dead_rows, _DEAD_SHARE * directory.rows):
        return None
    at = directory.live()
    at = at[np.argsort(directory.first[at])]  # rows keep their order, so neighbours stay neighbours
    count = directory.count[at]
    old = spans(directory.first[at], count)
    records = np.empty(len(at), RECORD)
    records["chunk"], records["first"], records["count"] = directory.chunks[at], np.cumsum(count) - count, count
    manifest = replace(view.manifest, segment=view.manifest.segment + 1, rows=0, records=0, records_crc=0)
    with folder.appending_vectors(manifest) as vectors:
        for block in _blocks(old):
            vectors.write(view.vectors.stored(block))
    manifest = _more_records(folder, replace(manifest, rows=len(old)), records)
    if view.signs is not None:
        buffer = view.signs.buffer
        moved = (np.ascontiguousarray(buffer[:, block].T) for block in _blocks(old))
        manifest = _new_signs(folder, manifest, view.signs.axes, moved)
    folder.commit(manifest)
    return manifest


def refitted(folder: Folder, view: View, exact_rows: int) -> Manifest | None:
    """Fits axes to the corpus and writes all signs anew, once it is large and whenever it has grown manyfold."""
    manifest = view.manifest
    if manifest.rows <= exact_rows or manifest.rows < _REFIT_FACTOR * manifest.trained_rows:
        return None
    live = np.flatnonzero(view.directory.owners >= 0)
    axes = fitted_axes(view.vectors.take(live[:: -(-len(live) // _SAMPLE_ROWS)]))
    blocks = (axes.signs(view.vectors.take(block)) for block in _blocks(np.arange(manifest.rows)))
    manifest = _new_signs(folder, replace(manifest, trained_rows=manifest.rows), axes, blocks)
    folder.commit(manifest)
    return manifest


def _append_vectors(
    folder: Folder, manifest: Manifest, added: Iterable[tuple[int, Vectors]], records: list[tuple[int, int, int]]
) -> int:
    """Writes passages batch by batch, notes their rows in `records` and returns how many rows there are now."""
    rows, file = manifest.rows, None
    with ExitStack() as open_files:
        for batch in _batches(added, folder.dimension):
            file = file or open_files.enter_context(folder.appending_vectors(manifest))
            file.write(np.concatenate([stored for _, stored in batch]))
            for chunk, stored in batch:
                records.append((chunk, rows, len(stored)))
                rows += len(stored)
    return rows


def _batches(added: Iterable[tuple[int, Vectors]], dimension: int) -> Iterator[list[tuple[int, Stored]]]:
    batch: list[tuple[int, Stored]] = []
    for chunk, vectors in added:
        batch.append((int(chunk), _checked(int(chunk), vectors, dimension)))
        if len(batch) == _BATCH_CHUNKS:
            yield batch
            batch = []
    if batch:
        yield batch


def _checked(chunk: int, vectors: Vectors, dimension: int) -> Stored:
    if chunk < 0:
        raise InvalidInput(f"chunk {chunk} cannot be indexed", field="chunk_id", allowed=["0 and above"])
    shape_fits = vectors.ndim == 2 and vectors.shape[1] == dimension
    if not shape_fits or not (np.abs(vectors) <= 1.001).all():  # false for NaN too
        message = f"the vectors of chunk {chunk} (shape {vectors.shape}) are not unit vectors of this index"
        raise InvalidInput(message, field="vectors", allowed=[f"rows of {dimension} numbers between -1 and 1"])
    return to_stored(np.clip(vectors, -1, 1))


def _more_records(folder: Folder, manifest: Manifest, records: Records) -> Manifest:
    with folder.appending_records(manifest) as file:
        file.write(records)
    return replace(manifest, records=manifest.records + len(records), records_crc=file.crc)


def _more_signs(folder: Folder, view: View, manifest: Manifest) -> Manifest:
    """Signs of the rows behind the view, from what was stored of them."""
    start = view.manifest.rows
    if view.signs is None or start == manifest.rows:
        return manifest
    vectors = folder.vectors(manifest)
    with folder.appending_signs(manifest, start) as file:
        for block in _blocks(np.arange(start, manifest.rows)):
            file.write(view.signs.axes.signs(vectors.take(block)))
    return replace(manifest, signs_crc=file.crc)


def _new_signs(folder: Folder, manifest: Manifest, axes: Axes, blocks: Iterable[Words]) -> Manifest:
    manifest = replace(manifest, signs=manifest.signs + 1, signs_crc=0)
    with folder.appending_signs(manifest, 0) as file:
        file.write_head(axes.encoded())
        for block in blocks:
            file.write(block)
    return replace(manifest, signs_crc=file.crc)


def _blocks(rows: Rows) -> Iterator[Rows]:
    return (rows[start : start + _BLOCK_ROWS] for start in range(0, len(rows), _BLOCK_ROWS))
