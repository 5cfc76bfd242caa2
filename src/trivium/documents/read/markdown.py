"""Markdown. The text is the decoded file itself; markdown-it's line maps say where its blocks lie."""

import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from trivium.documents.read.blocks import covering
from trivium.documents.read.decode import decode
from trivium.documents.read.front_matter import front_matter
from trivium.documents.read.reader import RawFile, Reader
from trivium.model.chunk import Block, BlockKind, ParsedDocument

_NEWLINE = re.compile(r"\r\n?|\n")  # what markdown-it counts as one
_LEAVES: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "html_block": "paragraph",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
}
_DECORATION = re.compile(r"^[ \t]*#{1,6}[ \t]+|[ \t]+#+[ \t]*$|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_ANCHOR = re.compile(r"[ \t]*\{[#.:][^{}]*\}[ \t]*$")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


def read_markdown(file: RawFile) -> ParsedDocument:
    text = decode(file.data)
    matter = front_matter(text)
    blocks = covering(text, markdown_blocks(text, matter.end), matter.end)
    title = matter.title or first_title(text, blocks)
    return ParsedDocument(text, blocks, title, matter.date, matter.metadata)


def markdown_blocks(text: str, start: int = 0) -> Iterator[Block]:
    body = text[start:]
    line_starts = [start, *(start + newline.end() for newline in _NEWLINE.finditer(body)), len(text)]
    for kind, level, (first, last) in _leaves(_parser().parse(body)):
        yield Block(kind, line_starts[first], line_starts[min(last, len(line_starts) - 1)], level)


def first_title(text: str, blocks: tuple[Block, ...]) -> str:
    """The text of the only heading at the top level, or of the first one where the document begins with it."""
    headings = [block for block in blocks if block.kind == "heading"]
    tops = [block for block in headings if block.level == 1]
    is_title = tops and (len(tops) == 1 or tops[0] == blocks[0])
    return heading_text(text[tops[0].start : tops[0].end]) if is_title else ""


def heading_text(source: str) -> str:
    """A heading's words without their marks: `## The *store* {#store}` is `The store`."""
    first_line = source.strip().split("\n", 1)[0].rstrip("\r")
    plain = _TAG.sub("", _LINK.sub(r"\1", _ANCHOR.sub("", first_line)))
    return " ".join(_DECORATION.sub("", plain).split())


def _leaves(tokens: list[Token]) -> Iterator[tuple[BlockKind, int, list[int]]]:
    containers: list[BlockKind] = []
    for token in tokens:
        if token.type in ("bullet_list_open", "ordered_list_open", "blockquote_open"):
            containers.append("quote" if token.type == "blockquote_open" else "list")
        elif token.type in ("bullet_list_close", "ordered_list_close", "blockquote_close"):
            containers.pop()
        elif token.map and token.type in _LEAVES:
            yield _kind(_LEAVES[token.type], containers), _level(token, containers), token.map


def _kind(kind: BlockKind, containers: list[BlockKind]) -> BlockKind:
    """Inside a list or quotation prose is its text, and a heading opens no section of the document."""
    return containers[-1] if containers and kind in ("paragraph", "heading") else kind


def _level(token: Token, containers: list[BlockKind]) -> int:
    return int(token.tag[1]) if token.type == "heading_open" and not containers else 0


@cache
def _parser() -> MarkdownIt:
    # Only the blocks matter here: inline markup would cost most of the time and is left in the text as it is.
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


READER = Reader(suffixes=(".md", ".markdown", ".mdx"), read=read_markdown)
