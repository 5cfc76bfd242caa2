"""Text -> the terms it is indexed and searched by.

Identifiers are split (camelCase, snake_case, dotted, letters from digits) and kept whole too, without their separators,
so that `getUserName`, `get_user_name` and `get-user-name` find one another. Words are case-folded, stripped of accents
and stemmed; scripts without spaces become characters and pairs of characters. What a text contains is always a list of
terms: nothing in it is syntax.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator

Stem = Callable[[str], str]

# Python's \w leaves out the vowel signs of the Indic and South-East Asian scripts, so their blocks are named whole.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u109f\u1780-\u17ff"
)
_TOKEN = re.compile(rf"[\w{_MARKS}]+(?:[.\-'’:/\\#@][\w{_MARKS}]+)*")
_PART = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?(?:[^\W\d_A-Z]|[{_MARKS}])+|\d+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_ACCENT = re.compile("[\u0300-\u036f]")
_LONGEST = 64  # characters; longer ones are hashes, base64 and the like, recognisable by their beginning
_CACHED = 200_000

# The words English questions are phrased in. They are indexed, but a query with any other word goes without them.
STOPWORDS = frozenset(
    """
    a about an and any are as at be been but by can could did do does doing for from had has have having he her hers
    him his how i if in into is it its itself me my of on or our ours shall she should so some such than that the
    their theirs them then there these they this those to us was we were what when where which while who whom whose
    why will with would you your yours
    """.split()  # noqa: SIM905 (ninety quoted words in a column read worse)
)


class Analyzer:
    """Remembers how each spelling is analysed: text repeats its words, and a lookup costs a tenth of the work."""

    def __init__(self, stem: Stem) -> None:
        self._stem = stem
        self._known: dict[str, tuple[str, ...]] = {}

    def terms(self, text: str) -> list[str]:
        """Every term of the text in order, repetitions included."""
        found: list[str] = []
        for token in _TOKEN.findall(_normalised(text)):
            found += self._terms_of(token)
        return found

    def query_terms(self, text: str) -> list[str]:
        """The terms a query asks for, stopwords only where there is nothing else."""
        tokens = _TOKEN.findall(_normalised(text))
        telling = [token for token in tokens if token.casefold() not in STOPWORDS]
        return [term for token in telling or tokens for term in self._terms_of(token)]

    def _terms_of(self, token: str) -> tuple[str, ...]:
        known = self._known.get(token)
        if known is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            known = self._known[token] = tuple(self._analysed(token))
        return known

    def _analysed(self, token: str) -> Iterator[str]:
        parts = _PART.findall(token)
        for part in parts:
            if _UNSPACED.search(part):
                yield from _characters(part)
            else:
                yield self._word(part)
        if len(parts) > 1 and not _UNSPACED.search(token):
            yield self._word("".join(parts))

    def _word(self, word: str) -> str:
        folded = _folded(word)[:_LONGEST]
        return self._stem(folded) if folded.isascii() else folded


def _normalised(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _folded(word: str) -> str:
    folded = word.casefold()
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", folded)))


def _characters(part: str) -> Iterator[str]:
    """Characters and pairs of neighbours of the unspaced stretches; what lies between stays a word."""
    last = 0
    for stretch in _UNSPACED.finditer(part):
        if stretch.start() > last:
            yield _folded(part[last : stretch.start()])
        text = stretch.group()
        yield from text
        yield from (text[i : i + 2] for i in range(len(text) - 1))
        last = stretch.end()
    if last < len(part):
        yield _folded(part[last:])
