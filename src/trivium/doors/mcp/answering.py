"""From chunks to an answer that fits: forms by response mode, packing, paging, and its price in tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from trivium.doors.mcp.budget import Forms, Packed, pack, smaller_modes
from trivium.doors.mcp.envelope import Draft, elapsed_ms, json_text, priced, warning
from trivium.doors.mcp.results import Fields, render
from trivium.doors.mcp.tools import Body, Call, Reply
from trivium.errors import TokenLimitExceeded
from trivium.model.answers import MODES, ResponseMode
from trivium.model.chunk import Chunk
from trivium.model.hits import Hit

InOrder = Callable[[Sequence[tuple[Chunk, Body]]], list[Body]]
_MARGIN = 8  # room for digits that grow when counts are filled in


@dataclass(frozen=True, slots=True)
class Answer:
    """Results best first, and how they are to be shown. Without `page_size` there is nothing to page through."""

    chunks: tuple[Chunk, ...]
    hits: tuple[Hit | None, ...]
    mode: ResponseMode
    fields: Fields
    only: frozenset[str] | None = None
    budget_tokens: int | None = None
    page_size: int | None = None
    offset: int = 0
    total: int = 0
    next_cursor: Callable[[int], str] | None = None
    extras: Sequence[Body] = ()
    in_order: InOrder | None = None
    extended: Callable[[Draft], Body] | None = None

    def forms(self, position: int, modes: Sequence[ResponseMode]) -> Forms:
        extra = self.extras[position] if self.extras else {}
        chunk, hit = self.chunks[position], self.hits[position]
        return Forms(tuple(render(chunk, hit, mode, self.fields, self.only) | extra for mode in modes), tuple(modes))

    def bodies(self) -> tuple[Body, ...]:
        return tuple(self.forms(position, [self.mode]).bodies[0] for position in range(len(self.chunks)))


def finish(call: Call, draft: Draft, answer: Answer) -> Reply:
    """The whole answer where it fits; packed, with PARTIAL_RESULTS, where it does not."""
    limit = call.settings.max_tokens_per_response
    room = min(limit, answer.budget_tokens or limit)
    _slow(call, draft)
    _place(draft, answer, answer.bodies())
    if answer.extended:
        draft.extended = answer.extended(draft)
    body, text, tokens = priced(draft, call.services.tokens)
    if tokens > room:
        body, text, tokens = _packed(call, draft, answer, room, tokens)
    elif tokens >= call.settings.token_warning_threshold * limit:
        draft.warnings.append(_near(tokens, limit))
        body, text, tokens = priced(draft, call.services.tokens)
        if tokens > room:
            body, text, tokens = _packed(call, draft, answer, room, tokens)
    call.services.guard.metrics.count("tokens_total", tokens)
    return Reply(body, text, seen=[chunk.chunk_id for chunk in answer.chunks[: len(draft.results)]])


def _place(draft: Draft, answer: Answer, bodies: Sequence[Body]) -> None:
    if answer.in_order:
        draft.results = answer.in_order(list(zip(answer.chunks, bodies, strict=False)))
    else:
        draft.results = list(bodies)
    if answer.page_size is None:
        return
    end = answer.offset + len(bodies)
    has_more = end < answer.total
    draft.pagination = {
        "cursor": answer.next_cursor(end) if has_more and answer.next_cursor else None,
        "page_size": answer.page_size,
        "has_more": has_more,
        "total_available": answer.total,
        "returned_count": len(bodies),
    }


def _packed(call: Call, draft: Draft, answer: Answer, room: int, wanted: int) -> tuple[Body, str, int]:
    """Packs, and packs again a little tighter where the note about what is missing did not fit either."""
    counter = call.services.tokens
    modes = smaller_modes(answer.mode)
    results = [answer.forms(position, modes) for position in range(len(answer.chunks))]
    warnings = list(draft.warnings)
    inner = room - _frame(call, draft, answer)
    while inner > 0:
        packed = pack(results, inner, counter)
        if not packed.bodies or (answer.budget_tokens is None and len(packed.bodies) < len(results)):
            break
        draft.warnings = [*warnings, _left_out(answer, packed, room, wanted)]
        draft.status = "partial"
        _place(draft, answer, packed.bodies)
        body, text, tokens = priced(draft, counter)
        if tokens <= room:
            return body, text, tokens
        inner -= max(_MARGIN, tokens - room)
    smallest = modes[0]
    raise TokenLimitExceeded(
        f"Response would use {wanted} tokens, limit is {room}",
        tokens=wanted,
        hint=f"Use '{smallest}' mode or reduce page_size" if smallest != answer.mode else "Reduce page_size",
    )


def _frame(call: Call, draft: Draft, answer: Answer) -> int:
    """Tokens of everything but the results, with a note about what is missing."""
    nothing = Packed((), (), 0)
    frame = replace(draft, warnings=[*draft.warnings, _left_out(answer, nothing, 0, 0)])
    _place(frame, answer, ())
    return priced(frame, call.services.tokens)[2] + _MARGIN


def _left_out(answer: Answer, packed: Packed, room: int, wanted: int) -> Body:
    """Says which results lost detail and names those that are not there."""
    counts = [(mode, packed.modes.count(mode)) for mode in reversed(MODES) if mode in packed.modes]
    shown = ", ".join(f"{count} in {mode}" for mode, count in counts) or "none"
    missing = [chunk.chunk_id for chunk in answer.chunks[len(packed.bodies) :]]
    names = f"; left out: {', '.join(map(str, missing))}" if missing else ""
    return warning(
        "warning",
        "PARTIAL_RESULTS",
        f"{wanted} tokens do not fit into {room}: {shown}{names}",
        "Read single results with get_chunk, or reduce page_size for complete results",
    )


def _near(tokens: int, limit: int) -> Body:
    return warning(
        "warning",
        "TOKEN_LIMIT_WARNING",
        f"Response approaching token limit ({tokens:,}/{limit:,} tokens)",
        "Use 'metadata' mode or reduce page_size",
    )


def _slow(call: Call, draft: Draft) -> None:
    took = elapsed_ms(draft.started)
    if not draft.cache_hit and draft.operation == "semantic_search" and took > call.settings.slow_query_ms:
        draft.warnings.append(
            warning(
                "info",
                "CACHE_MISS_SLOW",
                f"Cache miss resulted in slower response ({took:.0f}ms)",
                f"Query will be cached for next {call.settings.cache_search_ttl_s:g} seconds",
            )
        )


def extended(call: Call, searched_ms: float, cache_key: str) -> Callable[[Draft], Body]:
    """The further figures of an enhanced answer: where its time and its tokens went."""

    def figures(draft: Draft) -> Body:
        parts = {
            "results": draft.results,
            "metadata": draft.visual_hints,
            "pagination": draft.pagination,
            "warnings": draft.warnings,
        }
        counts = call.services.tokens.count([json_text(part) for part in parts.values()])
        return {
            "token_breakdown": dict(zip(parts, counts, strict=True)),
            "cache_key": cache_key,
            "database_time_ms": 0.0 if draft.cache_hit else searched_ms,
            "formatting_time_ms": max(0.0, round(elapsed_ms(draft.started) - searched_ms, 1)),
        }

    return figures
