"""Scores to mentions: the best label path under the learned transitions, for a whole batch at once."""

from collections.abc import Sequence
from typing import Any

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
    chances = _softmax(by_unit)
    certain = np.take_along_axis(chances, paths[..., None], 2)[..., 0]
    return [_row(item, paths[row, : counts[row]].tolist(), certain[row], labels) for row, item in enumerate(encoded)]


def _row(
    item: Encoded, path: list[int], certain: npt.NDArray[Any], labels: Sequence[str]
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
    mentions = [
        Mention(
            item.units[first][0],
            item.units[last][1],
            next(known for known in ENTITY_TYPES if known == kind),
            round(float(np.exp(np.log(certain[first : last + 1] + 1e-9).mean())), 4),
        )
        for (first, last), kind in zip(spans, kinds, strict=True)
    ]
    return mentions, spans


def _softmax(values: Floats) -> Floats:
    shifted = np.exp(values - values.max(-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(-1, keepdims=True), np.float32)
