"""Blocks: building them together with their text, and closing the gaps between them in a text that is given."""

import re
from collections.abc import Iterable, Iterator

from trivium.model.chunk import Block, BlockKind, ParsedDocument

_NON_BLANK = re.compile(r"\S")


class TextBuilder:
    """Writes a document block by block, a blank line between them."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0

    @property
    def last(self) -> Block:
        return self._blocks[-1]

    @property
    def length(self) -> int:
        return self._length

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks)

    def add(self, kind: BlockKind, text: str, *, level: int = 0, tight: bool = False) -> None:
        """`tight` puts the block on the very next line, as list items stand."""
        text = text.strip("\n").rstrip()
        if not text.strip():
            return
        self._write("" if not self._parts else "\n" if tight else "\n\n")
        start = self._length
        self._write(text)
        self._blocks.append(Block(kind, start, self._length, level))

    def add_document(self, document: ParsedDocument, deeper_by: int) -> None:
        """Takes in another document's blocks, its headings `deeper_by` levels further down."""
        for block in document.blocks:
            level = min(block.level + deeper_by, 6) if block.kind == "heading" else 0
            self.add(block.kind, document.text[block.start : block.end], level=level)

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def covering(text: str, blocks: Iterable[Block], start: int = 0) -> tuple[Block, ...]:
    """The blocks trimmed of blank edges, with every non-blank stretch between them as a paragraph of its own."""
    return tuple(_covering(text, blocks, start))


def _covering(text: str, blocks: Iterable[Block], position: int) -> Iterator[Block]:
    for block in blocks:
        if block.end <= position:
            continue
        yield from trimmed(text, Block("paragraph", position, max(position, block.start)))
        yield from trimmed(text, Block(block.kind, max(position, block.start), block.end, block.level))
        position = block.end
    yield from trimmed(text, Block("paragraph", position, len(text)))


def trimmed(text: str, block: Block) -> Iterator[Block]:
    """The block without blank lines at its edges (indentation stays), or nothing if it is blank."""
    first = _NON_BLANK.search(text, block.start, block.end)
    if first is None:
        return
    line_start = max(text.rfind("\n", block.start, first.start()) + 1, block.start)
    end = block.end
    while text[end - 1].isspace():
        end -= 1
    yield Block(block.kind, line_start, end, block.level)
