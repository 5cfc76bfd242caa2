"""CSV and TSV: one table, one line a row; the splitter repeats the header row in every chunk's context."""

import csv
import io
from pathlib import PurePath

from trivium.documents.read.blocks import TextBuilder
from trivium.documents.read.decode import decode
from trivium.documents.read.html import table_text
from trivium.documents.read.reader import RawFile, Reader
from trivium.model.chunk import ParsedDocument

_SNIFFED = 4 * 1024
_MAX_CELL = 1024 * 1024


def read_table(file: RawFile) -> ParsedDocument:
    text = decode(file.data)
    csv.field_size_limit(_MAX_CELL)
    rows = [list(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(file.name, text))]
    builder = TextBuilder()
    builder.add("table", table_text(rows))
    return ParsedDocument(builder.text, builder.blocks, metadata={"rows": max(0, sum(map(any, rows)) - 1)})


def _delimiter(name: str, text: str) -> str:
    """Only the delimiter is guessed: what the sniffer thinks of quotation marks is often wrong."""
    if PurePath(name).suffix.lower() in (".tsv", ".tab"):
        return "\t"
    try:
        return csv.Sniffer().sniff(_first_lines(text), delimiters=",;\t|").delimiter
    except csv.Error:  # a single column, or too irregular to tell
        return ","


def _first_lines(text: str) -> str:
    """Whole lines only: half a row at the end would mislead the sniffer."""
    head = text[:_SNIFFED]
    return head if len(text) <= _SNIFFED else head.rpartition("\n")[0] or head


READER = Reader(suffixes=(".csv", ".tsv", ".tab"), read=read_table)
