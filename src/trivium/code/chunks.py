"""Source files into pieces that follow functions and classes and, together, are the whole file.

A class that fits is one piece; a larger one is its head and its methods. What stands between definitions (imports,
constants) is a piece of its own; comments before a definition belong to it. Too long a piece is cut at line ends.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from trivium.code.lowering import ops
from trivium.model.code import CodePiece, SymbolKind, symbol_id

TokenCounter = Callable[[Sequence[str]], list[int]]

DEFAULT_LIMIT = 500
_COMMENT_STARTS = ("#", "//", "/*", "*", "--", "@", "'''", '"""')


class Span(NamedTuple):
    """A stretch of the file in characters, and the definition it belongs to (-1: the file)."""

    start: int
    end: int
    definition: int


def split_code(
    repository: str, facts: ops.FileFacts, source: bytes, count: TokenCounter, limit: int = DEFAULT_LIMIT
) -> list[CodePiece]:
    """Pieces in order; joined they are the decoded file, blank ends apart."""
    text = source.decode("utf-8", "replace")
    if not text.strip():
        return []
    definitions = facts.definitions
    offsets = _character_offsets(source, definitions)
    spans = list(_spans(text, definitions, offsets, count, limit))
    cut = [part for span in _attached(text, spans) for part in _cut(text, span, count, limit)]
    kept = [s for s in cut if text[s.start : s.end].strip()]
    tokens = count([text[s.start : s.end] for s in kept])
    return [_piece(repository, facts, text, s, n) for s, n in zip(kept, tokens, strict=True)]


def _character_offsets(source: bytes, definitions: Sequence[ops.Definition]) -> dict[int, int]:
    """Byte offset -> character offset, for every place a definition starts or ends."""
    wanted = sorted({0, *(d.start for d in definitions), *(d.end for d in definitions)})
    if source.isascii():
        return {b: b for b in wanted}
    found, characters, last = {}, 0, 0
    for offset in wanted:
        characters += len(source[last:offset].decode("utf-8", "replace"))
        found[offset], last = characters, offset
    return found


def _spans(
    text: str, definitions: Sequence[ops.Definition], offsets: dict[int, int], count: TokenCounter, limit: int
) -> Iterator[Span]:
    children: dict[int, list[int]] = {}
    for index, definition in enumerate(definitions):
        children.setdefault(definition.parent, []).append(index)
    yield from _inside(text, definitions, offsets, children, Span(0, len(text), -1), count, limit)


def _inside(
    text: str,
    definitions: Sequence[ops.Definition],
    offsets: dict[int, int],
    children: dict[int, list[int]],
    around: Span,
    count: TokenCounter,
    limit: int,
) -> Iterator[Span]:
    """The stretches of one definition: its own text between the definitions inside it, and those."""
    position = around.start
    for index in sorted(children.get(around.definition, ()), key=lambda i: offsets[definitions[i].start]):
        start, end = _whole_lines(text, offsets[definitions[index].start], offsets[definitions[index].end])
        start, end = max(start, position), min(max(end, start), around.end)
        if start >= end:
            continue
        if start > position:
            yield Span(position, start, around.definition)
        span = Span(start, end, index)
        opens = definitions[index].kind in ("class", "interface") and children.get(index)
        if opens and end - start > limit and count([text[start:end]])[0] > limit:
            yield from _inside(text, definitions, offsets, children, span, count, limit)
        else:
            yield span
        position = end
    if position < around.end:
        yield Span(position, around.end, around.definition)


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Widened to whole lines where nothing but blanks stands beside the definition."""
    line = text.rfind("\n", 0, start) + 1
    start = line if not text[line:start].strip() else start
    newline = text.find("\n", end)
    newline = len(text) if newline < 0 else newline + 1
    return start, newline if not text[end:newline].strip().strip(";,") else end


def _attached(text: str, spans: Sequence[Span]) -> list[Span]:
    """Comments and blank lines before a definition go with it; blank ones after, with what they follow."""
    done: list[Span] = []
    carried: int | None = None
    for position, span in enumerate(spans):
        start = span.start if carried is None else carried
        carried = None
        follows = spans[position + 1] if position + 1 < len(spans) else None
        if follows is not None and follows.definition != span.definition:
            comment = _comment_start(text, start, span.end)
            if comment < span.end:
                carried = comment
        end = span.end if carried is None else carried
        if start < end:
            done.append(Span(start, end, span.definition))
    return done


def _comment_start(text: str, start: int, end: int) -> int:
    """Where the run of comment and blank lines that ends at `end` begins; `end` if there is none."""
    if end > start and text[end - 1] != "\n":
        return end
    found, position = end, end
    while position > start:
        line_start = max(text.rfind("\n", start, position - 1) + 1, start)
        line = text[line_start:position].strip()
        if line and not line.startswith(_COMMENT_STARTS):
            break
        position = line_start
        if line:
            found = line_start
    return found


def _cut(text: str, span: Span, count: TokenCounter, limit: int) -> Iterator[Span]:
    """At line ends, as many lines as fit; a single line that is too long is halved until it fits."""
    if span.end - span.start <= limit:  # a token is at least a character
        yield span
        return
    lines = text[span.start : span.end].splitlines(keepends=True)
    sizes = count(lines)
    start = position = span.start
    total = 0
    for line, size in zip(lines, sizes, strict=True):
        if total and total + size > limit:
            yield Span(start, position, span.definition)
            start, total = position, 0
        if size > limit:
            yield from _halved(text, Span(position, position + len(line), span.definition), count, limit)
            start = position + len(line)
        else:
            total += size
        position += len(line)
    if start < span.end:
        yield Span(start, span.end, span.definition)


def _halved(text: str, span: Span, count: TokenCounter, limit: int) -> Iterator[Span]:
    parts = [span]
    while parts:
        part = parts.pop()
        length = part.end - part.start
        if length <= limit or count([text[part.start : part.end]])[0] <= limit:
            yield part
        else:
            middle = part.start + length // 2
            parts += [Span(middle, part.end, part.definition), Span(part.start, middle, part.definition)]


def _piece(repository: str, facts: ops.FileFacts, text: str, span: Span, tokens: int) -> CodePiece:
    line = text.count("\n", 0, span.start) + 1
    body = text[span.start : span.end]
    names, kind, qualified = [facts.path], "file", ""
    if span.definition >= 0:
        definition = facts.definitions[span.definition]
        kind, qualified = definition.kind, definition.qualified_name
        names += _path_names(facts, span.definition)
    return CodePiece(
        body,
        span.start,
        span.end,
        " > ".join(names),
        tokens,
        line,
        line + body.rstrip("\n").count("\n"),
        symbol_id(repository, facts.path, qualified),
        _kind(kind),
    )


def _kind(kind: str) -> SymbolKind:
    return kind  # type: ignore[return-value]  # lowering uses the model's own words


def _path_names(facts: ops.FileFacts, index: int) -> list[str]:
    names: list[str] = []
    while index >= 0:
        names.insert(0, facts.definitions[index].name)
        index = facts.definitions[index].parent
    return names
