"""The published shape of answers: the envelope, the four modes of a result, and what may come with them.

`trivium schema` prints these; tests hold every answer against them. The doors build plain dictionaries (that is what is
sent), in the order of the fields here.
"""

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

ResponseMode = Literal["ids_only", "metadata", "preview", "full"]
MODES: tuple[ResponseMode, ...] = ("ids_only", "metadata", "preview", "full")
ResponseStatus = Literal["success", "partial", "error"]
WarningLevel = Literal["info", "warning", "error"]
VERSION = "1.0.0"
SNIPPET_CHARACTERS = 200

T = TypeVar("T")


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)


class ConfidenceScore(_Answer):
    """How far to trust a result: its score, its source, its age. All three or none."""

    score_reliability: float = Field(ge=0, le=1)
    source_quality: float = Field(ge=0, le=1)
    recency: float = Field(ge=0, le=1)


class RankingContext(_Answer):
    percentile: int = Field(ge=0, le=100)
    explanation: str
    score_method: str


class DeduplicationInfo(_Answer):
    """`similar_chunk_ids` are results of the same answer whose text is more than 0.8 alike."""

    is_duplicate: bool
    similar_chunk_ids: list[int]
    confidence: float = Field(ge=0, le=1)


class VisualHints(_Answer):
    highlight_top: int = Field(ge=0)
    group_by: str
    show_confidence: bool
    collapse_duplicates: bool
    expandable_previews: bool


class _Enhanced(_Answer):
    confidence: ConfidenceScore | None = None
    ranking: RankingContext | None = None
    deduplication: DeduplicationInfo | None = None
    relationships: list[dict[str, Any]] | None = None


class SearchResultIDs(_Enhanced):
    chunk_id: int
    hybrid_score: float = Field(ge=0, le=1)
    rank: int = Field(ge=1)


class SearchResultMetadata(SearchResultIDs):
    source_file: str
    source_category: str | None
    chunk_index: int = Field(ge=0)
    total_chunks: int = Field(ge=1)


class SearchResultPreview(SearchResultMetadata):
    chunk_snippet: str = Field(max_length=SNIPPET_CHARACTERS)
    context_header: str


class SearchResultFull(SearchResultMetadata):
    chunk_text: str
    similarity_score: float | None = Field(ge=0, le=1)
    bm25_score: float | None = Field(ge=0, le=1)
    score_type: str
    context_header: str
    chunk_token_count: int = Field(ge=0)


class ResponseMetadata(_Answer):
    operation: str
    version: str
    timestamp: str
    request_id: str
    status: ResponseStatus
    message: str | None = None
    visual_hints: VisualHints | None = None

    @field_validator("timestamp")
    @classmethod
    def _has_zone(cls, value: str) -> str:
        if datetime.fromisoformat(value).tzinfo is None:
            raise ValueError("a timestamp is ISO 8601 with its time zone")
        return value


class PaginationMetadata(_Answer):
    """`cursor` is null on the last page."""

    cursor: str | None
    page_size: int = Field(ge=1, le=50)
    has_more: bool
    total_available: int | None = None
    returned_count: int = Field(ge=0)


class TokenBreakdown(_Answer):
    results: int
    metadata: int
    pagination: int
    warnings: int


class ExecutionContext(_Answer):
    tokens_estimated: int = Field(ge=0)
    tokens_used: int | None = None
    cache_hit: bool
    execution_time_ms: float = Field(gt=0)
    request_id: str
    token_breakdown: TokenBreakdown | None = None
    cache_key: str | None = None
    database_time_ms: float | None = None
    formatting_time_ms: float | None = None

    @model_validator(mode="after")
    def _is_honest(self) -> "ExecutionContext":
        if self.tokens_used is not None and self.tokens_used > 1.1 * self.tokens_estimated:
            raise ValueError("tokens_used exceeds tokens_estimated by more than 10 %")
        return self


class ResponseWarning(_Answer):
    level: WarningLevel
    code: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    message: str
    suggestion: str | None = None


class ErrorBody(BaseModel):
    """Errors of one code share their further fields (`allowed_fields`, `remaining`, `reset_in_seconds` …)."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str
    action: str | None = None


class MCPResponseEnvelope(_Answer, Generic[T]):
    metadata: ResponseMetadata = Field(alias="_metadata")
    results: T
    pagination: PaginationMetadata | None = None
    execution_context: ExecutionContext
    warnings: list[ResponseWarning]
    error: ErrorBody | None = None

    @model_validator(mode="after")
    def _is_one_request(self) -> "MCPResponseEnvelope[T]":
        if self.metadata.request_id != self.execution_context.request_id:
            raise ValueError("request_id differs between _metadata and execution_context")
        return self


SemanticSearchResult = SearchResultFull | SearchResultPreview | SearchResultMetadata | SearchResultIDs
SemanticSearchResponse = MCPResponseEnvelope[list[SemanticSearchResult]]

_IDS = ("chunk_id", "hybrid_score", "rank")
_PLACE = ("source_file", "source_category", "chunk_index", "total_chunks")
SEARCH_FIELDS: dict[ResponseMode, tuple[str, ...]] = {
    "ids_only": _IDS,
    "metadata": ("chunk_id", *_PLACE[:2], "hybrid_score", "rank", *_PLACE[2:]),
    "preview": ("chunk_id", *_PLACE[:2], "hybrid_score", "rank", *_PLACE[2:], "chunk_snippet", "context_header"),
    "full": (
        "chunk_id",
        "chunk_text",
        "similarity_score",
        "bm25_score",
        "hybrid_score",
        "rank",
        "score_type",
        "source_file",
        "source_category",
        "context_header",
        "chunk_index",
        "total_chunks",
        "chunk_token_count",
    ),
}
_SCORES = frozenset({"hybrid_score", "rank", "similarity_score", "bm25_score", "score_type"})
CHUNK_FIELDS: dict[ResponseMode, tuple[str, ...]] = {
    mode: tuple(name for name in fields if name not in _SCORES) for mode, fields in SEARCH_FIELDS.items()
}
