"""Positions in source text, as SCIP counts them: lines from 0, columns in code units of the document's encoding."""

import re
from functools import cached_property

from trivium.code.scip.wire import UTF8, UTF32

# What may stand between a name and the bracket that calls it: type arguments, `?.`, `!`, white space.
_CALLED = re.compile(r"\s*(?:::\s*)?(?:<[^<>()]*(?:<[^<>()]*>[^<>()]*)*>)?\s*[!?]?\.?\s*\(")


class SourceText:
    """`encoding` 0 is what indexers write that do not say: they all come from editors, which count UTF-16."""

    def __init__(self, data: bytes, encoding: int = UTF32) -> None:
        self._text, self._encoding = data.decode("utf-8", "replace"), encoding

    @cached_property
    def lines(self) -> list[str]:
        return self._text.splitlines()

    def line(self, number: int) -> str:
        return self.lines[number] if 0 <= number < len(self.lines) else ""

    def column(self, line: int, units: int) -> int:
        """The character a column in code units stands before."""
        text = self.line(line)
        if text.isascii() or self._encoding == UTF32:
            return units
        codec, size = ("utf-8", 1) if self._encoding == UTF8 else ("utf-16-le", 2)
        return len(text.encode(codec)[: units * size].decode(codec, "ignore"))

    def at(self, span: list[int]) -> str:
        """The text of a range that lies in one line; empty for any other."""
        if len(span) != 3:
            return ""
        return self.line(span[0])[self.column(span[0], span[1]) : self.column(span[0], span[2])]

    def is_called(self, span: list[int]) -> bool:
        """Whether what stands in this range is called there: a bracket follows, or it is a decorator."""
        if len(span) != 3:
            return False
        called = _CALLED.match(self.line(span[0]), self.column(span[0], span[2])) is not None
        return called or self.is_decorator(span)

    def is_decorator(self, span: list[int]) -> bool:
        before = self.line(span[0])[: self.column(span[0], span[1])] if len(span) == 3 else ""
        return re.fullmatch(r"\s*@\s*(?:[\w.]+\.)?", before) is not None
