"""reStructuredText: docutils parses it, its HTML goes through the HTML reader. Nothing in it can reach a file."""

import io
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from trivium.documents.read.dates import iso_date
from trivium.documents.read.decode import decode
from trivium.documents.read.html import parse_html
from trivium.documents.read.reader import RawFile, Reader
from trivium.model.chunk import ParsedDocument, Scalar

_SETTINGS: dict[str, object] = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,  # Sphinx markup that docutils does not know is not worth a message
    "halt_level": 5,
    "warning_stream": io.StringIO(),
    "embed_stylesheet": False,
    "stylesheet_path": None,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "math_output": "LaTeX",
    "initial_header_level": 2,
    "doctitle_xform": True,
    "sectsubtitle_xform": False,
    "docinfo_xform": True,
    "line_length_limit": 10_000_000,
    "input_encoding": "unicode",
    "output_encoding": "unicode",
}
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+([A-Za-z][\w:+.-]*?)::(?=\s|$)", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w:+.-]*):`")
_NO_TEXT = frozenset(
    {"toctree", "literalinclude", "index", "highlight", "currentmodule", "tabularcolumns", "code-block"}
)


def read_rst(file: RawFile) -> ParsedDocument:
    text = decode(file.data)
    if not text.strip():
        return ParsedDocument("", ())
    from docutils import core

    _keep_unknown(text)
    doctree = core.publish_doctree(text, settings_overrides=_SETTINGS)
    fields = _taken_fields(doctree)
    _without_images(doctree)
    html = core.publish_from_doctree(doctree, writer="html5", settings_overrides=_SETTINGS)
    body = parse_html(str(html))
    date = next((found for key in ("updated", "date", "revised") if (found := iso_date(fields.get(key)))), None)
    kept: dict[str, Scalar | list[Scalar]] = {key: value for key, value in fields.items() if key != "date"}
    return ParsedDocument(body.text, body.blocks, str(doctree.get("title", "")), date, kept)


def _taken_fields(doctree: Any) -> dict[str, str]:
    """The field list on top (`:Date: …`), which is about the document and no part of its text."""
    from docutils import nodes

    found: dict[str, str] = {}
    for info in list(doctree.findall(nodes.docinfo)):
        for item in info.children:
            name, value = (item[0], item[1]) if isinstance(item, nodes.field) else (item.tagname, item)
            key = name if isinstance(name, str) else name.astext()
            found[key.strip().lower()] = " ".join(value.astext().split())
        info.parent.remove(info)
    return found


def _without_images(doctree: Any) -> None:
    """The HTML writer would read image files to embed or measure them."""
    from docutils import nodes

    for image in list(doctree.findall(nodes.image)):
        image.replace_self(nodes.Text(image.get("alt", "")))


def _keep_unknown(text: str) -> None:
    """Docutils drops what stands under a directive it does not know, such as Sphinx's: of those the text is kept."""
    from docutils import nodes
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.languages import en

    for name in {found.lower() for found in _DIRECTIVE.findall(text)} - {*en.directives} - _NO_TEXT:
        directives.register_directive(name, _keep_content())
    for name in {found.lower() for found in _ROLE.findall(text)} - {*en.roles}:
        roles.register_generic_role(name, nodes.literal)


@cache
def _keep_content() -> Any:
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class KeepContent(Directive):
        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True
        option_spec = _AnyOption()

        def run(self) -> list[nodes.Node]:
            box = nodes.container()
            if self.arguments:
                box += nodes.paragraph("", self.arguments[0])
            self.state.nested_parse(self.content, self.content_offset, box)
            return [box]

    return KeepContent


class _AnyOption(dict[str, Callable[[str], str]]):
    """Takes every option a directive is given; one entry, because docutils takes an empty mapping for none at all."""

    def __init__(self) -> None:
        super().__init__({"class": str})

    def __missing__(self, key: str) -> Callable[[str], str]:
        return lambda value: value or ""


READER = Reader(suffixes=(".rst", ".rest"), read=read_rst)
