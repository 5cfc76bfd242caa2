"""DOCX: mammoth turns it into HTML, the HTML reader does the rest; title and date come from the core properties."""

import io
import zipfile
from typing import Any

from trivium.documents.read.dates import iso_date
from trivium.documents.read.html import parse_html
from trivium.documents.read.reader import RawFile, Reader, Unreadable
from trivium.model.chunk import ParsedDocument, Scalar

# A small archive can unpack to any size; a real document's parts stay far below both.
_MAX_UNPACKED = 128 * 1024 * 1024
_MAX_PARTS = 20_000
_OLE_MAGIC = b"\xd0\xcf\x11\xe0"  # what an encrypted .docx, or an old .doc under that name, begins with
_CORE = "docProps/core.xml"
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
"""


def read_docx(file: RawFile) -> ParsedDocument:
    if not file.data:
        return ParsedDocument("", ())
    if file.data.startswith(_OLE_MAGIC):
        raise Unreadable("encrypted, or in the old .doc format; save it as an unprotected .docx")
    with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
        _refuse_bombs(archive)
        properties = _properties(archive)
    body = parse_html(_html(file.data))
    title = properties.pop("title", "") or body.title
    date = iso_date(properties.pop("modified", "")) or iso_date(properties.pop("created", ""))
    metadata: dict[str, Scalar | list[Scalar]] = {
        k: v for k, v in properties.items() if k in ("creator", "subject") and v
    }
    return ParsedDocument(body.text, body.blocks, title, date, metadata)


def _html(data: bytes) -> str:
    import mammoth

    def no_image(_image: Any) -> dict[str, str]:
        return {}

    convert_image = mammoth.images.img_element(no_image)
    result = mammoth.convert_to_html(
        io.BytesIO(data), style_map=_STYLES, convert_image=convert_image, include_embedded_style_map=False
    )
    return str(result.value)


def _refuse_bombs(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    if len(parts) > _MAX_PARTS or sum(part.file_size for part in parts) > _MAX_UNPACKED:
        raise Unreadable(f"unpacks to more than {_MAX_UNPACKED // 2**20} MB")
    for part in parts:
        if part.filename.endswith((".xml", ".rels")):
            with archive.open(part) as stream:
                if b"<!DOCTYPE" in stream.read(
                    4096
                ):  # no word processor writes one; it is how entities are smuggled in
                    raise Unreadable(f"{part.filename} declares a document type, which a .docx must not")


def _properties(archive: zipfile.ZipFile) -> dict[str, str]:
    from lxml import etree

    if _CORE not in archive.namelist():
        return {}
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = etree.fromstring(archive.read(_CORE), parser)
    if root is None:
        return {}
    return {etree.QName(item).localname: (item.text or "").strip() for item in root if isinstance(item.tag, str)}


READER = Reader(suffixes=(".docx",), read=read_docx)
