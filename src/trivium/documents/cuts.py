"""Where a text may be cut: after lines, sentences, words and, where nothing else is left, characters.

Cutting goes down a ladder and stops as soon as every part is within the limit, so that a stretch is never cut finer
than its size demands. Nothing here knows what a chunk is: the splitter and the encoder's passages both stand on it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

TokenCounter = Callable[[Sequence[str]], list[int]]
Cutter = Callable[[str, int, int, int], Iterator[int]]
"""Given a text, a span of it and the limit, the positions inside the span at which it may be cut, rising."""

# Text this much longer than its limit cannot be within it, and counters may be slow on a very long run of characters.
_MAX_CHARACTERS_A_TOKEN = 40
_SAMPLE = 2000  # enough to see whether a text is written without capitals at all

_SENTENCE_END = re.compile(
    r"""(?: [.!?…]+ ["'”’»)\]*_`]* (?=\s) | [。！？｡]+ ["'”’」』）]* | \n[ \t]*(?=\r?\n) )\s*""", re.VERBOSE
)
# A full stop after one of these more likely shortens than ends. Missing an end only makes a longer stretch; a false one
# would cut a sentence, so doubtful ones are in.
_ABBREVIATED = re.compile(
    r"(?:^|[\s(\[\"'“‘])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|cf|etc|approx|No|Nos|Fig|Figs|Eq|"
    r"Sec|Ch|Vol|pp|al|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Sen|Rep|Gov|Inc|Ltd|Co|Corp|Dept|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|"
    r"Nov|Dec|bzw|usw|ca|Nr|Abs|Art|Bd)\.$|^\s*\d{1,3}\.$"
)
_NEXT_WORD = re.compile(r"""["'“‘«(\[*_`]*(.)""", re.DOTALL)
_SPACE = re.compile(r"\s+")
_BLANK_LINE = re.compile(r"\n[ \t]*(?:\r?\n)+")
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text that is kept together: `text[start:end]`."""

    start: int
    end: int
    tokens: int


def sentence_ends(text: str, start: int, end: int, _limit: int) -> Iterator[int]:
    has_capitals = any(map(str.isupper, text[start : min(end, start + _SAMPLE)]))
    for match in _SENTENCE_END.finditer(text, start, end):
        if match.end() < end and _ends_sentence(text, start, match, has_capitals):
            yield match.end()


def paragraph_ends(text: str, start: int, end: int, _limit: int) -> Iterator[int]:
    return (match.end() for match in _BLANK_LINE.finditer(text, start, end) if match.end() < end)


def line_ends(text: str, start: int, end: int, _limit: int) -> Iterator[int]:
    return (match.end() for match in _LINE_END.finditer(text, start, end) if match.end() < end)


def word_ends(text: str, start: int, end: int, limit: int) -> Iterator[int]:
    """Not after every word, but often enough: single words of a long text would be a heavy load to count."""
    step, last = max(1, limit // 5), start
    for match in _SPACE.finditer(text, start, end):
        if match.end() - last > step and match.end() < end:
            last = match.end()
            yield last


def slice_ends(_text: str, start: int, end: int, limit: int) -> Iterator[int]:
    return iter(range(start + limit, end, limit))


def character_ends(_text: str, start: int, end: int, _limit: int) -> Iterator[int]:
    return iter(range(start + 1, end))


PROSE: tuple[Cutter, ...] = (sentence_ends, word_ends, slice_ends, character_ends)
LINES: tuple[Cutter, ...] = (line_ends, *PROSE)
MIXED: tuple[Cutter, ...] = (paragraph_ends, sentence_ends, line_ends, word_ends, slice_ends, character_ends)


@dataclass(frozen=True, slots=True)
class Span:
    """What has to be cut until each part has at most `limit` tokens, by going down `ladder`."""

    text: str
    start: int
    end: int
    ladder: tuple[Cutter, ...]
    limit: int


@dataclass(slots=True)
class _Part:
    span: Span
    tokens: int = -1  # not counted yet


def stretches(spans: Sequence[Span], count: TokenCounter) -> list[list[Stretch]]:
    """For every span the parts it has to be cut into, in order, without blanks at their ends."""
    columns = [[_Part(span)] for span in spans]
    while True:
        _count_parts([part for parts in columns for part in parts if part.tokens < 0], count)
        too_long = [i for i, parts in enumerate(columns) if any(_can_be_cut(part) for part in parts)]
        if not too_long:
            return [[Stretch(part.span.start, part.span.end, part.tokens) for part in parts] for parts in columns]
        for i in too_long:
            columns[i] = [finer for part in columns[i] for finer in (_cut(part) if _can_be_cut(part) else [part])]


def _can_be_cut(part: _Part) -> bool:
    return part.tokens > part.span.limit and bool(part.span.ladder)


def _count_parts(parts: list[_Part], count: TokenCounter) -> None:
    for part in parts:
        part.tokens = part.span.end - part.span.start  # stands for those too long to count: above every limit
    countable = [part for part in parts if part.tokens <= _MAX_CHARACTERS_A_TOKEN * part.span.limit]
    counts = count([part.span.text[part.span.start : part.span.end] for part in countable]) if countable else []
    for part, tokens in zip(countable, counts, strict=True):
        part.tokens = tokens


def _cut(part: _Part) -> Iterator[_Part]:
    span, text = part.span, part.span.text
    cutter, *finer = span.ladder
    start = span.start
    for cut in [*cutter(text, span.start, span.end, span.limit), span.end]:
        end = cut
        while end > start and text[end - 1].isspace():
            end -= 1
        if end > start:
            yield _Part(Span(text, start, end, tuple(finer), span.limit))
        start = cut


def _ends_sentence(text: str, start: int, match: re.Match[str], has_capitals: bool) -> bool:
    mark = match[0][0]
    if mark not in ".…":
        return True
    following = _NEXT_WORD.match(text, match.end())
    if has_capitals and following is not None and following[1].islower():
        return False
    line_start = max(start, text.rfind("\n", max(start, match.start() - 16), match.start()) + 1, match.start() - 16)
    return not _ABBREVIATED.search(text[line_start : match.start() + 1])
