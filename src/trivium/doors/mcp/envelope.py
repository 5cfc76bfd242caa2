"""The envelope around every answer and every error of the knowledge tools, with its exact cost in tokens.

The text of an answer is the compact JSON of its structured content: a client that reads only one of the two loses
nothing, and the one a model reads is as small as it can be.
"""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_core import to_json

from trivium.doors.mcp.tools import Body, Failure
from trivium.errors import (
    BackendUnavailable,
    InvalidInput,
    NotFound,
    RateLimited,
    TokenLimitExceeded,
)
from trivium.model.answers import VERSION, ResponseStatus, WarningLevel
from trivium.ports.tokens import TokenCounter

_INVALID_PREFIX = "Invalid request parameters: "


def new_request_id() -> str:
    return f"req_{secrets.token_hex(4)}"


def warning(level: WarningLevel, code: str, message: str, suggestion: str | None = None) -> Body:
    return {"level": level, "code": code, "message": message, "suggestion": suggestion}


def json_text(body: object) -> str:
    return to_json(body, inf_nan_mode="null").decode("utf-8", "replace")


@dataclass(slots=True)
class Draft:
    """An answer that is being put together. `started` is from time.perf_counter."""

    operation: str
    request_id: str
    started: float
    results: Any
    pagination: Body | None = None
    warnings: list[Body] = field(default_factory=list)
    status: ResponseStatus = "success"
    message: str | None = None
    cache_hit: bool = False
    visual_hints: Body | None = None
    extended: Body = field(default_factory=dict)
    error: Body | None = None
    output: str | None = None  # what a program printed

    def body(self, tokens: int = 0) -> Body:
        metadata: Body = {
            "operation": self.operation,
            "version": VERSION,
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "request_id": self.request_id,
            "status": self.status,
            "message": self.message,
        }
        if self.visual_hints is not None:
            metadata["visual_hints"] = self.visual_hints
        body: Body = {
            "_metadata": metadata,
            "results": self.results,
            "pagination": self.pagination,
            "execution_context": {
                "tokens_estimated": tokens,
                "tokens_used": tokens,
                "cache_hit": self.cache_hit,
                "execution_time_ms": elapsed_ms(self.started),
                "request_id": self.request_id,
                **self.extended,
            },
            "warnings": self.warnings,
        }
        if self.output:
            body["output"] = self.output
        if self.error is not None:
            body["error"] = self.error
        return body


def elapsed_ms(started: float) -> float:
    return max(0.1, round((time.perf_counter() - started) * 1000, 1))


def priced(draft: Draft, tokens: TokenCounter) -> tuple[Body, str, int]:
    """The body, its text and its exact number of tokens, which it states itself."""
    body = draft.body()
    [count] = tokens.count([json_text(body)])
    count = _with_own_digits(count)
    context = body["execution_context"]
    context["tokens_estimated"] = context["tokens_used"] = count
    return body, json_text(body), count


def _with_own_digits(count: int) -> int:
    """The count was taken with a single digit in two places; o200k and cl100k cut numbers into groups of three."""
    total = count
    while total != (grown := count + 2 * ((len(str(total)) - 1) // 3)):
        total = grown
    return total


def error_body(failure: Failure) -> Body:
    """The envelope around an error; its token count is left to the reader: an error is short."""
    error = failure.error
    draft = Draft(
        failure.tool,
        failure.request_id,
        0.0,
        results=[],
        status="error",
        message=_message(error),
        error=_details(error),
    )
    body = draft.body()
    context = body["execution_context"]
    context["execution_time_ms"] = max(0.1, round(failure.elapsed_ms, 1))
    if isinstance(error, TokenLimitExceeded):
        body["warnings"] = [warning("error", error.code, error.message, error.hint)]
        context["tokens_estimated"], context["tokens_used"] = error.tokens, None
    return body


def priced_error(body: Body, tokens: TokenCounter) -> str:
    """The text of an error body, with its own cost filled in where it has none."""
    context = body.get("execution_context")
    if isinstance(context, dict) and context.get("tokens_estimated") == 0:
        count = _with_own_digits(tokens.count([json_text(body)])[0])
        context["tokens_estimated"] = context["tokens_used"] = count
    return json_text(body)


def _message(error: Any) -> str:
    if isinstance(error, InvalidInput) and error.code in ("INVALID_PARAMS", "QUERY_TOO_LONG"):
        return _INVALID_PREFIX + error.message
    if isinstance(error, BackendUnavailable):
        return "Search failed: Database connection error"
    return str(error.message)


def _details(error: Any) -> Body:
    details: Body = {"code": error.code, "message": _message(error)}
    if error.hint:
        details["action"] = error.hint
    details.update(_particulars(error))
    return details


def _particulars(error: Any) -> Body:
    if isinstance(error, RateLimited):
        return {"remaining": error.remaining, "reset_in_seconds": error.reset_in_seconds}
    if isinstance(error, BackendUnavailable):
        return {"retry_after_s": max(1, round(error.retry_after_s))}
    if isinstance(error, InvalidInput):
        allowed: Sequence[str] | None = error.allowed
        name = "allowed_fields" if error.code == "INVALID_FIELDS" else "allowed"
        return {"field": error.field} | ({name: allowed} if allowed else {})
    if isinstance(error, NotFound):
        return {"suggestions": error.nearest} if error.nearest else {}
    return {}
