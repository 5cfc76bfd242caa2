"""Dates as documents write them, normalised to ISO 8601."""

import datetime as dt
import re
from email.utils import parsedate_to_datetime

_PDF = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:(Z)|([+-]\d{2})'?(\d{2})?)?")
_WRITTEN = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%d. %B %Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%B %Y")


def iso_date(value: object) -> str | None:
    """A day as `2026-03-01`, a moment as `2026-03-01T09:30:00+00:00` (in UTC if its zone is known); None if neither."""
    if isinstance(value, dt.datetime):
        moment = value.astimezone(dt.UTC) if value.tzinfo else value
        return moment.replace(microsecond=0).isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    return _from_text(value.strip()) if isinstance(value, str) else None


def _from_text(text: str) -> str | None:
    for parse in (_iso, _pdf, _written, _mail):
        try:
            found = parse(text)
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
        if found is not None:
            return iso_date(found)
    return None


def _iso(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return dt.datetime.fromisoformat(text)


def _pdf(text: str) -> dt.datetime | None:
    match = _PDF.match(text)
    if match is None:
        return None
    year, *rest = (int(part) if part else None for part in match.groups()[:6])
    month, day, hour, minute, second = (
        part if part is not None else first for part, first in zip(rest, (1, 1, 0, 0, 0), strict=True)
    )
    return dt.datetime(year or 0, month, day, hour, minute, second, tzinfo=_pdf_zone(match))


def _pdf_zone(match: re.Match[str]) -> dt.tzinfo | None:
    if match[7]:
        return dt.UTC
    if not match[8]:
        return None
    minutes = int(match[9] or 0) * (-1 if match[8].startswith("-") else 1)
    return dt.timezone(dt.timedelta(hours=int(match[8]), minutes=minutes))


def _written(text: str) -> dt.date | None:
    for pattern in _WRITTEN:
        try:
            return dt.datetime.strptime(text, pattern).date()
        except ValueError:
            continue
    return None


def _mail(text: str) -> dt.datetime:
    return parsedate_to_datetime(text)
