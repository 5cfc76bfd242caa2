"""The confidence of a mention is how likely exactly this span is under the model, over all label paths."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trivium.backends.onnx_extract.decoding import best_paths, lattice

LABELS = ("O", "B-ORG", "I-ORG", "B-PERSON", "I-PERSON")
FORBIDDEN = np.array(
    [[-1e4 if to[0] == "I" and origin[2:] != to[2:] else 0.0 for to in LABELS] for origin in LABELS], np.float32
)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_chance_of_a_span_is_its_share_of_all_paths(seed: int, units: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=2, size=(2, 5, len(LABELS))).astype(np.float32)
    transitions = FORBIDDEN + rng.normal(scale=0.5, size=FORBIDDEN.shape).astype(np.float32)
    counts = np.array([units, 5])
    path = best_paths(scores, counts, transitions)[0][:units].tolist()
    weighed = lattice(scores, counts, transitions)
    for first, label in enumerate(path):
        if LABELS[label][0] != "B":
            continue
        inside = label + 1
        last = first
        while last + 1 < units and path[last + 1] == inside:
            last += 1
        chance = weighed.chance(0, first, last, path, inside, units)
        assert abs(chance - _by_hand(scores[0], transitions, units, first, last, path, inside)) < 1e-3


def _by_hand(
    scores: np.ndarray, transitions: np.ndarray, units: int, first: int, last: int, path: list[int], inside: int
) -> float:
    total = wanted = 0.0
    for labels in product(range(len(LABELS)), repeat=units):
        places = zip((0, *labels[:-1]), labels, strict=True)
        weight = np.exp(sum(scores[n, b] + transitions[a, b] for n, (a, b) in enumerate(places)))
        total += weight
        ends = last + 1 >= units or labels[last + 1] != inside
        wanted += weight if list(labels[first : last + 1]) == path[first : last + 1] and ends else 0.0
    return float(wanted / total)
