"""Variants of a training sentence: the same words around other names of the same kind."""

import random

from training.encoding import joined
from training.sets import TYPES, Entity, Sentence, label_bit, split_units

SWAPPED, JOINED = 0.25, 0.3  # shares of an epoch's sentences


def variant(sentence: Sentence, names: dict[str, list[str]], rng: random.Random) -> Sentence:
    """What an epoch sees of a sentence: itself, sometimes with other names, sometimes without a tokeniser's blanks."""
    if rng.random() < SWAPPED and sentence.origin not in ("core", "made up"):
        sentence = swapped(sentence, names, rng)
    return joined(sentence) if rng.random() < JOINED else sentence


def swapped(sentence: Sentence, names: dict[str, list[str]], rng: random.Random) -> Sentence:
    """About half of the names give way to others of their kind. Overlapping entities are left as they are."""
    starts = {e.start: n for n, e in enumerate(sentence.entities) if _certain(sentence, e) and rng.random() < 0.5}
    text, units, allowed = "", [], []
    moved: dict[int, int] = {}
    at = unit = 0
    while unit < len(sentence.units):
        start, end = sentence.units[unit]
        text += sentence.text[at:start]
        moved[unit] = len(units)
        number = starts.get(unit)
        if number is None:
            units.append((len(text), len(text) + end - start))
            allowed.append(sentence.allowed[unit])
            text, at, unit = text + sentence.text[start:end], end, unit + 1
            continue
        entity = sentence.entities[number]
        name = _other(sentence.text[start : sentence.units[entity.end][1]], names[TYPES[entity.kind]], rng)
        own = [(len(text) + a, len(text) + b) for a, b in split_units(name)]
        units += own
        allowed += [label_bit("I" if n else "B", TYPES[entity.kind]) for n in range(len(own))]
        for inner in range(entity.start + 1, entity.end + 1):
            moved[inner] = len(units) - 1
        at, unit, text = sentence.units[entity.end][1], entity.end + 1, text + name
    text += sentence.text[at:]
    entities = [_moved(n, e, moved, units, starts) for n, e in enumerate(sentence.entities)]
    return Sentence(
        text,
        units,
        allowed,
        sentence.universe,
        entities,
        sentence.pairs,
        sentence.relation_universe,
        [],
        sentence.origin,
    )


def _certain(sentence: Sentence, entity: Entity) -> bool:
    if entity.kind < 0 or not sentence.allowed or sentence.allowed[entity.start] != label_bit("B", TYPES[entity.kind]):
        return False
    others = [e for e in sentence.entities if e is not entity and e.start <= entity.end and entity.start <= e.end]
    return not others


def _other(text: str, names: list[str], rng: random.Random) -> str:
    name = rng.choice(names)
    return name.lower() if text.islower() else name.upper() if text.isupper() and len(text) > 4 else name


def _moved(
    number: int, entity: Entity, moved: dict[int, int], units: list[tuple[int, int]], starts: dict[int, int]
) -> Entity:
    first = moved[entity.start]
    replaced = starts.get(entity.start) == number
    last = moved[entity.end]
    if replaced and entity.start == entity.end:
        following = [at for old, at in moved.items() if old > entity.end]
        last = min(following, default=len(units)) - 1
    return Entity(first, last, entity.kind, (units[first][0], units[last][1]))
