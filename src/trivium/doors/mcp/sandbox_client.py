"""`MCPClient`, the in-memory client of seed 002, for programs that were written for it: its answers have the shapes of
that document (results with `metadata` and `content`), computed from the same chunks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trivium.doors.mcp.tools import Body
from trivium.model.chunk import Chunk

if TYPE_CHECKING:
    from trivium.app import App

CLIENT = "client_"
SHAPED = frozenset({f"{CLIENT}semantic_search"})
_PREVIEW_CHARACTERS = 200


def arguments_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The seed's client answers in full unless it is told otherwise."""
    return {"response_mode": "full", **given}


def as_seed(app: "App", mode: str, answer: Body) -> Body:
    ids = [one["chunk_id"] for one in answer["results"]]
    tokens = answer["execution_context"]["tokens_estimated"]
    if mode == "ids_only":
        return {"mode": mode, "count": len(ids), "ids": [f"chunk_{one}" for one in ids], "estimated_tokens": tokens}
    chunks = {chunk.chunk_id: chunk for chunk in app.chunks.get(ids)}
    results = [_result(chunks[one["chunk_id"]], one, mode) for one in answer["results"] if one["chunk_id"] in chunks]
    return {"mode": mode, "count": len(results), "results": results, "estimated_tokens": tokens}


def _result(chunk: Chunk, found: Body, mode: str) -> Body:
    metadata = _metadata(chunk, found)
    if mode == "metadata":
        return {**metadata, "metadata": metadata}
    if mode == "preview":
        text = chunk.text[:_PREVIEW_CHARACTERS]
        return {"metadata": metadata, "preview": text, "has_more": len(chunk.text) > len(text)}
    full: Body = {"metadata": metadata, "content": chunk.text, "tokens": chunk.token_count}
    return full | ({"relationships": found["relationships"]} if "relationships" in found else {})


def _metadata(chunk: Chunk, found: Body) -> Body:
    stated = chunk.metadata
    several = stated.get("vendors")
    vendor = stated.get("vendor") or (several[0] if isinstance(several, list) and several else None)
    return {
        "id": f"chunk_{chunk.chunk_id}",
        "title": chunk.title or chunk.source_file,
        "type": stated.get("type") or chunk.source_category or "unknown",
        "vendor": vendor,
        "file": chunk.source_file,
        "score": round(found.get("hybrid_score") or 0.0, 3),
        "created": chunk.date,
    }
