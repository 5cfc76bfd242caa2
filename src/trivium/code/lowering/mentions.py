"""Names that stand in a file of a statically typed language, wherever they stand: in types, constants, annotations, as
values. Calls and inheritance are read from the tree; this finds what only refers, so that nothing seems unused.

Comments and strings are left out. A chain (`pkg.Type.member`, `module::function`) is one mention; a member of the class
itself that is named as a value (`:check` in Ruby, `[$this, 'check']` in PHP) starts with a colon.
"""

import re
from collections.abc import Sequence

from trivium.code.lowering import ops

_COMMENT = r"//[^\n]*|/\*.*?\*/"
_STRING = r'"(?:\\.|[^"\\\n])*"'
_CHARACTER = r"'(?:\\[^'\n]*|[^'\\\n])'"  # one character: an apostrophe alone is a lifetime in Rust
_QUOTED = r"'(?:\\.|[^'\\])*'"
_CHAIN = r"(?P<chain>[A-Za-z_]\w*(?:(?:::|\.|->|\\)[A-Za-z_]\w*)*)"


def _tokens(*skipped: str, chain: str = _CHAIN) -> re.Pattern[str]:
    return re.compile("|".join([*skipped, chain]), re.DOTALL)


_C_LIKE = _tokens(_COMMENT, _STRING, _CHARACTER)
_PATTERNS = {
    "go": _tokens(_COMMENT, _STRING, _CHARACTER, "`[^`]*`", r"(?m:^package\s+\w+)"),
    "php": _tokens(
        r"\[\s*\$this\s*,\s*['\"](?P<member>\w+)['\"]\s*\]",
        _COMMENT,
        r"#(?!\[)[^\n]*",
        r'"(?:\\.|[^"\\])*"',
        _QUOTED,
        r"\$\w+",
    ),
    "ruby": _tokens(r"#(?!\{)[^\n]*", r'"(?:\\.|[^"\\])*"', _QUOTED, r"@\w+", r"(?<![:\w]):(?P<member>[a-z_]\w*)"),
}
_SEPARATOR = re.compile(r"::|->|\\")

Mention = tuple[int, str, int]  # definition (-1: the file), chain, line


def mentions(language: str, source: bytes, definitions: Sequence[ops.Definition]) -> list[Mention]:
    """Each chain once for each definition it stands in, at its first line there."""
    text = source.decode("utf-8", "replace") if not source.isascii() else source.decode("ascii")
    starts = _Around(definitions, source, text)
    found: dict[tuple[int, str], int] = {}
    line, at = 1, 0
    for match in _PATTERNS.get(language, _C_LIKE).finditer(text):
        kind = match.lastgroup
        if kind is None:
            continue
        chain = match[kind] if kind == "chain" else f":{match[kind]}"
        start = match.start()
        line += text.count("\n", at, start)
        at = start
        found.setdefault((starts.definition(start), chain), line)
    return [(definition, chain, where) for (definition, chain), where in found.items()]


def parts(chain: str) -> list[str]:
    return _SEPARATOR.sub(".", chain).split(".")


class _Around:
    """The innermost definition a position lies in, for positions that only grow."""

    def __init__(self, definitions: Sequence[ops.Definition], source: bytes, text: str) -> None:
        order = sorted(range(len(definitions)), key=lambda n: (definitions[n].start, -definitions[n].end))
        ranges = [(definitions[n].start, definitions[n].end, n) for n in order]
        if len(text) != len(source):  # definitions count bytes
            ranges = [
                (len(source[:a].decode("utf-8", "replace")), len(source[:b].decode("utf-8", "replace")), n)
                for a, b, n in ranges
            ]
        self._waiting = ranges[::-1]
        self._open: list[tuple[int, int]] = []

    def definition(self, position: int) -> int:
        while self._waiting and self._waiting[-1][0] <= position:
            _, end, number = self._waiting.pop()
            self._open.append((end, number))
        while self._open and self._open[-1][0] <= position:
            self._open.pop()
        return self._open[-1][1] if self._open else -1
