"""Bytes into text: byte order marks, UTF-8, then detection; refuses what is not text at all."""

import codecs
import re

from trivium.documents.read.reader import Unreadable

# Longest first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 64 * 1024  # detection is slow and a sample decides as well as the whole file
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MAX_CONTROL_SHARE = 0.02


def decode(data: bytes) -> str:
    """The file's text without its byte order mark. Raises Unreadable for binary content."""
    text = _decode(data)
    if len(_CONTROLS.findall(text[:_SAMPLE])) > _MAX_CONTROL_SHARE * len(text[:_SAMPLE]) + 1:
        raise Unreadable("binary content, not text")
    return text


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strictly(data, encoding)
    if b"\0" in data[:_SAMPLE]:
        return _strictly(data, _utf16_without_mark(data[:_SAMPLE]))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _damaged_utf8(data) or data.decode(_detect(data), errors="replace")


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"announces {encoding} but is not ({error.reason} at byte {error.start})") from error


def _utf16_without_mark(sample: bytes) -> str:
    """Western text in UTF-16 has a zero in nearly every second byte; anything else with zeros is binary."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) / 2
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.7 * half and odd < 0.05 * half:
        return "utf-16-be"
    raise Unreadable("binary content, not text")


def _damaged_utf8(data: bytes) -> str | None:
    """A mostly sound UTF-8 text with a few broken bytes stays UTF-8; detection would garble every other accent."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    sound = sum(1 for character in text if character > "\x7f") - broken
    return text if sound > 10 * broken else None


def _detect(data: bytes) -> str:
    from charset_normalizer import from_bytes

    matches = from_bytes(data[:_SAMPLE])
    best = matches.best()
    if best is None:
        raise Unreadable("its character encoding could not be recognised; save it as UTF-8")
    # On short Western texts every single-byte code page looks alike; Windows-1252 is by far the commonest of them.
    western = next((match for match in matches if "cp1252" in (match.encoding, *match.could_be_from_charset)), None)
    return "cp1252" if western is not None and western.chaos <= best.chaos + 0.1 else best.encoding
