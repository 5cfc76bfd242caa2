"""Lifts chunks a caller has reason to prefer: bounded factors on the odds that a chunk is relevant.

A boost of 0.5 multiplies the odds of a chunk that fits completely by 1.5, of one that fits by half by 1.25. Nothing is
ever pushed down, and all of them together stay below MAX_FACTOR. Every boost is off by default: the evaluation sets
have no vendors, dates or types to show a gain with.
"""

import datetime
from dataclasses import astuple, dataclass

from trivium.model.chunk import Chunk
from trivium.model.hits import SearchQuery

MAX_FACTOR = 4.0
_TYPE_KEYS = ("document_type", "type")
_TOPIC_KEYS = ("topics", "topic", "tags", "keywords")
_VENDOR_KEYS = ("vendor", "vendors")


@dataclass(frozen=True, slots=True)
class BoostSettings:
    """The largest gain of each boost, 0–1; 0 switches it off."""

    vendor: float = 0.0
    document_type: float = 0.0
    recency: float = 0.0
    entity: float = 0.0
    topic: float = 0.0
    recency_half_life_days: float = 365.0

    @property
    def is_on(self) -> bool:
        return any(gain > 0 for gain in astuple(self)[:5])


def boost(settings: BoostSettings, query: SearchQuery, chunk: Chunk, today: datetime.date) -> float:
    """The factor on this chunk's odds, from 1 to MAX_FACTOR."""
    factor = (
        (1 + settings.vendor * _named(query.vendors, _metadata(chunk, _VENDOR_KEYS), chunk))
        * (1 + settings.document_type * _typed(query.document_types, chunk))
        * (1 + settings.recency * recency(chunk.date, today, settings.recency_half_life_days))
        * (1 + settings.entity * _named(query.entities, "", chunk))
        * (1 + settings.topic * _on_topic(query.topics, chunk))
    )
    return min(factor, MAX_FACTOR)


def recency(date: str | None, today: datetime.date, half_life_days: float) -> float:
    """1 for today (or a date to come), one half after a half-life, 0 without a date."""
    try:
        written = datetime.date.fromisoformat((date or "")[:10])
    except ValueError:
        return 0.0
    return float(0.5 ** (max(0, (today - written).days) / half_life_days))


def _named(names: tuple[str, ...], also: str, chunk: Chunk) -> float:
    """The share of the names that occur in the chunk, its header or its document's metadata."""
    text = "\n".join((chunk.text, chunk.context_header, chunk.title, also)).casefold()
    return _share([name.casefold() in text for name in names])


def _typed(types: tuple[str, ...], chunk: Chunk) -> float:
    own = {_metadata(chunk, _TYPE_KEYS), (chunk.source_category or "").casefold(), chunk.source}
    return float(any(name.casefold() in own for name in types))


def _on_topic(topics: tuple[str, ...], chunk: Chunk) -> float:
    text = "\n".join((chunk.context_header, chunk.title, _metadata(chunk, _TOPIC_KEYS))).casefold()
    return _share([topic.casefold() in text for topic in topics])


def _share(found: list[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


def _metadata(chunk: Chunk, keys: tuple[str, ...]) -> str:
    values = [chunk.metadata[key] for key in keys if key in chunk.metadata]
    return "\n".join(str(v) for value in values for v in (value if isinstance(value, list) else [value])).casefold()
