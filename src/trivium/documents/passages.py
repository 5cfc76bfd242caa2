"""The strings that are embedded for a chunk: as many as it takes so that the encoder reads all of it.

The encoder cuts off what is longer than it reads, without a word. A chunk that is longer becomes several passages of
about equal size, cut at line and sentence ends, each under the chunk's heading path. Whether the path helps, and how
large a passage should be, was measured: docs/decisions/chunking.md.
"""

from collections.abc import Iterator, Sequence

from trivium.documents.cuts import MIXED, Span, Stretch, TokenCounter, stretches

# Less than the encoders read: one vector for much text says little of each part of it.
PREFERRED_TOKENS = 128
_HEADER_SHARE = 4  # the header may take a quarter of what the encoder reads, no more


def passages(header: str, text: str, count_tokens: TokenCounter, max_tokens: int) -> list[str]:
    """The passages of one chunk, each within `max_tokens` by `count_tokens`; see `passages_of`."""
    return passages_of([(header, text)], count_tokens, max_tokens)[0]


def passages_of(
    chunks: Sequence[tuple[str, str]], count_tokens: TokenCounter, max_tokens: int, preferred: int = PREFERRED_TOKENS
) -> list[list[str]]:
    """For every (header, text) its passages, in order; none for a blank text. Texts that fit are tokenised once."""
    max_tokens = min(max_tokens, preferred)
    whole = [_joined(header, text) for header, text in chunks]
    counts = count_tokens(whole) if whole else []
    result = [[string] if text.strip() else [] for string, (_, text) in zip(whole, chunks, strict=True)]
    long = [i for i, tokens in enumerate(counts) if tokens > max_tokens and result[i]]
    for i, windows in zip(long, _windows([chunks[i] for i in long], count_tokens, max_tokens), strict=True):
        result[i] = windows
    return result


def _windows(chunks: Sequence[tuple[str, str]], count_tokens: TokenCounter, max_tokens: int) -> list[list[str]]:
    """All chunks are cut and counted together, in a few large batches."""
    if not chunks:
        return []
    special = count_tokens([""])[0]  # every count includes the tokens the encoder adds by itself
    headers = _short_headers([header for header, _ in chunks], count_tokens, max_tokens // _HEADER_SHARE)
    limits = [max(1, max_tokens - taken + special) for taken in count_tokens(headers)]
    spans = [Span(text, 0, len(text), MIXED, limit) for (_, text), limit in zip(chunks, limits, strict=True)]
    parts = stretches(spans, count_tokens)
    groups = [list(_packed(row, limit, special)) for row, limit in zip(parts, limits, strict=True)]
    rows = zip(headers, chunks, groups, strict=True)
    return _verified([(header, text, group) for header, (_, text), group in rows], count_tokens, max_tokens)


def _packed(parts: Sequence[Stretch], limit: int, special: int) -> Iterator[list[Stretch]]:
    """Windows of about equal size, rather than full ones and a small rest."""
    total = sum(part.tokens - special for part in parts)
    room = max(1, limit - special)
    target = total / -(-total // room) if total > 0 else room
    group: list[Stretch] = []
    size = 0
    behind, due = 0, target  # all tokens so far, and how many there should be at the end of this window
    for part in parts:
        tokens = part.tokens - special
        if group and (size + tokens > room or behind + tokens / 2 > due):
            yield group
            group, size, due = [], 0, due + target
        group.append(part)
        size += tokens
        behind += tokens
    if group:
        yield group


def _verified(
    rows: Sequence[tuple[str, str, list[list[Stretch]]]], count_tokens: TokenCounter, max_tokens: int
) -> list[list[str]]:
    """Counts of parts do not quite add up: a window that turns out too long is halved until it fits."""
    pending = [[_window(header, text, group) for group in groups] for header, text, groups in rows]
    counts = iter(count_tokens([window for windows in pending for window in windows]))
    result: list[list[str]] = []
    for header, text, groups in rows:
        result.append([])
        for group in groups:
            result[-1].extend(_halved(header, text, group, next(counts), count_tokens, max_tokens))
    return result


def _halved(
    header: str, text: str, group: list[Stretch], tokens: int, count_tokens: TokenCounter, max_tokens: int
) -> Iterator[str]:
    if tokens <= max_tokens or len(group) == 1:
        yield _window(header if tokens <= max_tokens else "", text, group)
        return
    for half in (group[: len(group) // 2], group[len(group) // 2 :]):
        yield from _halved(header, text, half, count_tokens([_window(header, text, half)])[0], count_tokens, max_tokens)


def _window(header: str, text: str, group: Sequence[Stretch]) -> str:
    return _joined(header, text[group[0].start : group[-1].end])


def _joined(header: str, text: str) -> str:
    """By a space: to MiniLM it is the same as a line break, to granite it is worth 3.7 points on cacm."""
    return f"{header} {text}" if header else text


def _short_headers(headers: Sequence[str], count_tokens: TokenCounter, limit: int) -> list[str]:
    """A path that is too long loses its first parts: the last ones say most about the text below."""
    result = list(headers)
    for i, tokens in enumerate(count_tokens(headers)):
        while tokens > limit and result[i]:
            result[i] = result[i].partition(" > ")[2]
            tokens = count_tokens([result[i]])[0]
    return result
