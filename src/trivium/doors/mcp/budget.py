"""Fits results into a number of tokens: the best ones keep the most detail.

Every result starts in the smallest form the caller would still take; then, best first, each is raised to the most
detailed form that still fits beside all the others. Where even the smallest forms are too many, the last results are
left out (a caller's own budget) or the answer is refused (the server's limit).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.doors.mcp.envelope import json_text
from trivium.doors.mcp.tools import Body
from trivium.model.answers import MODES, ResponseMode
from trivium.ports.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Forms:
    """One result in every form the answer may use, from the smallest to the one asked for."""

    bodies: tuple[Body, ...]
    modes: tuple[ResponseMode, ...]


@dataclass(frozen=True, slots=True)
class Packed:
    """`kept[i]` is the form chosen for the i-th of the results that are in; the rest is left out."""

    bodies: tuple[Body, ...]
    modes: tuple[ResponseMode, ...]
    tokens: int


def smaller_modes(asked: ResponseMode) -> tuple[ResponseMode, ...]:
    """What an answer may fall back to, smallest first: full and preview down to metadata, never to bare ids."""
    if asked == "ids_only":
        return ("ids_only",)
    return MODES[1 : MODES.index(asked) + 1]


def pack(results: Sequence[Forms], room: int, tokens: TokenCounter) -> Packed:
    """Best results first. Takes in as many as fit in their smallest form, then raises them in order."""
    costs = _costs(results, tokens)
    used, count = 0, 0
    for sizes in costs:
        if used + sizes[0] > room:
            break
        used, count = used + sizes[0], count + 1
    chosen = [0] * count
    for position in range(count):
        sizes = costs[position]
        for form in range(len(sizes) - 1, 0, -1):
            if used - sizes[0] + sizes[form] <= room:
                used += sizes[form] - sizes[0]
                chosen[position] = form
                break
    return Packed(
        tuple(results[position].bodies[form] for position, form in enumerate(chosen)),
        tuple(results[position].modes[form] for position, form in enumerate(chosen)),
        used,
    )


def _costs(results: Sequence[Forms], tokens: TokenCounter) -> list[list[int]]:
    """Counted apart, with the comma: a little more than they cost side by side, never less."""
    texts = ["," + json_text(body) for result in results for body in result.bodies]
    counts = iter(tokens.count(texts))
    return [[next(counts) + 1 for _ in result.bodies] for result in results]
