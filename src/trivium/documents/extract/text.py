"""The prose of a chunk as sentences, by their place in the chunk. Code, addresses and markup are not prose.

Everything works on a mask of the same length as the text, so that places never shift.
"""

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]

LONGEST = 600  # characters; a "sentence" beyond that is a list or a table, and is cut at blanks
_CODE = re.compile(r"^([ \t]*)(```|~~~).*?(?:^\1\2[ \t]*$|\Z)|<!--.*?-->|^(?:    |\t)\S[^\n]*$", re.S | re.M)
_NOISE = re.compile(
    r"`[^`\n]*`"  # inline code
    r"|(?<=\])\([^)\n]*\)"  # where a link points to
    r"|\b(?:https?|ftp)://\S+|\bwww\.\S+|\S+@\S+\.\w+"
    r"|</?[A-Za-z][^<>\n]*>|\{\{.*?\}\}|\{%.*?%\}"
    r"|^[ \t]*(?:[#>]+|[-*+]|\d+[.)])(?=\s)"  # marks of headings, quotes, lists
    r"|[*]+|(?<!\w)_+|_+(?!\w)|[\[\]]|\\",
    re.M,
)
_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[#>|]|[-*+][ \t]|\d+[.)][ \t]))|(?<=\|)\n")
_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s+[\"'“‘(\[]?[A-Z0-9])")
_NO_END = re.compile(
    r"(?:\b(?:Inc|Corp|Ltd|Co|Bros|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|No|Fig|Vol|approx|e\.g|i\.e|cf|al|Gen|Sen|Gov|Rep"
    r"|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)|\b[A-Z](?:\.[A-Z])*)\.$"
)
_WORD = re.compile(r"[^\W\d_][\w'’+#&.-]*")
_STARTERS = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "all",
        "also",
        "although",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "below",
        "both",
        "but",
        "by",
        "can",
        "case",
        "check",
        "choose",
        "click",
        "create",
        "depending",
        "do",
        "does",
        "don't",
        "during",
        "each",
        "either",
        "enable",
        "ensure",
        "even",
        "every",
        "example",
        "finally",
        "first",
        "for",
        "from",
        "get",
        "go",
        "have",
        "he",
        "her",
        "here",
        "his",
        "how",
        "however",
        "i",
        "if",
        "in",
        "install",
        "instead",
        "is",
        "it",
        "its",
        "it's",
        "just",
        "last",
        "later",
        "let",
        "let's",
        "like",
        "long",
        "look",
        "make",
        "many",
        "may",
        "more",
        "most",
        "much",
        "my",
        "need",
        "new",
        "next",
        "no",
        "not",
        "note",
        "now",
        "of",
        "on",
        "once",
        "one",
        "only",
        "open",
        "or",
        "other",
        "our",
        "over",
        "please",
        "put",
        "read",
        "remember",
        "run",
        "same",
        "second",
        "see",
        "select",
        "set",
        "several",
        "she",
        "should",
        "similarly",
        "since",
        "so",
        "some",
        "specify",
        "start",
        "step",
        "still",
        "such",
        "take",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "thing",
        "think",
        "this",
        "those",
        "though",
        "through",
        "thus",
        "to",
        "try",
        "two",
        "under",
        "unlike",
        "unless",
        "until",
        "up",
        "use",
        "used",
        "user",
        "users",
        "using",
        "usually",
        "verify",
        "was",
        "we",
        "well",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "within",
        "without",
        "work",
        "would",
        "write",
        "yes",
        "yet",
        "you",
        "your",
    ]
)


def sentences(text: str) -> list[Span]:
    """Those sentences that may hold a name."""
    plain = _CODE.sub(_blank, text)
    masked = _NOISE.sub(_blank, plain)
    cuts = [match.start() for match in _BREAK.finditer(plain)]
    return [span for span in _sentences(masked, [*cuts, len(text)]) if may_hold_names(masked[span[0] : span[1]])]


def mask(text: str) -> str:
    """The text with everything that is not prose blanked out."""
    return _NOISE.sub(_blank, _CODE.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _sentences(masked: str, cuts: Sequence[int]) -> Iterator[Span]:
    start = 0
    for cut in cuts:
        begin = start
        for end in _END.finditer(masked, start, cut):
            if _NO_END.search(masked, begin, end.end()):
                continue
            yield from _trimmed(masked, begin, end.end())
            begin = end.end()
        yield from _trimmed(masked, begin, cut)
        start = cut


def _trimmed(masked: str, start: int, end: int) -> Iterator[Span]:
    while start < end and masked[start].isspace():
        start += 1
    while end > start and masked[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = masked.rfind(" ", start, start + LONGEST)
        cut = cut if cut > start else start + LONGEST
        yield start, cut
        start = cut + 1
    if end > start:
        yield start, end


def may_hold_names(sentence: str) -> bool:
    """Names are written with capitals: a sentence whose only one opens it with an ordinary word has none to find."""
    for number, match in enumerate(_WORD.finditer(sentence)):
        word = match.group()
        if word.islower():
            continue
        if number or word.casefold() not in _STARTERS:
            return word != "I"
    return False
