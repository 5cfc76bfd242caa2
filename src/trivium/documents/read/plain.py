"""Plain text: paragraphs are what blank lines part. The text is the decoded file itself."""

import re

from trivium.documents.read.blocks import covering
from trivium.documents.read.decode import decode
from trivium.documents.read.reader import RawFile, Reader
from trivium.model.chunk import Block, ParsedDocument

_BLANK_LINES = re.compile(r"\r?\n[ \t\f\v]*(?:\r?\n[ \t\f\v]*)+|\f")


def read_plain(file: RawFile) -> ParsedDocument:
    text = decode(file.data)
    return ParsedDocument(text, covering(text, paragraphs(text)))


def paragraphs(text: str) -> list[Block]:
    blocks, start = [], 0
    for gap in _BLANK_LINES.finditer(text):
        blocks.append(Block("paragraph", start, gap.start()))
        # The indentation of the next line belongs to it, so that it starts where its line starts.
        start = text.rfind("\n", gap.start(), gap.end()) + 1 or gap.end()
    return [*blocks, Block("paragraph", start, len(text))]


READER = Reader(suffixes=(".txt", ".text", ".log", ""), read=read_plain)
