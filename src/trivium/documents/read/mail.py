"""E-mail (.eml): who, when and about what, then the text, then the attachments that can be read."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import cast

from trivium.documents.read.blocks import TextBuilder, covering
from trivium.documents.read.dates import iso_date
from trivium.documents.read.html import parse_html
from trivium.documents.read.markdown import markdown_blocks
from trivium.documents.read.reader import RawFile, Reader, Unreadable
from trivium.model.chunk import ParsedDocument, Scalar

_SHOWN = ("From", "To", "Cc", "Date")
_MAX_DEPTH = 3  # a mail in a mail in a mail


def read_mail(file: RawFile) -> ParsedDocument:
    if not file.data.strip():
        return ParsedDocument("", ())
    message = message_from_bytes(file.data, policy=default)
    headers = {name: _header(message, name) for name in ("Subject", *_SHOWN)}
    if not any(headers.values()):
        raise Unreadable("not an e-mail: it has no From, To, Date or Subject")
    builder = TextBuilder()
    builder.add("heading", f"# {headers['Subject'] or '(no subject)'}", level=1)
    builder.add("paragraph", "\n".join(f"{name}: {headers[name]}" for name in _SHOWN if headers[name]))
    builder.add_document(_body(message), deeper_by=1)
    names = [_attach(builder, part, file.depth) for part in message.iter_attachments()]
    metadata: dict[str, Scalar | list[Scalar]] = {name.lower(): headers[name] for name in _SHOWN[:3] if headers[name]}
    if names:
        metadata["attachments"] = list(names)
    return ParsedDocument(builder.text, builder.blocks, headers["Subject"], iso_date(headers["Date"]), metadata)


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (
        Exception
    ):  # the library's header parser fails in many ways on malformed headers; one bad one is no reason to stop
        return ""


def _body(message: EmailMessage) -> ParsedDocument:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ParsedDocument("", ())
    text = _content(cast(EmailMessage, part))
    if part.get_content_subtype() == "html":
        return parse_html(text)
    return ParsedDocument(text, covering(text, markdown_blocks(text)))


def _content(part: EmailMessage) -> str:
    try:
        content = part.get_content()
    except LookupError:  # a charset nobody knows
        content = part.get_payload(decode=True)
    return content if isinstance(content, str) else bytes(content or b"").decode("utf-8", "replace")


def _attach(builder: TextBuilder, part: EmailMessage, depth: int) -> str:
    from trivium.documents.read.registry import is_supported, read_raw

    name = part.get_filename() or ("message.eml" if part.get_content_type() == "message/rfc822" else "unnamed")
    if depth >= _MAX_DEPTH or not is_supported(Path(name)) or not Path(name).suffix:
        builder.add("paragraph", f"Attachment: {name}")
        return name
    builder.add("heading", f"## Attachment: {name}", level=2)
    try:
        builder.add_document(read_raw(RawFile(name, _bytes(part), depth + 1)), deeper_by=2)
    except Exception as error:  # a broken attachment must not hide the mail it came with
        builder.add(
            "paragraph", f"(could not be read: {error if isinstance(error, Unreadable) else type(error).__name__})"
        )
    return name


def _bytes(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        return bytes(part.get_content())
    return bytes(cast(bytes, part.get_payload(decode=True)) or b"")


READER = Reader(suffixes=(".eml",), read=read_mail)
