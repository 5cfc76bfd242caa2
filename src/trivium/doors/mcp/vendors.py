"""The vendor tools of the knowledge toolset: `find_vendor_info` and `add_vendor_facts`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from trivium.doors.mcp.envelope import Draft, error_body, priced, warning
from trivium.doors.mcp.results import check_fields
from trivium.doors.mcp.tools import Body, Call, Reply, Tool, tool
from trivium.doors.mcp.vendors_kept import Lookup, around
from trivium.errors import InvalidInput, TokenLimitExceeded
from trivium.model.answers import MODES, ResponseMode
from trivium.model.vendor import Entity, EntityType, entity_type, public_entity_id, public_relationship_id

if TYPE_CHECKING:
    from trivium.documents.vendors import Neighbourhood

VENDOR_FIELDS: dict[ResponseMode, tuple[str, ...]] = {
    "ids_only": ("vendor_name", "entity_ids", "relationship_ids"),
    "metadata": ("vendor_name", "statistics", "top_entities", "last_updated"),
    "preview": ("vendor_name", "entities", "relationships", "statistics"),
    "full": ("vendor_name", "entities", "relationships", "statistics"),
}
LARGEST_PAGE = 50
_OBJECT = {"type": "object"}
OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "_metadata": _OBJECT,
        "results": {"anyOf": [_OBJECT, {"type": "array"}]},
        "pagination": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "execution_context": _OBJECT,
        "warnings": {"type": "array"},
        "error": _OBJECT,
    },
    "required": ["_metadata", "results", "execution_context", "warnings"],
}


@tool(scope="read", errors=error_body, output=OUTPUT, failure_code="SEARCH_FAILED")
def find_vendor_info(
    call: Call,
    vendor_name: Annotated[
        str, Field(min_length=1, max_length=200, description="Any case; legal form may be left out")
    ],
    response_mode: Annotated[ResponseMode | None, Field(description="Detail, metadata unless given")] = None,
    include_relationships: bool = True,
    max_results: Annotated[int | None, Field(ge=1, le=100, description="Entities at most")] = None,
    entity_types: Annotated[
        list[str] | None, Field(min_length=1, description="PRODUCT, PERSON, ORG, LOCATION, EVENT")
    ] = None,
    page_size: Annotated[int | None, Field(ge=1, le=LARGEST_PAGE, description="Entities a page")] = None,
    cursor: Annotated[str | None, Field(max_length=1000, description="pagination.cursor of the page before")] = None,
    fields: Annotated[list[str] | None, Field(description="Only these fields of the mode")] = None,
    include_content: Annotated[bool | None, Field(description="Deprecated: use response_mode")] = None,
) -> Reply:
    """What is known of a vendor: products, people, places, partners, with counts. Built from the documents themselves.

    metadata (default) gives the counts; preview the 5 most certain entities and relationships; full up to 100 and 500.
    """
    draft = Draft("find_vendor_info", call.request_id, call.started, results={})
    mode = _mode(call, response_mode, include_content, draft)
    only = check_fields(fields, mode, VENDOR_FIELDS)
    types = _types(entity_types)
    generation = call.app.chunks.generation()  # before the vendor is looked up: nothing kept is older than it says
    vendor = call.app.vendors.find(vendor_name)
    signature = ("find_vendor_info", vendor.entity_id, types, max_results)
    offset = call.services.cursors.open(cursor, signature, generation) if cursor else 0
    asked = Lookup(vendor, types, include_relationships, page_size, max_results, offset)

    def next_cursor(start: int) -> str:
        return call.services.cursors.make(signature, start, generation)

    return _fitting(call, draft, asked, mode, only, next_cursor, generation)


def _fitting(
    call: Call,
    draft: Draft,
    asked: Lookup,
    mode: ResponseMode,
    only: frozenset[str] | None,
    next_cursor: Callable[[int], str],
    generation: int,
) -> Reply:
    """The answer in the mode asked for, or in the largest smaller one that fits into the token limit."""
    limit = call.settings.max_tokens_per_response
    smaller = list(reversed(MODES[1 : MODES.index(mode) + 1])) or [mode]
    wanted = 0
    for tried in smaller:
        near, hit = around(call, asked, tried, generation)
        draft.cache_hit = hit if tried == mode else draft.cache_hit
        body = _shown(near, tried, asked.with_relationships)
        kept = only if tried == mode else None
        draft.results = {name: body[name] for name in VENDOR_FIELDS[tried] if kept is None or name in kept}
        draft.pagination = _pagination(near, asked, next_cursor)
        answer, text, tokens = priced(draft, call.services.tokens)
        if tokens <= limit:
            if tokens >= call.settings.token_warning_threshold * limit:
                draft.warnings.append(_near_limit(tokens, limit))
                answer, text, tokens = priced(draft, call.services.tokens)
            return Reply(answer, text, seen=[public_entity_id(e.entity_id) for e in near.entities])
        wanted = wanted or tokens
        if tried == mode:
            draft.status = "partial"
            draft.warnings.append(
                warning(
                    "warning",
                    "PARTIAL_RESULTS",
                    f"{tokens} tokens do not fit into {limit}: a smaller mode is shown",
                    "Give page_size or entity_types to see everything in parts",
                )
            )
    raise TokenLimitExceeded(
        f"Response would use {wanted} tokens, limit is {limit}",
        tokens=wanted,
        hint="Use 'metadata' mode or a page_size",
    )


def _shown(near: "Neighbourhood", mode: ResponseMode, with_relationships: bool) -> Body:
    vendor, statistics = near.vendor, near.statistics
    body: Body = {
        "vendor_name": vendor.name,
        "statistics": {
            "entity_count": statistics.entity_count,
            "relationship_count": statistics.relationship_count,
            "entity_type_distribution": dict(statistics.entities),
            "relationship_type_distribution": dict(statistics.relationships),
        },
    }
    if mode == "ids_only":
        body["entity_ids"] = [public_entity_id(e.entity_id) for e in (vendor, *near.entities)]
        body["relationship_ids"] = [public_relationship_id(r.relationship_id) for r in near.relationships]
    elif mode == "metadata":
        body["top_entities"] = [_entity(e, None) for e in near.entities] or None
        body["last_updated"] = _moment(vendor.last_date)
    else:
        body["entities"] = [_entity(e, near.snippets.get(e.entity_id)) for e in near.entities]
        body["relationships"] = [_relationship(r, mode) for r in near.relationships] if with_relationships else []
    return body


def _entity(entity: Entity, snippet: str | None) -> Body:
    return {
        "entity_id": public_entity_id(entity.entity_id),
        "name": entity.name,
        "entity_type": entity.entity_type,
        "confidence": round(entity.confidence, 4),
        "snippet": snippet,
    }


def _relationship(link: Any, mode: ResponseMode) -> Body:
    return {
        "source_id": public_entity_id(link.source_id),
        "target_id": public_entity_id(link.target_id),
        "relationship_type": link.relationship_type,
        "metadata": None
        if mode != "full"
        else {"confidence": round(link.confidence, 4), "relationship_metadata": dict(link.metadata)},
    }


def _moment(date: str | None) -> str | None:
    """A date as a moment in ISO 8601 with its zone."""
    if date is None:
        return None
    return f"{date}T00:00:00Z" if len(date) == 10 else date


def _pagination(near: "Neighbourhood", asked: Lookup, next_cursor: Callable[[int], str]) -> Body | None:
    """Pages are pages of entities; without page_size there are none, unless something is left over."""
    total = near.total if asked.max_results is None else min(near.total, asked.max_results)
    end = asked.offset + len(near.entities)
    if asked.page_size is None and (end >= total or not near.entities):
        return None
    has_more = end < total and bool(near.entities)
    return {
        "cursor": next_cursor(end) if has_more else None,
        "page_size": min(asked.page_size or max(len(near.entities), 1), LARGEST_PAGE),
        "has_more": has_more,
        "total_available": total,
        "returned_count": len(near.entities),
    }


def _mode(call: Call, asked: ResponseMode | None, include_content: bool | None, draft: Draft) -> ResponseMode:
    if include_content is None:
        return asked or call.settings.default_response_mode
    draft.warnings.append(
        warning(
            "warning", "DEPRECATED_PARAMETER", "include_content is deprecated", "Use response_mode: full or metadata"
        )
    )
    return asked or ("full" if include_content else "metadata")


def _types(names: Sequence[str] | None) -> tuple[EntityType, ...] | None:
    if names is None:
        return None
    try:
        return tuple(dict.fromkeys(entity_type(name) for name in names))
    except InvalidInput as error:
        raise InvalidInput(error.message, field="entity_types", allowed=error.allowed) from None


def _near_limit(tokens: int, limit: int) -> Body:
    return warning(
        "warning",
        "TOKEN_LIMIT_WARNING",
        f"Response approaching token limit ({tokens:,}/{limit:,} tokens)",
        "Use 'metadata' mode or reduce page_size",
    )


@tool(scope="write", errors=error_body, output=OUTPUT, idempotent=True, failure_code="SEARCH_FAILED")
def add_vendor_facts(
    call: Call,
    facts: Annotated[
        list[dict[str, Any]],
        Field(
            min_length=1,
            max_length=500,
            description=(
                "Each: source {name, entity_type}, chunk_id; a relationship also relationship_type (UPPER_SNAKE) and"
                " target {name, entity_type}; confidence, metadata optional"
            ),
        ),
    ],
    remove: Annotated[bool, Field(description="Take these facts back instead")] = False,
) -> Reply:
    """Record entities and relationships you have read, each with the chunk that says so. All or nothing; idempotent."""
    from trivium.documents.vendor_facts import fact_of

    checked = [fact_of(row, f"facts[{number}]") for number, row in enumerate(facts)]
    draft = Draft("add_vendor_facts", call.request_id, call.started, results={})
    if remove:
        draft.results = {"removed": call.app.vendors.retract_facts(checked)}
    else:
        recorded, duplicates = call.app.vendors.add_facts(checked)
        draft.results = {
            "entity_ids": [public_entity_id(number) for number in recorded.entity_ids],
            "relationship_ids": [public_relationship_id(number) for number in recorded.relationship_ids],
            "added": recorded.mentions_added + recorded.links_added,
            "duplicates": duplicates,
            "asserted_by": "agent",
        }
    body, text, _ = priced(draft, call.services.tokens)
    return Reply(body, text)


def tools(served: frozenset[str]) -> Sequence[Tool]:  # noqa: ARG001 -- the names of these tools never depend on it
    return (find_vendor_info, add_vendor_facts)
