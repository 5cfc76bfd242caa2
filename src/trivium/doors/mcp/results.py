"""A hit in each of the four response modes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trivium.doors.mcp.tools import Body
from trivium.errors import InvalidInput
from trivium.model.answers import SNIPPET_CHARACTERS, ResponseMode
from trivium.model.chunk import Chunk
from trivium.model.hits import Hit

Fields = Mapping[ResponseMode, tuple[str, ...]]

# Six digits keep scores apart that differ (a tokenizer reads three digits at a time, so the last two cost nothing).
_DIGITS = 6

_OF_CHUNK: dict[str, Callable[[Chunk], Any]] = {
    "chunk_id": lambda chunk: chunk.chunk_id,
    "source_file": lambda chunk: chunk.source_file,
    "source_category": lambda chunk: chunk.source_category,
    "chunk_index": lambda chunk: chunk.chunk_index,
    "total_chunks": lambda chunk: chunk.total_chunks,
    "chunk_snippet": lambda chunk: snippet(chunk.text),
    "context_header": lambda chunk: chunk.context_header,
    "chunk_text": lambda chunk: chunk.text,
    "chunk_token_count": lambda chunk: chunk.token_count,
}
_OF_HIT: dict[str, Callable[[Hit], Any]] = {
    "hybrid_score": lambda hit: round(hit.hybrid_score, _DIGITS),
    "rank": lambda hit: hit.rank,
    "similarity_score": lambda hit: _rounded(hit.similarity_score),
    "bm25_score": lambda hit: _rounded(hit.bm25_score),
    "score_type": lambda hit: hit.score_type,
}


def snippet(text: str) -> str:
    return text[:SNIPPET_CHARACTERS]


def check_fields(fields: Sequence[str] | None, mode: ResponseMode, of: Fields) -> frozenset[str] | None:
    """The whitelist, or INVALID_FIELDS that lists what the mode has."""
    if fields is None:
        return None
    unknown = [name for name in fields if name not in of[mode]]
    if unknown or not fields:
        what = f"Fields {unknown} not available in '{mode}' mode" if unknown else "fields must name at least one field"
        raise InvalidInput(what, field="fields", allowed=of[mode], code="INVALID_FIELDS")
    return frozenset(fields)


def render(chunk: Chunk, hit: Hit | None, mode: ResponseMode, of: Fields, only: frozenset[str] | None) -> Body:
    body: Body = {}
    for name in of[mode]:
        if only is not None and name not in only:
            continue
        if name in _OF_CHUNK:
            body[name] = _OF_CHUNK[name](chunk)
        elif hit is not None:
            body[name] = _OF_HIT[name](hit)
    return body


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, _DIGITS)
