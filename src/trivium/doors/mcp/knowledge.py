"""The knowledge toolset: `semantic_search` and `get_chunk`; the vendor tools are in vendors.py.

A tool here checks its arguments, asks the app, and cuts the answer to mode, fields and tokens. Which chunks answer a
query, and how well, is decided in search/.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import ErrorDetails

from trivium.doors.mcp import desktop, vendors
from trivium.doors.mcp.answering import Answer, extended, finish
from trivium.doors.mcp.code_places import places
from trivium.doors.mcp.envelope import Draft, elapsed_ms, error_body, warning
from trivium.doors.mcp.rankings import Page, page
from trivium.doors.mcp.results import check_fields
from trivium.doors.mcp.schemas import ENVELOPE
from trivium.doors.mcp.tools import Body, Call, Reply, Tool, explain, tool
from trivium.errors import InvalidInput, NotFound, TriviumError
from trivium.model.answers import CHUNK_FIELDS, SEARCH_FIELDS, ResponseMode
from trivium.model.chunk import SOURCES, Chunk, Source
from trivium.model.filters import And, Contains, Equals, Filter, Or, Range
from trivium.model.hits import SearchQuery
from trivium.model.ids import parse_chunk_id

QUERY_LENGTH = 500
MODE_HELP = "Detail of results"
# Published, not set: the setting decides, and a budget asks for full text.
Mode = Annotated[ResponseMode | None, Field(description=MODE_HELP, json_schema_extra={"default": "metadata"})]
TopK = Annotated[int | None, Field(ge=1, le=50, description="Results", json_schema_extra={"default": 10})]
ChunkId = Annotated[int | str, Field(description="12 or chunk_12")]
Budget = Annotated[int | None, Field(ge=100, description="Fit the answer into so many tokens, best results first")]


def _invalid(problem: ErrorDetails, of: Tool) -> TriviumError:
    error = explain(problem, of)
    if problem["type"] == "string_too_long" and error.field == "query":
        error.code = "QUERY_TOO_LONG"
    return error


@dataclass(frozen=True, slots=True)
class _Asked:
    """A search as it was asked for, after the defaults."""

    query: SearchQuery
    mode: ResponseMode
    only: frozenset[str] | None
    budget_tokens: int | None
    is_enhanced: bool
    include_relationships: bool

    @property
    def signature(self) -> tuple[object, ...]:
        """What a cursor is bound to: everything that decides the ranking, nothing that only decides how it is shown."""
        query = self.query
        return (query.text, query.sources, repr(query.condition), query.chunk_ids, query.min_score)


@tool(scope="read", errors=error_body, output=ENVELOPE, invalid=_invalid, failure_code="SEARCH_FAILED")
def semantic_search(
    call: Call,
    query: Annotated[str, Field(min_length=1, max_length=QUERY_LENGTH)],
    top_k: TopK = None,
    response_mode: Mode = None,
    page_size: Annotated[int | None, Field(ge=1, le=50, description="Results a page; wins over top_k")] = None,
    cursor: Annotated[str | None, Field(max_length=1000, description="pagination.cursor of the page before")] = None,
    fields: Annotated[list[str] | None, Field(description="Only these fields of the mode")] = None,
    sources: Annotated[list[Source] | None, Field(min_length=1, description="Default: all")] = None,
    filter_ids: Annotated[list[ChunkId] | None, Field(max_length=1000, description="Only these chunks")] = None,
    vendor_filter: Annotated[str | None, Field(min_length=1, max_length=200)] = None,
    category_filter: Annotated[str | None, Field(min_length=1, max_length=200)] = None,
    repository: Annotated[str | None, Field(min_length=1, max_length=200, description="Only code of this one")] = None,
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.0,
    include_relationships: bool = False,
    desktop_enhanced: Annotated[bool | None, Field(description="Add confidence, explanation, duplicates")] = None,
    budget_tokens: Budget = None,
) -> Reply:
    """Search documents, code and concepts by meaning and by words.

    Start with response_mode metadata (default); then fetch full text of a few results with filter_ids or get_chunk.
    """
    settings = call.settings
    mode = response_mode or ("full" if budget_tokens else settings.default_response_mode)
    asked = _Asked(
        SearchQuery(
            text=query,
            limit=page_size or top_k or 10,
            sources=tuple(source for source in SOURCES if sources is None or source in sources),
            condition=_condition(category_filter, repository),
            chunk_ids=_within(call, vendor_filter, filter_ids),
            vendors=call.app.vendors.named_in(query) if call.settings.boost_vendor else (),
            min_score=min_score,
        ),
        mode,
        check_fields(fields, mode, SEARCH_FIELDS),
        budget_tokens,
        _is_enhanced(call, desktop_enhanced),
        include_relationships,
    )
    draft = Draft("semantic_search", call.request_id, call.started, results=[])
    if page_size is not None and top_k is not None:
        draft.warnings.append(
            warning("warning", "DEPRECATED_PARAMETER", "top_k is ignored beside page_size", "Give page_size alone")
        )
    return _search(call, asked, cursor, draft)


def _condition(category: str | None, repository: str | None) -> Filter | None:
    parts: list[Filter] = []
    if category is not None:
        parts.append(Equals("source_category", category))
    if repository is not None:
        parts.append(Equals("repository", repository))
    return And(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)


def _search(call: Call, asked: _Asked, cursor: str | None, draft: Draft) -> Reply:
    generation = call.app.chunks.generation()
    offset = call.services.cursors.open(cursor, asked.signature, generation) if cursor else 0
    query = replace(asked.query, offset=offset)
    found = page(call, query, generation)
    searched_ms = elapsed_ms(call.started)
    draft.cache_hit = found.cache_hit
    _warn(call, found, offset, draft)
    answer = Answer(
        chunks=found.chunks,
        hits=found.hits,
        mode=asked.mode,
        fields=SEARCH_FIELDS,
        only=asked.only,
        budget_tokens=asked.budget_tokens,
        page_size=query.limit,
        offset=offset,
        total=found.ranking.total,
        next_cursor=lambda start: call.services.cursors.make(asked.signature, start, found.ranking.generation),
        extras=_extras(call, asked, found, draft),
        extended=extended(call, searched_ms, _cache_key(asked, generation)) if asked.is_enhanced else None,
    )
    return finish(call, draft, answer)


def _cache_key(asked: _Asked, generation: int) -> str:
    """A name for the cached ranking, the same whatever the mode."""
    return f"search:{hashlib.sha256(repr((asked.signature, generation)).encode()).hexdigest()[:12]}"


def _extras(call: Call, asked: _Asked, found: Page, draft: Draft) -> list[Body]:
    """What each result carries besides the fields of its mode."""
    is_brief = asked.mode == "ids_only" or asked.only is not None
    extras: list[Body] = [{} for _ in found.hits] if is_brief else places(call, found.chunks)
    if asked.include_relationships:
        related = _relationships(call, found.chunks)
        extras = [extra | {"relationships": one} for extra, one in zip(extras, related, strict=True)]
    if asked.is_enhanced:
        extras = desktop.enhance(extras, found.hits, found.chunks, found.ranking.total, call.settings)
        draft.visual_hints = desktop.visual_hints(extras, found.hits, found.chunks, asked.mode, call.settings)
    return extras


def _warn(call: Call, found: Page, offset: int, draft: Draft) -> None:
    ranking, settings = found.ranking, call.settings
    if ranking.degraded:
        draft.warnings.append(warning("warning", "DEGRADED_SEARCH", ranking.degraded, "Run: trivium doctor"))
    elif ranking.missing_vectors:
        draft.warnings.append(
            warning(
                "info",
                "INDEX_INCOMPLETE",
                f"{ranking.missing_vectors} chunks are found by their words only: their vectors are still computed",
                "Search again later",
            )
        )
    trouble = call.services.guard.stores.cache_trouble()
    if trouble:
        draft.warnings.append(warning("info", "CACHE_UNAVAILABLE", trouble, "Tell whoever runs this server"))
    best = found.hits[0].hybrid_score if found.hits else 0.0
    if offset == 0 and (not found.hits or best < settings.low_quality_threshold):
        what = f"No result scores {settings.low_quality_threshold:g} or more" if found.hits else "Nothing was found"
        draft.warnings.append(warning("info", "LOW_QUALITY_RESULTS", what, "Try different keywords or fewer filters"))


def _within(call: Call, vendor: str | None, filter_ids: Sequence[int | str] | None) -> tuple[int, ...] | None:
    """The chunks a search is restricted to: those given, those that mention the vendor or are its own, or all."""
    given = None if filter_ids is None else _chunk_ids(filter_ids)
    if vendor is None:
        return given
    # A document says in its front matter whose it is, by name or in a list of names.
    own = call.app.chunks.select(Or((Equals("metadata.vendor", vendor), Contains("metadata.vendors", vendor))))
    ids = {*own.tolist(), *call.app.vendors.mentioned_in(vendor)}
    return tuple(sorted(ids)) if given is None else tuple(number for number in given if number in ids)


def _relationships(call: Call, chunks: Sequence[Chunk]) -> list[list[Body]]:
    """What the vendor graph knows of each chunk."""
    known = call.app.vendors.relationships_in([chunk.chunk_id for chunk in chunks])
    return [known.get(chunk.chunk_id, []) for chunk in chunks]


def _chunk_ids(values: Sequence[int | str]) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(parse_chunk_id(value) for value in values))
    except InvalidInput as error:
        raise InvalidInput(error.message, field="filter_ids", allowed=error.allowed) from None


def _is_enhanced(call: Call, asked: bool | None) -> bool:
    if asked is not None:
        return asked
    return call.settings.enable_desktop_enhancements and desktop.is_desktop(call.client_name)


@tool(scope="read", errors=error_body, output=ENVELOPE, invalid=_invalid, failure_code="SEARCH_FAILED")
def get_chunk(
    call: Call,
    chunk_id: ChunkId,
    response_mode: Annotated[Literal["ids_only", "metadata", "preview", "full"], Field(description=MODE_HELP)] = "full",
    neighbors: Annotated[int, Field(ge=0, le=10, description="So many chunks before and after, too")] = 0,
    budget_tokens: Budget = None,
) -> Reply:
    """Read one chunk of a document by its id, with its neighbours where wanted."""
    number = parse_chunk_id(chunk_id)
    found = call.app.chunks.get([number])
    if not found:
        raise NotFound(
            f"there is no chunk {number}",
            code="CHUNK_NOT_FOUND",
            hint="it was removed or re-indexed; search again for its successor",
        )
    chunks = [found[0], *_neighbors(call, found[0], neighbors)]
    draft = Draft("get_chunk", call.request_id, call.started, results=[])
    answer = Answer(
        chunks=tuple(chunks),
        hits=(None,) * len(chunks),
        mode=response_mode,
        fields=CHUNK_FIELDS,
        budget_tokens=budget_tokens,
        in_order=lambda bodies: [body for _, body in sorted(bodies, key=lambda pair: pair[0].chunk_index)],
    )
    return finish(call, draft, answer)


def _neighbors(call: Call, chunk: Chunk, reach: int) -> list[Chunk]:
    """The nearest first, so that a budget keeps what lies closest."""
    if reach == 0:
        return []
    same_file = And(
        (
            Equals("source", chunk.source),
            Equals("source_file", chunk.source_file),
            Range("chunk_index", chunk.chunk_index - reach, chunk.chunk_index + reach),
        )
    )
    around: dict[int, Chunk] = {}
    for one in call.app.chunks.get(call.app.chunks.select(same_file).tolist()):
        # Two folders may hold a file of the same name; chunks of one document have ids close together.
        known = around.get(one.chunk_index)
        if known is None or abs(one.chunk_id - chunk.chunk_id) < abs(known.chunk_id - chunk.chunk_id):
            around[one.chunk_index] = one
    around.pop(chunk.chunk_index, None)
    return sorted(around.values(), key=lambda one: (abs(one.chunk_index - chunk.chunk_index), one.chunk_index))


def tools(served: frozenset[str]) -> Sequence[Tool]:
    return (semantic_search, get_chunk, *vendors.tools(served))
