"""Sentences as the model reads them: tokens unit by unit, the shape of each unit, batches of similar length.

A unit is a run of letters and digits or a single sign, so a label never falls between two tokens. What is here must
stay as it was in training (training/encoding.py).
"""

import gzip
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MAX_TOKENS = 256
MAX_TOKENS_A_UNIT = 12
TOKENS_A_BATCH = 2048
_UNIT = re.compile(r"\w+|[^\w\s]")

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Encoded:
    """`firsts[i]` is where unit i begins among the tokens; units that no longer fit have none."""

    units: list[tuple[int, int]]
    ids: list[int]
    shapes: list[int]
    firsts: list[int]


class UnitTokenizer:
    def __init__(self, vocabulary: Path) -> None:
        from tokenizers import Tokenizer
        from tokenizers.models import WordPiece
        from tokenizers.normalizers import BertNormalizer
        from tokenizers.pre_tokenizers import BertPreTokenizer

        words = gzip.decompress(vocabulary.read_bytes()).decode("utf-8").split("\n")
        ids = {word: number for number, word in enumerate(words)}
        self._tokenizer: Any = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
        self._tokenizer.normalizer = BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = BertPreTokenizer()
        self._first, self._last, self._unknown = ids["[CLS]"], ids["[SEP]"], ids["[UNK]"]
        self._known: dict[str, tuple[list[int], int]] = {}

    def encode(self, text: str) -> Encoded:
        units: list[tuple[int, int]] = []
        ids, shapes, firsts = [self._first], [0], []
        for number, match in enumerate(_UNIT.finditer(text)):
            units.append(match.span())
            tokens, shape = self._unit(match.group())
            if len(ids) + len(tokens) >= MAX_TOKENS:
                break
            firsts.append(len(ids))
            ids += tokens
            shapes += [7 if shape == 8 and number == 0 else shape] * len(tokens)
        ids.append(self._last)
        shapes.append(0)
        return Encoded(units, ids, shapes, firsts)

    def _unit(self, text: str) -> tuple[list[int], int]:
        known = self._known.get(text)
        if known is None:
            ids = self._tokenizer.encode(text, add_special_tokens=False).ids[:MAX_TOKENS_A_UNIT]
            known = (ids or [self._unknown], shape_of(text))
            if len(self._known) < 200_000:
                self._known[text] = known
        return known


def shape_of(unit: str) -> int:
    """How a unit is written: the vocabulary knows no capitals."""
    if unit.isdigit():
        return 1
    if not unit[0].isalnum():
        return 2
    if any(c.isdigit() for c in unit):
        return 3
    if unit.islower():
        return 4
    if len(unit) == 1 and unit.isupper():
        return 5
    if unit.isupper():
        return 6
    if unit[0].isupper() and unit[1:].islower():
        return 8
    return 9


def batches(encoded: Sequence[Encoded]) -> Iterator[list[int]]:
    """Rows of similar length, longest first."""
    order = sorted((n for n, e in enumerate(encoded) if e.firsts), key=lambda n: -len(encoded[n].ids))
    start = 0
    while start < len(order):
        size = max(1, TOKENS_A_BATCH // len(encoded[order[start]].ids))
        yield order[start : start + size]
        start += size


def inputs(encoded: Sequence[Encoded]) -> dict[str, npt.NDArray[Any]]:
    lengths = np.array([len(e.ids) for e in encoded], np.int32)
    ids = np.zeros((len(encoded), int(lengths.max())), np.int32)
    shapes = np.zeros_like(ids)
    for row, item in enumerate(encoded):
        ids[row, : lengths[row]] = item.ids
        shapes[row, : lengths[row]] = item.shapes
    return {"input_ids": ids, "shapes": shapes, "lengths": lengths}
