"""HTML into Markdown-like text: headings, lists, tables, code and quotations stay, what is not content goes.

The tree is walked with lxml's event iterator, never by recursion, so that no depth of nesting can overflow the stack.
"""

import re
from collections.abc import Iterator
from typing import Any

from trivium.documents.read.blocks import TextBuilder
from trivium.documents.read.dates import iso_date
from trivium.documents.read.reader import RawFile, Reader, Unreadable
from trivium.model.chunk import ParsedDocument, Scalar

_DROPPED = frozenset(
    {"script", "style", "noscript", "template", "svg", "iframe", "nav", "head", "canvas", "object", "select", "button"}
)
_NEVER_CONTENT = frozenset({"script", "style", "template", "head"})
_PAGE_FURNITURE = frozenset({"header", "footer", "aside", "form"})  # dropped only at the page's own level
_FURNITURE_ROLES = frozenset({"navigation", "banner", "contentinfo", "search"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS = frozenset({"ul", "ol", "menu"})
_BLOCK = (
    _HEADINGS
    | _LISTS
    | _PAGE_FURNITURE
    | {"address", "article", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset"}
    | {"figcaption", "figure", "hgroup", "hr", "html", "legend", "li", "main", "p", "pre", "section", "summary"}
    | {"table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"}
)
_DATE_NAMES = (  # best first
    *("last-modified", "article:modified_time", "og:updated_time", "dcterms.modified", "article:published_time"),
    *("dcterms.created", "datepublished", "date", "dc.date"),
)
_SPACE = re.compile(r"[ \t\r\n\f\v]+")


def read_html(file: RawFile) -> ParsedDocument:
    return parse_html(file.data)


def parse_html(source: bytes | str) -> ParsedDocument:
    root = _tree(source)
    if root is None:
        return ParsedDocument("", ())
    properties = _properties(root)
    body = _rendered(_content(root), _DROPPED)
    if not body.blocks:  # everything was furniture: then it is the content
        body = _rendered(root, _NEVER_CONTENT)
    title = str(properties.pop("title", "")) or _first_heading(body)
    date = next((found for name in _DATE_NAMES if (found := iso_date(properties.get(name)))), None)
    kept = {name: value for name, value in properties.items() if name in ("description", "author", "keywords")}
    return ParsedDocument(body.text, body.blocks, title, date, kept)


def _tree(source: bytes | str) -> Any:
    from lxml import html as lxml_html

    from trivium.documents.read.decode import decode

    text = decode(_announced_as_utf8(source)) if isinstance(source, bytes) else source
    if not text.strip():
        return None
    # huge_tree lifts libxml2's depth limit, beyond which it would drop text without a word.
    parser = lxml_html.HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True, encoding="utf-8")
    root = lxml_html.document_fromstring(text.encode("utf-8", "replace"), parser=parser, ensure_head_body=True)
    if any("depth" in entry.message.lower() for entry in parser.error_log):
        raise Unreadable("nested too deeply")
    return root


def _announced_as_utf8(data: bytes) -> bytes:
    """Honours the page's own charset where the bytes are not UTF-8 anyway."""
    found = re.search(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", data[:4096], re.IGNORECASE)
    if found is None:
        return data
    try:
        return data if _is_utf8(data) else data.decode(found[1].decode("ascii")).encode("utf-8")
    except (LookupError, UnicodeDecodeError):
        return data


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _properties(root: Any) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for meta in root.iter("meta"):
        name = meta.get("name") or meta.get("property") or meta.get("itemprop") or meta.get("http-equiv")
        if name and meta.get("content"):
            found.setdefault(name.strip().lower(), meta.get("content").strip())
    title = root.find(".//head/title")
    found["title"] = _SPACE.sub(" ", title.text or "").strip() if title is not None else ""
    return found


def _content(root: Any) -> Any:
    """The page's own main part where it names exactly one."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = root.findall(path)
        if len(found) == 1 and len(found[0].text_content()) > 0:
            return found[0]
    return root


def _first_heading(body: TextBuilder) -> str:
    tops = [block for block in body.blocks if block.kind == "heading" and block.level == 1]
    return body.text[tops[0].start : tops[0].end].lstrip("# ") if len(tops) == 1 else ""


def _rendered(root: Any, dropped: frozenset[str]) -> TextBuilder:
    renderer = _Renderer()
    for event, element in _events(root, dropped):
        if event == "start":
            renderer.start(element)
        else:
            renderer.end(element)
            if element is not root:
                renderer.write(element.tail)
    renderer.flush()
    return renderer.builder


def _events(root: Any, dropped: frozenset[str]) -> Iterator[tuple[str, Any]]:
    from lxml import etree

    walker = etree.iterwalk(root, events=("start", "end"))
    skipped = None
    for event, element in walker:
        if skipped is not None:
            if event == "end" and element is skipped:
                skipped = None
                yield "end", element
        elif event == "start" and element is not root and _is_dropped(element, dropped):
            skipped = element
            walker.skip_subtree()
        else:
            yield event, element


def _is_dropped(element: Any, dropped: frozenset[str]) -> bool:
    if not isinstance(element.tag, str) or element.tag in dropped or element.get("hidden") is not None:
        return True
    if dropped is _DROPPED and element.tag in _PAGE_FURNITURE and element.getparent().tag == "body":
        return bool(element.find(".//h1") is None)
    if element.get("role") in _FURNITURE_ROLES and dropped is _DROPPED:
        return True
    return element.get("aria-hidden") == "true" or "headerlink" in element.get("class", "")


class _Renderer:
    """Collects inline text until a block begins or ends, then writes the block."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._inline: list[str] = []
        self._heading = 0
        self._lists: list[int | None] = []  # per open list: the next number, None where it has bullets
        self._marker = ""
        self._quotes = 0
        self._preformatted = 0
        self._table: _Table | None = None
        self._table_depth = 0
        self._tight = False

    def start(self, element: Any) -> None:
        tag = element.tag
        if tag == "br":
            self.write_raw("\n")
        elif tag == "img":
            self.write(element.get("alt"))
        elif self._table is not None:
            self._start_in_table(tag)
        elif tag in _BLOCK:
            self._open(tag)
        elif tag == "code" and not self._preformatted:
            self.write_raw("`")
        self.write(element.text)

    def end(self, element: Any) -> None:
        tag = element.tag
        if self._table is not None:
            self._end_in_table(tag)
        elif tag in _BLOCK:
            self._close(tag)
        elif tag == "code" and not self._preformatted and self._inline and self._inline[-1:] != ["`"]:
            self.write_raw("`")

    def write(self, text: str | None) -> None:
        if text:
            self._inline.append(text if self._preformatted else _SPACE.sub(" ", text))

    def write_raw(self, text: str) -> None:
        self._inline.append(text)

    def flush(self) -> None:
        text, self._inline = "".join(self._inline), []
        if self._preformatted:
            self._code(text)
            return
        lines = [_SPACE.sub(" ", line).strip() for line in text.split("\n")]
        prose = "\n".join(line for line in lines if line)
        if prose:
            self._prose(prose)

    def _open(self, tag: str) -> None:
        self.flush()
        if tag in _HEADINGS:
            self._heading = int(tag[1])
        elif tag in _LISTS:
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._marker = self._next_marker()
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "pre":
            self._preformatted += 1
        elif tag == "table":
            self._table, self._table_depth = _Table(), 1

    def _close(self, tag: str) -> None:
        self.flush()
        if tag in _HEADINGS:
            self._heading = 0
        elif tag in _LISTS and self._lists:
            self._lists.pop()
            self._tight = bool(self._lists)
        elif tag == "li":
            self._marker = ""
        elif tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)
        elif tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)

    def _start_in_table(self, tag: str) -> None:
        assert self._table is not None
        if tag == "table":
            self._table_depth += 1
        elif self._table_depth > 1:
            self.write_raw(" ")
        elif tag in ("tr", "td", "th", "caption"):
            self._end_cell()
            self._table.open(tag)
        elif tag in _BLOCK:
            self.write_raw(" ")

    def _end_in_table(self, tag: str) -> None:
        assert self._table is not None
        if tag == "table":
            self._table_depth -= 1
            if self._table_depth == 0:
                self._end_cell()
                table, self._table = self._table, None
                self.builder.add("paragraph", table.caption)
                self.builder.add("table", table.text())
        elif tag in ("td", "th", "caption") and self._table_depth == 1:
            self._end_cell()

    def _end_cell(self) -> None:
        assert self._table is not None
        text, self._inline = _SPACE.sub(" ", "".join(self._inline)).strip(), []
        self._table.fill(text)

    def _next_marker(self) -> str:
        if not self._lists:
            return "- "
        number = self._lists[-1]
        if number is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number}. "

    def _prose(self, text: str) -> None:
        if self._heading:
            line = " ".join(text.split())
            self.builder.add("heading", f"{'#' * self._heading} {line}", level=self._heading)
        elif self._lists:
            self._list_item(text)
        elif self._quotes:
            self.builder.add("quote", "\n".join(f"> {line}" for line in text.split("\n")))
        else:
            self.builder.add("paragraph", text)

    def _list_item(self, text: str) -> None:
        indent = "  " * min(len(self._lists) - 1, 8)
        first, *rest = text.split("\n")
        lines = [f"{indent}{self._marker or '  '}{first}", *(f"{indent}  {line}" for line in rest)]
        self.builder.add("list", "\n".join(lines), tight=self._tight)
        self._marker, self._tight = "", True

    def _code(self, text: str) -> None:
        if text.strip():
            fence = "```" if "```" not in text else "~~~~"
            self.builder.add("code", f"{fence}\n{text.strip(chr(10)).rstrip()}\n{fence}")


class _Table:
    def __init__(self) -> None:
        self.caption = ""
        self._rows: list[list[str]] = []
        self._in_caption = False

    def open(self, tag: str) -> None:
        self._in_caption = tag == "caption"
        if tag == "tr" or (not self._rows and tag != "caption"):
            self._rows.append([])
        self._open_cell = tag in ("td", "th")

    _open_cell = False

    def fill(self, text: str) -> None:
        if self._in_caption:
            self.caption = f"{self.caption} {text}".strip()
        elif self._open_cell:
            self._rows[-1].append(text)
        elif text:
            self._rows.append([text])
        self._open_cell = self._in_caption = False

    def text(self) -> str:
        return table_text(self._rows)


def table_text(rows: list[list[str]]) -> str:
    """Rows as a Markdown table, one line each, the first as its header."""
    rows = [row for row in rows if any(row)]
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = [_row([*row, *[""] * (width - len(row))]) for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


READER = Reader(suffixes=(".html", ".htm", ".xhtml"), read=read_html)
