"""Pairs of mentions as the relation head reads them, and which relations may hold between which types."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from trivium.backends.onnx_extract.encoding import Encoded, Floats
from trivium.model.vendor import ENTITY_TYPES, Mention

MOST_MENTIONS = 12  # in one sentence: a longer list is an enumeration, and pairs grow with the square
_GAPS = (1, 3, 6, 12, 24)

# head types, tail types; a mention whose type is not known (given from outside) may be anything
_MAY_HOLD = {
    "WORKS_FOR": (("PERSON",), ("ORG",)),
    "LOCATED_IN": (("ORG", "LOCATION", "EVENT"), ("LOCATION",)),
    "LIVES_IN": (("PERSON",), ("LOCATION",)),
    "PRODUCES": (("ORG", "PERSON"), ("PRODUCT",)),
    "PARTNERS_WITH": (("ORG",), ("ORG",)),
    "COMPETES_WITH": (("ORG", "PRODUCT"), ("ORG", "PRODUCT")),
    "ACQUIRED": (("ORG", "PERSON"), ("ORG", "PRODUCT")),
    "OWNED_BY": (("ORG", "PRODUCT"), ("ORG", "PERSON")),
    "SUBSIDIARY_OF": (("ORG",), ("ORG",)),
    "CUSTOMER_OF": (("ORG",), ("ORG", "PRODUCT")),
    "MERGED_WITH": (("ORG",), ("ORG",)),
    "TRADED_ON": (("ORG",), ("ORG",)),
    "REGULATED_BY": (("ORG", "PRODUCT"), ("ORG",)),
    "MEMBER_OF": (("ORG", "PERSON", "LOCATION"), ("ORG",)),
    "FOUNDED_BY": (("ORG", "PRODUCT"), ("PERSON", "ORG")),
    "PARTICIPATES_IN": (("PERSON", "ORG", "LOCATION"), ("EVENT",)),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two mentions of one row by their numbers, with the units they cover; kind 0 is an unknown type."""

    row: int
    head: int
    tail: int
    head_units: tuple[int, int]
    tail_units: tuple[int, int]
    head_kind: int
    tail_kind: int

    def barred(self, relations: Sequence[str]) -> Floats:
        """0 where the relation may hold between these types, a large penalty where not."""
        return _barred(tuple(relations), self.head_kind, self.tail_kind)


@lru_cache(maxsize=64)
def _barred(relations: tuple[str, ...], head: int, tail: int) -> Floats:
    penalties = np.zeros(len(relations), np.float32)
    for number, name in enumerate(relations):
        heads, tails = _MAY_HOLD.get(name, (ENTITY_TYPES, ENTITY_TYPES))
        fits_head = head == 0 or ENTITY_TYPES[head - 1] in heads
        fits_tail = tail == 0 or ENTITY_TYPES[tail - 1] in tails
        if not (fits_head and fits_tail):
            penalties[number] = -1e4
    return penalties


def candidate_pairs(row: int, mentions: Sequence[Mention], units: Sequence[tuple[int, int]]) -> list[Pair]:
    """Every ordered pair between which something may hold."""
    kinds = [ENTITY_TYPES.index(mention.entity_type) + 1 for mention in mentions][:MOST_MENTIONS]
    return [
        Pair(row, head, tail, units[head], units[tail], kinds[head], kinds[tail])
        for head in range(len(kinds))
        for tail in range(len(kinds))
        if head != tail and _anything(kinds[head], kinds[tail])
    ]


@lru_cache(maxsize=64)
def _anything(head: int, tail: int) -> bool:
    return any(
        ENTITY_TYPES[head - 1] in heads and ENTITY_TYPES[tail - 1] in tails for heads, tails in _MAY_HOLD.values()
    )


def given_pairs(row: int, mentions: Sequence[Mention], encoded: Encoded) -> list[Pair]:
    """All ordered pairs of mentions that were found elsewhere; a type outside ours counts as unknown."""
    units = [_covered(mention, encoded) for mention in mentions]
    kinds = [ENTITY_TYPES.index(m.entity_type) + 1 if m.entity_type in ENTITY_TYPES else 0 for m in mentions]
    return [
        Pair(row, head, tail, one, two, kinds[head], kinds[tail])
        for head, one in enumerate(units)
        for tail, two in enumerate(units)
        if head != tail and one is not None and two is not None
    ]


def _covered(mention: Mention, encoded: Encoded) -> tuple[int, int] | None:
    inside = [
        n
        for n, (start, end) in enumerate(encoded.units[: len(encoded.firsts)])
        if start < mention.end and end > mention.start
    ]
    return (inside[0], inside[-1]) if inside else None


def pair_inputs(encoded: Sequence[Encoded], states: Floats, pairs: Sequence[Pair]) -> dict[str, npt.NDArray[Any]]:
    width = states.shape[1]
    heads = [_tokens(encoded[pair.row], pair.head_units) for pair in pairs]
    tails = [_tokens(encoded[pair.row], pair.tail_units) for pair in pairs]
    rows = np.array([pair.row for pair in pairs], np.int64)
    spans = np.zeros((len(pairs), 4, 2), np.int64)
    spans[..., 0] = rows[:, None]
    spans[..., 1] = [(*head, *tail) for head, tail in zip(heads, tails, strict=True)]
    lengths = np.array([len(encoded[pair.row].ids) for pair in pairs])
    masked = np.where(np.arange(width)[None] < lengths[:, None], 0.0, -1e4).astype(np.float32)
    return {
        "states": states,
        "rows": rows,
        "spans": spans,
        "head_kind": np.array([pair.head_kind for pair in pairs], np.int64),
        "tail_kind": np.array([pair.tail_kind for pair in pairs], np.int64),
        "distances": np.array([_distance(h, t) for h, t in zip(heads, tails, strict=True)], np.int64),
        "roles": np.stack([_roles(width, h, t) for h, t in zip(heads, tails, strict=True)]),
        "masked": masked[:, None],
    }


def _tokens(encoded: Encoded, units: tuple[int, int]) -> tuple[int, int]:
    return encoded.firsts[units[0]], encoded.firsts[units[1]]


def _distance(head: tuple[int, int], tail: tuple[int, int]) -> int:
    forward = tail[0] >= head[0]
    gap = tail[0] - head[1] if forward else head[0] - tail[1]
    return int(np.searchsorted(_GAPS, gap)) + (0 if forward else len(_GAPS) + 1)


def _roles(width: int, head: tuple[int, int], tail: tuple[int, int]) -> Floats:
    """One-hot per token: before both, in the head, between, in the tail, after both."""
    row = np.full(width, 2)
    row[: min(head[0], tail[0])] = 0
    row[max(head[1], tail[1]) + 1 :] = 4
    row[tail[0] : tail[1] + 1] = 3
    row[head[0] : head[1] + 1] = 1
    return np.asarray(np.eye(5, dtype=np.float32)[row])
