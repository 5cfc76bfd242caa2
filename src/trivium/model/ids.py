"""One id space over the three worlds: `chunk:12`, `entity:…`, `symbol:…`, `concept:…`."""

from typing import Literal, get_args

from trivium.errors import InvalidInput

IdKind = Literal["chunk", "entity", "relationship", "symbol", "concept"]


def typed_id(kind: IdKind, key: int | str) -> str:
    return f"{kind}:{key}"


def parse_id(text: str) -> tuple[IdKind, str]:
    kind, colon, key = text.partition(":")
    for known in get_args(IdKind):
        if kind == known and colon and key:
            return known, key
    raise InvalidInput(f"{text!r} is not an id", field="id", allowed=[f"{k}:…" for k in get_args(IdKind)])


def parse_chunk_id(value: int | str) -> int:
    """Takes 12, "12", "chunk_12" and "chunk:12"."""
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    else:
        digits = str(value).removeprefix("chunk_").removeprefix("chunk:")
        number = int(digits) if digits.isascii() and digits.isdigit() else 0
    if not 0 < number < 2**63:
        raise InvalidInput(f"{value!r} is not a chunk id", field="chunk_id", allowed=["12", "chunk_12", "chunk:12"])
    return number
