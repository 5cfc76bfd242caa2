"""What crosses between a program and us: plain values, counted on the way, because a program may nest, share and repeat
them until a few bytes of its memory are gigabytes of ours."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from trivium.sandbox.failures import ResultInvalid

DEEPEST = 64
MOST_VALUES = 200_000
MOST_CHARACTERS = 8_000_000
_WIDEST_INTEGER = 512  # bits; JSON readers give up far earlier, so larger ones go as text
_LARGEST_INTEGER = 13_000  # bits; Python itself refuses to print more than 4 300 digits


def plain(value: Any, what: str = "the result") -> Any:
    """The value as JSON knows it; ResultInvalid where it is too deep or too large to be sent."""
    return _Plain(what).of(value, 0)


class _Plain:
    def __init__(self, what: str) -> None:
        self._what = what
        self._values = MOST_VALUES
        self._characters = MOST_CHARACTERS

    def of(self, value: Any, depth: int) -> Any:
        self._values -= 1
        if self._values < 0 or depth > DEEPEST:
            raise self._too_large("values" if depth <= DEEPEST else "levels")
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            return self._integer(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {self._key(key): self.of(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(item, depth + 1) for item in value]
        if isinstance(value, set | frozenset):
            return [self.of(item, depth + 1) for item in _in_order(value)]
        return self._other(value, depth)

    def _other(self, value: Any, depth: int) -> Any:
        if isinstance(value, datetime | date | time):
            return value.isoformat()
        if isinstance(value, timedelta):
            return value.total_seconds()
        if isinstance(value, bytes | bytearray):
            return self._text(bytes(value[: self._characters + 1]).decode("utf-8", "replace"))
        attributes = getattr(value, "attributes", None)  # an instance of a class that the program defined
        if isinstance(attributes, Mapping):
            return self.of(dict(attributes), depth + 1)
        return self._text(str(value)[:1000])

    def _key(self, key: Any) -> str:
        if isinstance(key, str):
            return str(self._text(key))
        return str(self._integer(key)) if isinstance(key, int) else self._text(str(key)[:1000])

    def _text(self, text: str) -> str:
        self._characters -= len(text)
        if self._characters < 0:
            raise self._too_large("characters")
        return text

    def _integer(self, number: int) -> int | str:
        bits = number.bit_length()
        if bits <= _WIDEST_INTEGER:
            return number
        if bits > _LARGEST_INTEGER:
            raise ResultInvalid(f"{self._what} holds an integer of {bits} bits", hint="send it as a float, or a part")
        return self._text(str(number))

    def _too_large(self, unit: str) -> ResultInvalid:
        most = {"values": MOST_VALUES, "levels": DEEPEST, "characters": MOST_CHARACTERS}[unit]
        return ResultInvalid(
            f"{self._what} has more than {most:,} {unit}", hint="select in the program and pass on only what is needed"
        )


def _in_order(values: Iterable[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return list(values)
