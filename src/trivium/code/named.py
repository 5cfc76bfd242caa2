"""Which definitions a search names: `validateToken`, `load_image`, `Class.method`, `save()`, or the word that a
question is about.

In a sentence most words are words, even where some function goes by them. A word is surely a name when it is written
like one, or stands where a name stands ("where is … defined", "the … method"). Any other word that a definition goes by
may be one: its definition deserves a place near the top, not the first.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from trivium.model.code import Symbol
from trivium.ports.code_graph import CodeGraphStore

_TOKEN = re.compile(r"[`'\"]?[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*[`'\"]?(?:\(\)?)?|[^\w\s]")
_BREAK = re.compile(r"\.|::|#|->")
_MOST_WORDS = 40
_MOST_NAMES = 6
MOST_DEFINITIONS = 8  # of one name that come first; a name like `get` has dozens
_MOST_LOOKED_AT = 40
_PLACE = 2  # from 0: the third
Match = Literal["sure", "maybe", "none"]


def _words(written: str) -> frozenset[str]:
    return frozenset(written.split())


_KIND_WORDS = _words(
    "function functions method methods class classes def struct interface enum trait type decorator constructor"
    " property routine helper"
)
_AROUND = _KIND_WORDS | _words("named called calls calling overrides extends implements explain")
_BEFORE = _words(
    "is are was does do did of uses use using call invoke invokes find show locate describe inside override what where"
    " how"
)
_AFTER = _words(
    "defined declared implemented located work works working do does definition definitions implementation source"
    " callers usage usages signature used called behave behaves return returns get gets take takes handle handles come"
    " comes raise raises fail fails know live lives need needs call calls use uses expect expects accept accepts"
)
_SMALL = _words(
    "in from for to on with by when if and or at into inside as than that which who where how what why is are was the"
    " a an it its this"
)


class Name(NamedTuple):
    """What the query names, and the definitions that go by it."""

    word: str
    definitions: tuple[Symbol, ...]
    is_sure: bool


def named_definitions(graph: CodeGraphStore, query: str, repository: str | None) -> list[Name]:
    """In the order in which they matter: written as names first, then in the order of the query."""
    found: dict[str, tuple[int, Name]] = {}
    tokens = _TOKEN.findall(query)[:_MOST_WORDS]
    for position, token in enumerate(tokens):
        word = token.strip("`'\"(),").rstrip("(")
        if not word or not (word[0].isalpha() or word[0] in "_$") or word in found:
            continue
        strength = _strength(tokens, position, word, query)
        definitions = _definitions(graph, word, repository) if strength else ()
        if definitions:
            found[word] = (strength, Name(word, definitions, strength > 1))
    ordered = sorted(found.values(), key=lambda pair: -pair[0])
    return [name for _, name in ordered][:_MOST_NAMES]


def _definitions(graph: CodeGraphStore, word: str, repository: str | None) -> tuple[Symbol, ...]:
    """By the whole of what was written, else by its end: `django.http.HttpRequest` is known as `HttpRequest`."""
    for written in _readings(word):
        found = [s for s in graph.find(written, repository) if s.kind not in ("file", "package")]
        if found:
            return tuple(found)
    return ()


def _readings(word: str) -> Iterator[str]:
    parts = _BREAK.split(word)
    for start in range(len(parts)):
        yield ".".join(parts[start:])


def _strength(tokens: Sequence[str], position: int, word: str, query: str) -> int:
    """3: written as a name; 2: stands where a name stands; 1: might be one; 0: a word."""
    token = tokens[position]
    if word == query.strip() or _looks_like_code(word) or token != word:
        return 3
    before = tokens[position - 1].lower() if position else ""
    after = tokens[position + 1].lower() if position + 1 < len(tokens) else ""
    if before in _SMALL - _BEFORE or word.lower() in _SMALL:
        before = ""
    if word.lower() in _AROUND or word.lower() in _BEFORE or word.lower() in _SMALL:
        return 0
    if before in _AROUND or after in _KIND_WORDS:
        return 2
    ends = after in _AFTER or after in _SMALL or not after.isalpha()
    if (before in _BEFORE and ends) or after in ("defined", "declared", "implemented", "definition", "implementation"):
        return 2
    if position and word[0].isupper():
        return 2
    return int(len(word) > 2)


def _looks_like_code(word: str) -> bool:
    """In a sentence, `error` is a word and `parse_error` a name."""
    return (
        "_" in word
        or _BREAK.search(word) is not None
        or any(c.isdigit() for c in word)
        or re.search(r"[a-z][A-Z]", word) is not None
        or re.search(r"[A-Z]{2,}[a-z]", word) is not None
    )


def in_order(
    named: Sequence[Name], hits: Sequence[int], chunks_of: Callable[[Sequence[Symbol]], Mapping[str, int]]
) -> dict[int, Match]:
    """Chunks as they are shown: definitions that are surely named, in turns where several names are; then the hits.

    One that may be named is moved up to the third place, so that a question in plain words loses nothing it should see.
    """
    rank = {chunk_id: number for number, chunk_id in enumerate(hits)}
    sure = _in_turns([_chunks(name, rank, chunks_of) for name in named if name.is_sure])
    found: dict[int, Match] = dict.fromkeys(sure, "sure")
    rest = [chunk_id for chunk_id in hits if chunk_id not in found]
    maybe = [chunks[0] for name in named if not name.is_sure and (chunks := _chunks(name, rank, chunks_of))]
    best = min(maybe, key=lambda chunk_id: rank.get(chunk_id, len(rank)), default=None)
    if best is not None and best not in found and best not in rest[: _PLACE + 1]:
        place = max(_PLACE - len(found), 0)
        rest = [*rest[:place], best, *(chunk_id for chunk_id in rest[place:] if chunk_id != best)]
    return found | {chunk_id: "maybe" if chunk_id == best else "none" for chunk_id in rest}


def _chunks(
    name: Name, rank: Mapping[int, int], chunks_of: Callable[[Sequence[Symbol]], Mapping[str, int]]
) -> list[int]:
    """The chunks that hold its definitions: by their places among the hits, the others after them."""
    some = sorted(name.definitions, key=lambda s: (s.kind == "method", s.symbol_id))[:_MOST_LOOKED_AT]
    chunks = dict.fromkeys(chunks_of(some).values())
    return sorted(chunks, key=lambda chunk_id: rank.get(chunk_id, len(rank)))[:MOST_DEFINITIONS]


def _in_turns(lists: Sequence[list[int]]) -> list[int]:
    longest = max(map(len, lists), default=0)
    return list(dict.fromkeys(some[turn] for turn in range(longest) for some in lists if turn < len(some)))
