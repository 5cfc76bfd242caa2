"""Sign bits: what a vector looks like from a distance.

A vector is centred, turned onto the corpus's own axes (`Axes`, the strongest first) and kept as one bit an axis. The
scan counts differing bits over the first words of every row, weighs the differing bits of the best by how much each
axis matters to this query, and leaves a few rows to be scored exactly. docs/decisions/vector-index.md has the
measurements.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trivium.model.embedding import Vector, Vectors

Rows = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Distances = npt.NDArray[np.uint8]
Hidden = npt.NDArray[np.uint8]  # of every row: 255 where it must not be found, 0 where it may

_PREFIX_BITS = 256  # what the scan reads of every row
_BLOCK_ROWS = 32_768  # two buffers of it stay in the second-level cache
_CUTOFF_SAMPLE = 16_384
_PLANES = 4  # bits a weight is rounded to; three lose recall, more gain nothing


def words_of(dimension: int) -> int:
    return -(-dimension // 64)


@dataclass(frozen=True, slots=True)
class Axes:
    """Where a corpus lies. `turn` has orthonormal columns, ordered so that the first words of bits say most."""

    mean: Vector
    turn: Vectors
    spread: Vector  # mean distance from the centre along each axis

    def turned(self, vectors: Vectors) -> Vectors:
        return np.asarray((vectors - self.mean) @ self.turn, np.float32)

    def signs(self, vectors: Vectors) -> Words:
        """Row-major, padded with zero bits to whole words."""
        return _packed(self.turned(vectors) > 0)

    def encoded(self) -> bytes:
        return np.concatenate([self.mean[None], self.spread[None], self.turn]).astype("<f4").tobytes()

    @staticmethod
    def decoded(content: bytes, dimension: int) -> "Axes":
        table = np.frombuffer(content, "<f4").reshape(dimension + 2, dimension)
        return Axes(table[0], table[2:], table[1])

    @staticmethod
    def size(dimension: int) -> int:
        return 4 * dimension * (dimension + 2)


def fitted_axes(sample: Vectors) -> Axes:
    """Principal axes, the strongest first, mixed at random among those of the prefix and among the rest: bits of a
    group then matter equally, which is what counting them assumes. Seeded: the same sample gives the same axes."""
    mean = sample.mean(axis=0)
    centred = sample - mean
    _, principal = np.linalg.eigh(centred.T @ centred)
    turn = principal[:, ::-1].astype(np.float32)
    random = np.random.default_rng(0)
    for group in (turn[:, :_PREFIX_BITS], turn[:, _PREFIX_BITS:]):
        mix, _ = np.linalg.qr(random.standard_normal((group.shape[1], group.shape[1])))
        group[:] = group @ mix.astype(np.float32)
    return Axes(mean, np.ascontiguousarray(turn), np.abs(centred @ turn).mean(axis=0))


@dataclass(frozen=True, slots=True)
class Probe:
    """A query as the scan sees it: its bits, and per plane the bits of its rounded weights."""

    signs: Words
    planes: Words  # (plane, word)

    @staticmethod
    def of(query: Vector, axes: Axes) -> "Probe":
        turned = axes.turned(query[None])[0]
        weight = np.abs(turned) * axes.spread
        top = 2**_PLANES - 1
        rounded = np.rint(weight * (top / max(float(weight.max()), 1e-30))).astype(np.uint8)
        planes = (rounded >> np.arange(_PLANES, dtype=np.uint8)[:, None]) & 1
        return Probe(_packed(turned[None] > 0)[0], _packed(planes.astype(np.bool_)))


def differing(columns: Words, probe: Probe, rows: int) -> Distances:
    """Of every row, how many bits of the prefix differ from the probe's. All 256 differing wraps to 0, which does no
    harm: weighing throws such a row out again."""
    total = np.empty(rows, np.uint8)
    xor, count = np.empty(_BLOCK_ROWS, np.uint64), np.empty(_BLOCK_ROWS, np.uint8)
    for start in range(0, rows, _BLOCK_ROWS):
        stop = min(rows, start + _BLOCK_ROWS)
        here, x, c = total[start:stop], xor[: stop - start], count[: stop - start]
        np.bitwise_count(np.bitwise_xor(columns[0, start:stop], probe.signs[0], out=x), out=here)
        for word in range(1, min(len(columns), _PREFIX_BITS // 64)):
            np.bitwise_xor(columns[word, start:stop], probe.signs[word], out=x)
            np.add(here, np.bitwise_count(x, out=c), out=here)
    return total


def weighted(columns: Words, probe: Probe, rows: Rows) -> npt.NDArray[np.uint32]:
    """Of these rows, the summed weights of all bits that differ from the probe's."""
    differs = columns.take(rows, axis=1)
    differs ^= probe.signs[:, None]
    total = np.zeros(len(rows), np.uint32)
    for plane in probe.planes[::-1, :, None]:
        total <<= 1
        total += np.add.reduce(np.bitwise_count(differs & plane), axis=0, dtype=np.uint16)
    return total


def lowest(distance: Distances, wanted: int) -> Rows:
    """At least `wanted` rows (or all) with the lowest distance: every row up to the cutoff."""
    return np.flatnonzero(distance <= _cutoff(distance, wanted))


def _cutoff(distance: Distances, wanted: int) -> int:
    """A guess from a sample, then counting: far cheaper than partitioning or a histogram of all rows."""
    step = len(distance) // _CUTOFF_SAMPLE + 1
    sample = np.sort(distance[::step])
    cutoff = int(sample[min(wanted // step, len(sample) - 1)])
    while cutoff < 255 and np.count_nonzero(distance <= cutoff) < wanted:
        cutoff += 1
    return cutoff


def _packed(bits: npt.NDArray[np.bool_]) -> Words:
    padded = np.zeros((len(bits), words_of(bits.shape[1]) * 8), np.uint8)
    packed = np.packbits(bits, axis=1)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8")
