"""Spans of time as people write them: 90d, 12h, 30m, 45s."""

import re

from trivium.errors import InvalidInput

_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def seconds(text: str, field: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip().lower())
    if match is None:
        raise InvalidInput(f"{text!r} is not a span of time", field=field, allowed=["90d", "12h", "30m", "45s"])
    return float(match[1]) * _UNITS_S[match[2]]
