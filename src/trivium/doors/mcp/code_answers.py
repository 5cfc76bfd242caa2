"""The shapes of the code tools' answers: seed fields first, what we add after them."""

import time
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from trivium.doors.mcp.tools import Body, Call, Failure, Tool, explain
from trivium.errors import BackendUnavailable, InvalidInput, NotFound, RateLimited, TriviumError
from trivium.model.chunk import Chunk
from trivium.ports.repositories import IndexedFile, Repository

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from trivium.code.named import Match
    from trivium.code.repositories.index import IndexReport

_DIGITS = 4
UNAVAILABLE = "a part of the server does not answer, try again later"


def error_body(failure: Failure) -> Body:
    """`Error: <message>` with the way out, and the same for programs in `error`."""
    error = failure.error
    # Messages of backends name files and addresses: for the log, not for clients.
    said = UNAVAILABLE if isinstance(error, BackendUnavailable) else error.message
    details: Body = {"code": error.code, "message": said}
    text = f"Error: {said}"
    if isinstance(error, InvalidInput):
        details["field"] = error.field
        if error.allowed:
            details["allowed"] = list(error.allowed)
    if isinstance(error, NotFound) and error.nearest:
        details["nearest"] = error.nearest
        text += f". Nearest: {', '.join(error.nearest)}"
    if isinstance(error, RateLimited):
        details |= {"remaining": error.remaining, "reset_in_seconds": error.reset_in_seconds}
    if error.hint and not isinstance(error, BackendUnavailable):
        details["hint"] = error.hint
        text += f". {error.hint}"
    if error.code == "INTERNAL_ERROR":
        details["request_id"] = failure.request_id
    return {"isError": True, "content": [{"type": "text", "text": text}], "error": details}


def error_text(body: Body) -> str:
    """What a model reads of an error: the seed's one line."""
    return str(body["content"][0]["text"])


def invalid(problem: "ErrorDetails", of: Tool) -> TriviumError:
    """A wrong argument in the seed's words: `Invalid arguments: …`, naming the field and what is allowed."""
    error = explain(problem, of)
    return InvalidInput(
        f"Invalid arguments: {error.message}",
        field=error.field,
        allowed=error.allowed,
        hint=error.hint,
        code=error.code,
    )


def elapsed(call: Call) -> int:
    return max(0, round((time.perf_counter() - call.started) * 1000))


def found_chunk(
    similarity: float | None, chunk: Chunk, file: IndexedFile | None, fresh: bool | None, match: "Match"
) -> Body:
    """What the query surely names is what was asked for; what it may name keeps the similarity it has."""
    score = 1.0 if match == "sure" else None if similarity is None else round(similarity, _DIGITS)
    metadata: dict[str, Any] = {
        "file_path": chunk.source_file,
        "repository": chunk.metadata["repository"],
        "chunk_index": chunk.chunk_index,
        "file_extension": PurePosixPath(chunk.source_file).suffix,
        "file_size_bytes": chunk.metadata["file_size_bytes"],
        "indexed_at": chunk.metadata["indexed_at"],
        "language": chunk.metadata["language"],
        "chunk_id": chunk.chunk_id,
    }
    if file is not None and chunk.chunk_index < len(file.pieces):
        first, last, symbol = file.pieces[chunk.chunk_index]
        metadata |= {"start_line": first, "end_line": last, "entity_path": symbol}
    if match != "none":
        metadata["matched_name"] = True
    if fresh is not None:
        metadata["fresh"] = fresh
    return {"content": chunk.text, "similarity_score": score, "metadata": metadata}


def repository(one: Repository) -> Body:
    body: Body = {
        "name": one.name,
        "url": one.url,
        "collection_name": f"repo_{one.name}",
        "file_count": one.file_count,
        "chunk_count": one.chunk_count,
        "last_indexed": one.last_indexed or None,
        "status": one.status,
        "index_duration_ms": one.index_duration_ms,
    }
    if one.branch or one.head:
        body |= {"branch": one.branch or None, "commit": one.head or None}
    return body | ({"error_message": one.error_message} if one.status == "error" else {})


def repositories(every: Sequence[Repository]) -> Body:
    return {
        "repositories": [repository(one) for one in every],
        "summary": {
            "total_repositories": len(every),
            "total_files_indexed": sum(one.file_count for one in every),
            "total_chunks": sum(one.chunk_count for one in every),
        },
    }


def indexed(report: "IndexReport") -> Body:
    return {
        "success": True,
        "repository": repository(report.repository),
        "files": {
            "added": report.added,
            "updated": report.updated,
            "moved": report.moved,
            "removed": report.removed,
            "unchanged": report.unchanged,
        },
        "functions": report.repository.function_count,
        **({"scip_files": report.scip_files} if report.scip_files else {}),
        "left_out": [{"path": item.path, "reason": item.reason} for item in report.left_out[:50]],
        "left_out_count": len(report.left_out),
    }
