"""PDF (pdfium): lines into paragraphs, broken words mended, larger type as headings, running heads dropped.

A PDF knows glyphs and places, not paragraphs. What is made of them here is a judgement from line gaps, type size and
punctuation; the order of the text is pdfium's. `page_starts` in the metadata says where in the text each page begins.
"""

import itertools
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from trivium.documents.read.blocks import TextBuilder
from trivium.documents.read.dates import iso_date
from trivium.documents.read.reader import RawFile, Reader, Unreadable
from trivium.model.chunk import BlockKind, ParsedDocument, Scalar

_PDFIUM = threading.Lock()  # the library is not thread-safe
_SOFT_HYPHENS = "\xad\x02\ufffe"
_BROKEN_WORD = re.compile(rf"(?<=[^\W\d_])[-‐{_SOFT_HYPHENS}]$")
_BULLET = re.compile(r"[•◦▪‣·–*-]\s+\S|\(?(?:\d{1,2}|[a-z])[.)]\s+\S")
_BULLET_SIGN = re.compile(r"^[•◦▪‣·–*]\s+")
_SENTENCE_END = tuple('.!?:;。！？”"')
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|p\.)?\s*[-–]?\s*(?:\d+|[ivxlc]+)\s*(?:(?:of|/|von)\s*\d+)?\s*[-–]?", re.IGNORECASE
)
_HEADING_SIZE = 1.15  # times the body's type
_MAX_HEADING = 200
_EDGE_LINES = 2  # a running head or foot is among so many lines at a page's edge


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    left: float
    right: float
    top: float
    bottom: float

    @property
    def size(self) -> float:
        return round(2 * (self.top - self.bottom)) / 2


@dataclass(slots=True)
class _Paragraph:
    page: int
    lines: list[_Line] = field(default_factory=list)
    goes_on_at: dict[int, int] = field(default_factory=dict)  # page: the first line that stands on it

    @property
    def size(self) -> float:
        return self.lines[0].size

    def text(self) -> str:
        return joined([line.text for line in self.lines])


def read_pdf(file: RawFile) -> ParsedDocument:
    if not file.data:
        return ParsedDocument("", ())
    with _PDFIUM:
        pages, properties = _extracted(file.data)
    if not any(pages):
        raise Unreadable("no text in it; scanned pages have to go through text recognition (OCR) first")
    paragraphs = list(_across_pages(_paragraphs(_without_running_heads(pages))))
    builder, page_starts = _written(paragraphs, len(pages))
    metadata: dict[str, Scalar | list[Scalar]] = {"pages": len(pages), "page_starts": page_starts}
    if properties.get("Author"):
        metadata["author"] = properties["Author"]
    date = iso_date(properties.get("ModDate")) or iso_date(properties.get("CreationDate"))
    return ParsedDocument(builder.text, builder.blocks, properties.get("Title") or _title(builder), date, metadata)


def joined(lines: Sequence[str]) -> str:
    """Lines into one, words that were broken at a line's end made whole."""
    text = ""
    for line in map(str.strip, lines):
        if _BROKEN_WORD.search(text) and line[:1].islower():
            text = text[:-1] + line
        else:
            text = f"{text} {line}" if text else line
    return text.translate(dict.fromkeys(map(ord, _SOFT_HYPHENS)))


def _extracted(data: bytes) -> tuple[list[list[_Line]], dict[str, str]]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).lower()
        raise Unreadable("encrypted; remove its password first" if locked else f"damaged PDF ({error})") from error
    try:
        properties = {key: value.strip() for key, value in document.get_metadata_dict(skip_empty=True).items()}
        return [list(_lines(document[i])) for i in range(len(document))], properties
    finally:
        document.close()


def _lines(page: Any) -> Iterator[_Line]:
    import pypdfium2.raw as raw

    textpage = page.get_textpage()
    text = textpage.get_text_range()
    for match in re.finditer(r"[^\r\n]+", text):
        content = match[0].strip()
        if not content:
            continue
        start = match.start() + match[0].index(content[0])
        first, last = (raw.FPDFText_GetCharIndexFromTextIndex(textpage, i) for i in (start, start + len(content) - 1))
        boxes = [textpage.get_charbox(max(i, 0), loose=True) for i in (first, last)]
        yield _Line(content, boxes[0][0], boxes[1][2], boxes[0][3], boxes[0][1])
    textpage.close()
    page.close()


def _without_running_heads(pages: Sequence[list[_Line]]) -> list[list[_Line]]:
    times = Counter(shape for lines in pages for shape in {_shape(line) for line in _edge(lines)})
    repeated = {shape for shape, n in times.items() if n > 2 and ("#" in shape or n > len(pages) / 2)}
    return [[line for i, line in enumerate(lines) if not _is_running(line, i, lines, repeated)] for lines in pages]


