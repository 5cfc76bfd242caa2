"""Cuts a program's result to a number of tokens: the beginnings of lists and texts stay, and say what is missing."""

from typing import Any

from trivium.doors.mcp.envelope import json_text
from trivium.ports.tokens import TokenCounter

# Longest text, most items of a list or a dictionary; the first step that fits is taken.
_STEPS = (
    (8000, 1000),
    (4000, 400),
    (2000, 200),
    (1000, 100),
    (500, 50),
    (250, 25),
    (120, 12),
    (60, 6),
    (30, 3),
    (12, 1),
)


def fit(value: Any, room: int, tokens: TokenCounter) -> Any | None:
    """The value, cut as little as it takes; None where not even its first words fit."""
    for characters, items in _STEPS:
        shorter = _cut(value, characters, items)
        text = json_text(shorter)
        # No text worth sending has more than sixteen bytes a token: counting what cannot fit is wasted work.
        if len(text) <= 16 * room and tokens.count([text])[0] <= room:
            return shorter
    return None


def _cut(value: Any, characters: int, items: int) -> Any:
    if isinstance(value, str):
        return (
            value if len(value) <= characters else f"{value[:characters]}… [{len(value) - characters} more characters]"
        )
    if isinstance(value, list):
        kept = [_cut(item, characters, items) for item in value[:items]]
        return kept if len(value) <= items else [*kept, f"… [{len(value) - items} more]"]
    if isinstance(value, dict):
        names = list(value)
        cut = {name[:characters]: _cut(value[name], characters, items) for name in names[: max(items, 8)]}
        return cut if len(names) <= max(items, 8) else cut | {"…": f"[{len(names) - max(items, 8)} more]"}
    return value
