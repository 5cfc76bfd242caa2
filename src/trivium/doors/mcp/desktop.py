"""What Claude Desktop (or whoever asks) gets on top: confidence, an explanation of the rank, near-duplicates, hints for
display. Every number is computed from the result at hand (docs/server.md says how)."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime

from trivium.doors.mcp.tools import Body
from trivium.model.answers import ResponseMode
from trivium.model.chunk import Chunk
from trivium.model.hits import Hit
from trivium.settings import Settings

DESKTOP_CLIENTS = ("claude-ai", "claude desktop", "claude-desktop")
SIMILAR = 0.8
_SHINGLE = 3
_STRONG_SIMILARITY, _SOME_SIMILARITY = 0.75, 0.65  # cosine 0.5 and 0.3
_STRONG_WORDS, _SOME_WORDS = 0.5, 0.2
_WORD = re.compile(r"\w+")


def is_desktop(client_name: str) -> bool:
    name = client_name.lower()
    return any(name.startswith(known) for known in DESKTOP_CLIENTS)


def enhance(
    results: Sequence[Body], hits: Sequence[Hit], chunks: Sequence[Chunk], total: int, settings: Settings
) -> list[Body]:
    duplicates = near_duplicates(chunks)
    today = datetime.now(UTC).date()
    enhanced = []
    for result, hit, chunk, similar in zip(results, hits, chunks, duplicates, strict=True):
        extra: Body = {}
        if settings.include_confidence_scores:
            extra["confidence"] = confidence(hit, chunk, settings, today)
        extra["ranking"] = explain_rank(hit, total)
        extra["deduplication"] = similar
        enhanced.append(result | extra)
    return enhanced


def confidence(hit: Hit, chunk: Chunk, settings: Settings, today: date) -> Body:
    category = chunk.source_category or ""
    return {
        "score_reliability": reliability(hit),
        "source_quality": settings.source_quality.get(category, settings.source_quality_default),
        "recency": recency(chunk.date, settings.recency_half_life_days, today),
    }


def reliability(hit: Hit) -> float:
    """How sure the calibrated score is of itself, raised where meaning and words agree on the result and lowered where
    only one of them has seen it."""
    sides = [side for side in (hit.similarity_score, hit.bm25_score) if side is not None]
    if len(sides) < 2:
        return round(hit.hybrid_score * 0.5, 3)
    meaning, words = max(0.0, 2 * sides[0] - 1), sides[1]
    agreement = 1 - abs(meaning - words)
    return round(min(1.0, hit.hybrid_score * (0.5 + 0.5 * agreement)), 3)


def recency(day: str | None, half_life_days: float, today: date) -> float:
    """1 today, one half after `half_life_days`. A document without a date lies in the middle."""
    try:
        age = (today - date.fromisoformat((day or "")[:10])).days
    except ValueError:
        return 0.5
    return round(float(0.5 ** (max(0, age) / half_life_days)), 3)


def explain_rank(hit: Hit, total: int) -> Body:
    percentile = 100 if total <= 1 else round(100 * (total - hit.rank) / (total - 1))
    return {"percentile": percentile, "explanation": _explanation(hit), "score_method": hit.score_type}


def _explanation(hit: Hit) -> str:
    meaning = hit.similarity_score or 0.0
    words = hit.bm25_score or 0.0
    strong = [
        name
        for name, is_strong in (("semantic", meaning >= _STRONG_SIMILARITY), ("keyword", words >= _STRONG_WORDS))
        if is_strong
    ]
    if len(strong) == 2:
        return "Top-tier result: Strong semantic and keyword match"
    if strong:
        return f"High relevance: Strong {strong[0]} match"
    some = [
        name
        for name, is_some in (
            ("semantic similarity", meaning >= _SOME_SIMILARITY),
            ("keyword overlap", words >= _SOME_WORDS),
        )
        if is_some
    ]
    if some:
        return f"Moderate match: Some {' and '.join(some)}"
    return "Weak match: Little in common with the query"


def near_duplicates(chunks: Sequence[Chunk]) -> list[Body]:
    """For each chunk the others in the answer whose text is more than 0.8 alike (shared runs of three words)."""
    shingles = [_shingles(chunk.text) for chunk in chunks]
    answers = []
    for position, own in enumerate(shingles):
        likeness = [0.0 if other == position else _jaccard(own, shingles[other]) for other in range(len(chunks))]
        similar = [other for other, value in enumerate(likeness) if value > SIMILAR]
        best = max(likeness, default=0.0)
        answers.append(
            {
                "is_duplicate": any(other < position for other in similar),
                "similar_chunk_ids": [chunks[other].chunk_id for other in similar],
                "confidence": round(best if similar else 1 - best, 3),
            }
        )
    return answers


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return frozenset(tuple(words[start : start + _SHINGLE]) for start in range(max(1, len(words) - _SHINGLE + 1)))


def _jaccard(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def visual_hints(
    results: Sequence[Body], hits: Sequence[Hit], chunks: Sequence[Chunk], mode: ResponseMode, settings: Settings
) -> Body:
    categories = {chunk.source_category for chunk in chunks}
    best = hits[0].hybrid_score if hits else 0.0
    bar = max(settings.low_quality_threshold, 0.8 * best)
    return {
        "highlight_top": sum(hit.hybrid_score >= bar for hit in hits),
        "group_by": "source_category" if len(categories) > 1 else "source_file",
        "show_confidence": settings.include_confidence_scores,
        "collapse_duplicates": any(result["deduplication"]["is_duplicate"] for result in results),
        "expandable_previews": mode in ("preview", "full"),
    }
