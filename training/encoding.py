"""Sentences as tensors: token ids a unit at a time, shapes, label masks, pairs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer

from training.sets import LABELS, RELATIONS, TYPES, Sentence

MAX_TOKENS = 256


class UnitTokenizer:
    """Tokens of a text, unit by unit, so that a label never falls between two tokens. `spaced` vocabularies (byte-pair)
    tell a unit after a blank from one that follows without."""

    def __init__(self, tokenizer: Tokenizer, *, spaced: bool, first: int, last: int, unknown: int) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer, self._spaced, self._unknown = tokenizer, spaced, unknown
        self.first, self.last = first, last
        self._known: dict[str, tuple[int, ...]] = {}

    def unit(self, text: str, after_blank: bool) -> tuple[int, ...]:
        key = " " + text if self._spaced and after_blank else text
        ids = self._known.get(key)
        if ids is None:
            ids = tuple(self._tokenizer.encode(key, add_special_tokens=False).ids[:12]) or (self._unknown,)
            self._known[key] = ids
        return ids


def shape_of(unit: str, at_start: bool) -> int:
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
        return 7 if at_start else 8
    return 9


@dataclass(slots=True)
class Encoded:
    sentence: Sentence
    ids: list[int]
    shapes: list[int]
    firsts: list[int]


def encode(sentence: Sentence, units: UnitTokenizer) -> Encoded:
    ids, shapes, firsts = [units.first], [0], []
    end_before = 0
    for number, (start, end) in enumerate(sentence.units):
        text = sentence.text[start:end]
        tokens = units.unit(text, number == 0 or start > end_before)
        if len(ids) + len(tokens) >= MAX_TOKENS:
            break
        firsts.append(len(ids))
        ids.extend(tokens)
        shapes.extend([shape_of(text, number == 0)] * len(tokens))
        end_before = end
    return Encoded(sentence, [*ids, units.last], [*shapes, 0], firsts)


def disguised(shapes: list[int], rng: np.random.Generator) -> list[int]:
    """Now and then a sentence loses its capitals, or shouts: names must be known by more than their first letter."""
    draw = rng.random()
    if draw < 0.12:
        return [4 if shape >= 5 else shape for shape in shapes]
    if draw < 0.15:
        return [6 if shape >= 4 else shape for shape in shapes]
    return shapes


def distance_bucket(head: tuple[int, int], tail: tuple[int, int]) -> int:
    gap = tail[0] - head[1] if tail[0] >= head[0] else head[0] - tail[1]
    bucket = int(np.searchsorted([1, 3, 6, 12, 24], gap))
    return bucket if tail[0] >= head[0] else bucket + 6


def role_row(width: int, head: tuple[int, int], tail: tuple[int, int]) -> np.ndarray:
    """Per token: before both, in the head, between, in the tail, after both."""
    row = np.full(width, 2, np.int64)
    row[: min(head[0], tail[0])] = 0
    row[max(head[1], tail[1]) + 1 :] = 4
    row[tail[0] : tail[1] + 1] = 3
    row[head[0] : head[1] + 1] = 1
    return row


def batches(encoded: list[Encoded], tokens: int, rng: np.random.Generator | None) -> Iterator[list[Encoded]]:
    order = np.arange(len(encoded)) if rng is None else rng.permutation(len(encoded))
    window = 4000 if rng is not None else len(encoded)
    groups: list[list[Encoded]] = []
    for start in range(0, len(order), window):
        part = sorted((encoded[i] for i in order[start : start + window]), key=lambda e: -len(e.ids))
        at = 0
        while at < len(part):
            size = max(1, tokens // len(part[at].ids))
            groups.append(part[at : at + size])
            at += size
    if rng is not None:
        rng.shuffle(groups)  # type: ignore[arg-type]
    yield from groups


def tensors(batch: list[Encoded], device: str, rng: np.random.Generator | None = None) -> dict[str, torch.Tensor]:
    """`rng` (training) hides some of the entity types from the relation head."""
    width = -(-max(len(e.ids) for e in batch) // 8) * 8
    unit_width = -(-max(max(len(e.firsts) for e in batch), 2) // 8) * 8
    rows = len(batch)
    ids, shapes = np.zeros((rows, width), np.int64), np.zeros((rows, width), np.int64)
    mask, firsts = np.zeros((rows, width), bool), np.zeros((rows, unit_width), np.int64)
    unit_mask = np.zeros((rows, unit_width), bool)
    allowed = np.full((rows, unit_width), (1 << len(LABELS)) - 1, np.int64)
    universe = np.full((rows, unit_width), (1 << len(LABELS)) - 1, np.int64)
    pair_rows, spans, kinds, distances, roles, gold, known = [], [], [], [], [], [], []
    for row, item in enumerate(batch):
        ids[row, : len(item.ids)] = item.ids
        shapes[row, : len(item.ids)] = item.shapes if rng is None else disguised(item.shapes, rng)
        mask[row, : len(item.ids)] = True
        count = len(item.firsts)
        firsts[row, :count] = item.firsts
        unit_mask[row, :count] = True
        allowed[row, :count] = item.sentence.allowed[:count]
        universe[row, :count] = np.array(item.sentence.allowed[:count], np.int64) | item.sentence.universe
        entities = item.sentence.entities
        for head, tail, label in item.sentence.pairs:
            a, b = entities[head], entities[tail]
            if max(a.end, b.end) >= count:
                continue
            one, two = (item.firsts[a.start], item.firsts[a.end]), (item.firsts[b.start], item.firsts[b.end])
            hide = rng is not None and rng.random() < 0.15
            pair_rows.append(row)
            spans.append((*one, *two))
            kinds.append((0, 0) if hide else (a.kind + 1, b.kind + 1))
            distances.append(distance_bucket(one, two))
            roles.append(role_row(width, one, two))
            gold.append(label)
            known.append(item.sentence.relation_universe)
    put = lambda value: torch.from_numpy(np.asarray(value)).to(device, non_blocking=True)  # noqa: E731
    table = 1 << np.arange(len(LABELS))
    out = {
        "ids": put(ids),
        "shapes": put(shapes),
        "mask": put(mask),
        "firsts": put(firsts),
        "unit_mask": put(unit_mask),
        "allowed": put((allowed[..., None] & table) > 0),
        "universe": put((universe[..., None] & table) > 0),
    }
    if pair_rows:
        relation_table = 1 << np.arange(len(RELATIONS))
        out |= {
            "row": put(np.array(pair_rows)),
            "spans": put(np.array(spans)),
            "kinds": put(np.array(kinds)),
            "distance": put(np.array(distances)),
            "roles": put(np.array(roles)),
            "gold": put(np.array(gold)),
            "known": put((np.array(known)[:, None] & relation_table) > 0),
        }
    return out


assert len(TYPES) == 5
_BLANK_BEFORE = re.compile(r" (?=[,.;:!?)\]%]|'s\b|n't\b|'(?:re|ve|ll|d|m)\b)")
_BLANK_AFTER = re.compile(r"(?<=[(\[$#]) ")


def joined(sentence: Sentence) -> Sentence:
    """The same sentence written as people write it: no blanks before commas, after brackets and so on."""
    gone = sorted(
        {m.start() for m in _BLANK_BEFORE.finditer(sentence.text)}
        | {m.start() for m in _BLANK_AFTER.finditer(sentence.text)}
    )
    if not gone:
        return sentence
    drop = set(gone)
    text = "".join(c for i, c in enumerate(sentence.text) if i not in drop)
    shift = np.zeros(len(sentence.text) + 1, np.int64)
    shift[1:] = np.cumsum([i in drop for i in range(len(sentence.text))])
    units = [(int(a - shift[a]), int(b - shift[b])) for a, b in sentence.units]
    return Sentence(
        text,
        units,
        sentence.allowed,
        sentence.universe,
        sentence.entities,
        sentence.pairs,
        sentence.relation_universe,
        sentence.gold,
        sentence.origin,
    )
