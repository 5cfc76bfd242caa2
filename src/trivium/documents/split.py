"""A document into chunks that follow its structure.

Sections are what headings part. A section that fits is one chunk; small neighbours under one parent share one; a large
one is cut between blocks, and a block that is too large by itself at line ends (tables, code) or sentence ends (prose).
The sizes were settled by measurement: docs/decisions/chunking.md.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trivium.documents.cuts import LINES, PROSE, Span, Stretch, TokenCounter, stretches
from trivium.documents.read.markdown import heading_text
from trivium.model.chunk import Block, ParsedDocument, Piece

DEFAULT_LIMIT = 500
MERGED_SHARE = 0.25  # of the limit: up to here small sections are put together
_DELIMITER_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+")
_MAX_TITLE = 120
_MAX_TABLE_HEADER = 300


@dataclass(frozen=True, slots=True)
class _Atom:
    """The least the packer moves about: a whole block where it fits, else a part of one."""

    stretch: Stretch
    block: Block
    path: tuple[str, ...]

    @property
    def tokens(self) -> int:
        return self.stretch.tokens + 1  # the blank line that parts it from the next one

    @property
    def is_heading(self) -> bool:
        return self.block.kind == "heading"


def split(
    document: ParsedDocument, count: TokenCounter, limit: int = DEFAULT_LIMIT, merged_share: float = MERGED_SHARE
) -> list[Piece]:
    """Chunks in order, each `document.text[start:end]`; above `limit` only where a single character is."""
    sections = _sections(_atoms(document, count, limit))
    groups = [group for merged in _merged(sections, merged_share * limit) for group in _packed(merged, limit)]
    return [_piece(document, group, tokens) for group, tokens in _counted(document.text, groups, count, limit)]


def _atoms(document: ParsedDocument, count: TokenCounter, limit: int) -> list[_Atom]:
    """Every block, cut where it is too large, with the heading path it stands under."""
    text, blocks = document.text, document.blocks
    cut = stretches(list(_spans(text, blocks, count, limit)), count)
    return [
        _Atom(stretch, block, path)
        for block, path, parts in zip(blocks, _paths(text, blocks), cut, strict=True)
        for stretch in parts
    ]


def _spans(text: str, blocks: Sequence[Block], count: TokenCounter, limit: int) -> Iterator[Span]:
    """What follows a heading is cut a little smaller, so that the heading never stands alone for want of room."""
    headings = [text[block.start : block.end] for block in blocks if block.kind == "heading"]
    heading_tokens = iter(count(headings) if headings else [])
    above = 0
    for block in blocks:
        room = limit if block.kind == "heading" else max(limit // 2, limit - above)
        ladder = LINES if block.kind in ("table", "code") else PROSE
        yield Span(text, block.start, block.end, ladder, max(1, room))
        above = above + next(heading_tokens) + 1 if block.kind == "heading" else 0


def _paths(text: str, blocks: Sequence[Block]) -> Iterator[tuple[str, ...]]:
    open_headings: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    for block in blocks:
        if block.kind == "heading":
            while open_headings and open_headings[-1][0] >= block.level:
                open_headings.pop()
            open_headings.append((block.level, heading_text(text[block.start : block.end])))
            path = tuple(title for _, title in open_headings)
        yield path


def _sections(atoms: Sequence[_Atom]) -> list[list[_Atom]]:
    """A new section at every heading, except that one with nothing under it stays with the next."""
    sections: list[list[_Atom]] = []
    has_text = True
    for atom in atoms:
        if not sections or (atom.is_heading and has_text):
            sections.append([])
            has_text = False
        sections[-1].append(atom)
        has_text = has_text or not atom.is_heading
    return sections


def _merged(sections: Sequence[list[_Atom]], limit: float) -> Iterator[list[_Atom]]:
    """Small neighbours under one parent together."""
    group: list[_Atom] = []
    size = 0
    for section in sections:
        tokens = sum(atom.tokens for atom in section)
        if group and (size + tokens > limit or not _are_kin(group, section)):
            yield group
            group, size = [], 0
        group = [*group, *section] if group else section
        size += tokens
    if group:
        yield group


def _are_kin(group: Sequence[_Atom], section: Sequence[_Atom]) -> bool:
    parent = group[0].path[:-1]
    return section[0].path[: len(parent)] == parent


def _packed(atoms: Sequence[_Atom], limit: int) -> Iterator[list[_Atom]]:
    """Parts of about equal size rather than full ones and a small rest; a heading never ends one."""
    total = sum(atom.tokens for atom in atoms)
    target = total / max(1, -(-total // limit))
    group: list[_Atom] = []
    size = 0
    behind, due = 0, target  # all tokens so far, and how many there should be at the end of this group
    for atom in atoms:
        is_due = behind + atom.tokens / 2 > due
        if group and (size + atom.tokens > limit or (is_due and not group[-1].is_heading)):
            kept = _without_trailing_headings(group)
            yield kept
            group, due = group[len(kept) :], due + target
            size = sum(other.tokens for other in group)
        group.append(atom)
        size += atom.tokens
        behind += atom.tokens
    if group:
        yield group


def _without_trailing_headings(group: list[_Atom]) -> list[_Atom]:
    end = len(group)
    while end and group[end - 1].is_heading:
        end -= 1
    return group[:end] if end else group


def _counted(
    text: str, groups: Sequence[list[_Atom]], count: TokenCounter, limit: int
) -> Iterator[tuple[list[_Atom], int]]:
    """Exact counts. Those of the parts do not quite add up, so a group may turn out too large: then it is halved."""
    counts = count([text[slice(*_span(group))] for group in groups]) if groups else []
    for group, tokens in zip(groups, counts, strict=True):
        if tokens <= limit or len(group) == 1:
            yield group, tokens
        else:
            middle = len(group) // 2
            yield from _counted(text, [group[:middle], group[middle:]], count, limit)


def _span(group: Sequence[_Atom]) -> tuple[int, int]:
    return group[0].stretch.start, group[-1].stretch.end


def _piece(document: ParsedDocument, group: Sequence[_Atom], tokens: int) -> Piece:
    start, end = _span(group)
    return Piece(document.text[start:end], start, end, _context_header(document, group), tokens)


def _context_header(document: ParsedDocument, group: Sequence[_Atom]) -> str:
    paths = [atom.path for atom in group if not atom.is_heading] or [group[-1].path]
    path = list(_common_prefix(paths))
    if document.title and path[:1] != [document.title]:
        path.insert(0, document.title)
    shown = [_clipped(title, _MAX_TITLE) for title in path if title]
    return " > ".join([*shown, *_table_header(document.text, group[0])])


def _common_prefix(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    first, last = min(paths), max(paths)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def _table_header(text: str, atom: _Atom) -> Iterator[str]:
    """The header row of a table that the chunk continues."""
    block, start = atom.block, atom.stretch.start
    if block.kind != "table" or start == block.start:
        return
    header, _, rest = text[block.start : start].partition("\n")
    if _DELIMITER_ROW.match(rest):
        yield _clipped(header.strip().strip("|").strip(), _MAX_TABLE_HEADER)


def _clipped(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
