"""Scores to mentions: the best label path under the learned transitions, for a whole batch at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trivium.backends.onnx_extract.encoding import Encoded, Floats
from trivium.model.vendor import ENTITY_TYPES, Mention


def best_paths(scores: Floats, counts: npt.NDArray[np.int64], transitions: Floats) -> npt.NDArray[np.int64]:
    """Viterbi over (batch, units, labels); rows shorter than the longest keep their last state."""
    batch, units, labels = scores.shape
    back = np.zeros((batch, units, labels), np.int64)
    best = scores[:, 0] + transitions[0]
    stay = np.arange(labels)
    for unit in range(1, units):
        total = best[:, :, None] + transitions[None]
        origin = total.argmax(1)
        reached = np.take_along_axis(total, origin[:, None], 1)[:, 0] + scores[:, unit]
        live = (unit < counts)[:, None]
        best = np.where(live, reached, best)
        back[:, unit] = np.where(live, origin, stay)
    paths = np.zeros((batch, units), np.int64)
    paths[:, -1] = best.argmax(1)
    for unit in range(units - 1, 0, -1):
        paths[:, unit - 1] = np.take_along_axis(back[:, unit], paths[:, unit, None], 1)[:, 0]
    return paths


@dataclass(frozen=True, slots=True)
class Lattice:
    """All label paths of a batch, weighed: what is needed to say how likely a part of a path is.

    `steps` are the weights of the labels at each unit, already divided by the unit's share, so that `ahead` (weight of
    everything up to a unit) and `behind` (of everything after it) stay near one.
    """

    steps: Floats
    ahead: Floats
    behind: Floats
    moves: Floats

    def chance(self, row: int, first: int, last: int, path: Sequence[int], inside: int | None, count: int) -> float:
        """Of exactly these units with these labels: the path from `first` to `last`, not going on with `inside`."""
        weight = float(self.ahead[row, first, path[first]])
        for unit in range(first + 1, last + 1):
            weight *= float(self.moves[path[unit - 1], path[unit]] * self.steps[row, unit, path[unit]])
        if last + 1 >= count:
            return weight
        after = self.moves[path[last]] * self.steps[row, last + 1] * self.behind[row, last + 1]
        return weight * float(after.sum() - (after[inside] if inside is not None else 0.0))


def lattice(scores: Floats, counts: npt.NDArray[np.int64], transitions: Floats) -> Lattice:
    """Forward and backward over (batch, units, labels)."""
    batch, units, _ = scores.shape
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    moves = np.exp(transitions)
    ahead, behind = np.empty_like(weights), np.ones_like(weights)
    shares = np.ones((batch, units, 1), np.float32)
    now = weights[:, 0] * moves[0]
    for unit in range(units):
        now = now if unit == 0 else (now @ moves) * weights[:, unit]
        shares[:, unit] = np.maximum(now.sum(-1, keepdims=True), 1e-30)
        now = now / shares[:, unit]
        ahead[:, unit] = now
    steps = weights / shares
    for unit in range(units - 1, 0, -1):
        before = (steps[:, unit] * behind[:, unit]) @ moves.T
        behind[:, unit - 1] = np.where((unit < counts)[:, None], before, 1.0)
    return Lattice(steps, ahead, behind, moves)


def mentions_of(
    encoded: Sequence[Encoded], scores: Floats, labels: Sequence[str], transitions: Floats
) -> list[tuple[list[Mention], list[tuple[int, int]]]]:
    """Each row's mentions, and the units they cover (first, last). `scores` are per token."""
    counts = np.array([len(e.firsts) for e in encoded])
    firsts = np.zeros((len(encoded), int(counts.max())), np.int64)
    for row, item in enumerate(encoded):
        firsts[row, : counts[row]] = item.firsts
    by_unit = np.take_along_axis(scores, firsts[..., None], 1)
    paths = best_paths(by_unit, counts, transitions)
    weighed = lattice(by_unit, counts, transitions)
    return [_row(item, paths[row, : counts[row]].tolist(), weighed, row, labels) for row, item in enumerate(encoded)]


def _row(
    item: Encoded, path: list[int], weighed: Lattice, row: int, labels: Sequence[str]
) -> tuple[list[Mention], list[tuple[int, int]]]:
    spans: list[tuple[int, int]] = []
    kinds: list[str] = []
    for unit, label in enumerate(path):
        name = labels[label]
        if name[0] == "B":
            spans.append((unit, unit))
            kinds.append(name[2:])
        elif name[0] == "I":
            spans[-1] = (spans[-1][0], unit)
    mentions = []
    for (first, last), kind in zip(spans, kinds, strict=True):
        chance = weighed.chance(row, first, last, path, labels.index(f"I-{kind}"), len(path))
        entity_type = next(known for known in ENTITY_TYPES if known == kind)
        start, end = item.units[first][0], item.units[last][1]
        mentions.append(Mention(start, end, entity_type, round(min(max(chance, 0.0), 1.0), 4)))
    return mentions, spans


def softmax(values: Floats) -> Floats:
    shifted = np.exp(values - values.max(-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(-1, keepdims=True), np.float32)