def _is_running(line: _Line, index: int, lines: Sequence[_Line], repeated: set[str]) -> bool:
    at_edge = _at_edge(index, len(lines))
    return at_edge and (_shape(line) in repeated or _PAGE_NUMBER.fullmatch(line.text) is not None)


def _edge(lines: Sequence[_Line]) -> list[_Line]:
    return [line for i, line in enumerate(lines) if _at_edge(i, len(lines))]


def _at_edge(index: int, length: int) -> bool:
    return index < _EDGE_LINES or index >= length - _EDGE_LINES


def _shape(line: _Line) -> str:
    return re.sub(r"\d+", "#", line.text)


def _paragraphs(pages: Sequence[list[_Line]]) -> Iterator[_Paragraph]:
    for number, lines in enumerate(pages):
        gaps = [above.bottom - line.top for above, line in itertools.pairwise(lines)]
        usual = median(gap for gap in gaps if gap > -20) if any(gap > -20 for gap in gaps) else 0.0
        width = max((line.right for line in lines), default=0.0)
        paragraph = _Paragraph(number)
        for line in lines:
            if paragraph.lines and _begins_anew(paragraph.lines[-1], line, usual, width):
                yield paragraph
                paragraph = _Paragraph(number)
            paragraph.lines.append(line)
        if paragraph.lines:
            yield paragraph


def _begins_anew(above: _Line, line: _Line, usual_gap: float, width: float) -> bool:
    size = max(above.size, line.size, 1.0)
    if abs(above.size - line.size) > 0.1 * size or _BULLET.match(line.text):
        return True
    gap = above.bottom - line.top
    if gap < -1.5 * size:  # further up: the next column
        return above.text.endswith(_SENTENCE_END)
    ends_early = above.right < 0.8 * width and above.text.endswith(_SENTENCE_END)
    return gap > usual_gap + 0.4 * size or ends_early


def _across_pages(paragraphs: Iterator[_Paragraph]) -> Iterator[_Paragraph]:
    """A paragraph that goes on over the page is one."""
    last: _Paragraph | None = None
    for paragraph in paragraphs:
        if last is not None and _goes_on(last, paragraph):
            last.goes_on_at[paragraph.page] = len(last.lines)
            last.lines.extend(paragraph.lines)
            continue
        if last is not None:
            yield last
        last = paragraph
    if last is not None:
        yield last


def _goes_on(last: _Paragraph, paragraph: _Paragraph) -> bool:
    over_the_page = paragraph.page > max([last.page, *last.goes_on_at])
    begins_lower = paragraph.lines[0].text[:1].islower()
    return (
        over_the_page
        and begins_lower
        and last.size == paragraph.size
        and not last.lines[-1].text.endswith(_SENTENCE_END)
    )


def _written(paragraphs: Sequence[_Paragraph], pages: int) -> tuple[TextBuilder, list[Scalar]]:
    levels = _heading_levels(paragraphs)
    builder = TextBuilder()
    starts: dict[int, int] = {}
    for paragraph in paragraphs:
        kind, text, level = _block(paragraph, levels)
        builder.add(kind, text, level=level)
        starts.setdefault(paragraph.page, builder.last.start)
        for page, line in paragraph.goes_on_at.items():
            starts[page] = builder.length - len(joined([rest.text for rest in paragraph.lines[line:]]))
    return builder, _filled(starts, pages, builder.length)


def _filled(starts: dict[int, int], pages: int, end: int) -> list[Scalar]:
    """A page without text begins where the next one does."""
    result: list[Scalar] = []
    for page in reversed(range(pages)):
        end = starts.get(page, end)
        result.append(end)
    return result[::-1]


def _heading_levels(paragraphs: Sequence[_Paragraph]) -> dict[float, int]:
    characters: Counter[float] = Counter()
    for paragraph in paragraphs:
        characters[paragraph.size] += sum(len(line.text) for line in paragraph.lines)
    body = characters.most_common(1)[0][0] if characters else 0.0
    larger = sorted((size for size in characters if size >= _HEADING_SIZE * body and size > body), reverse=True)
    return {size: min(rank, 4) for rank, size in enumerate(larger, start=1)}


def _block(paragraph: _Paragraph, levels: dict[float, int]) -> tuple[BlockKind, str, int]:
    text = paragraph.text()
    level = levels.get(paragraph.size, 0)
    if level and len(text) <= _MAX_HEADING and re.search(r"[^\W\d_]", text):
        return "heading", f"{'#' * level} {text}", level
    if _BULLET.match(text):
        return "list", _BULLET_SIGN.sub("- ", text), 0
    return "paragraph", text, 0


def _title(builder: TextBuilder) -> str:
    first = next((block for block in builder.blocks if block.kind == "heading" and block.level == 1), None)
    return builder.text[first.start : first.end].lstrip("# ") if first else ""


READER = Reader(suffixes=(".pdf",), read=read_pdf)
