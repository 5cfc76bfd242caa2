"""Resources: a chunk and a document as plain text, read through the gate like everything else."""

import logging
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from trivium.doors.mcp.envelope import error_body
from trivium.doors.mcp.tools import Body, Call, Tool, tool
from trivium.errors import NotFound
from trivium.model.chunk import Chunk
from trivium.model.filters import Equals
from trivium.model.ids import parse_chunk_id

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from trivium.doors.mcp.gate import Gate


@tool(scope="read", errors=error_body, name="resource_chunk")
def read_chunk(call: Call, chunk_id: str) -> Body:
    """The text of one chunk."""
    found = call.app.chunks.get([parse_chunk_id(chunk_id)])
    if not found:
        raise NotFound(f"there is no chunk {chunk_id}", code="CHUNK_NOT_FOUND")
    return {"text": found[0].text}


@tool(scope="read", errors=error_body, name="resource_document")
def read_document(call: Call, path: Annotated[str, Field(min_length=1, max_length=2000)]) -> Body:
    """The text of one document, put together from its chunks."""
    chunks = call.app.chunks.get(call.app.chunks.select(Equals("source_file", path)).tolist())
    if not chunks:
        raise NotFound(f"there is no document {path!r}", code="DOCUMENT_NOT_FOUND")
    text = joined(chunks)
    limit = call.settings.max_tokens_per_response
    if call.services.tokens.count([text])[0] > limit:
        # Four characters a token on average; the cut is generous and says how to read on.
        text = f"{text[: 3 * limit]}\n\n[cut here: read on by chunks, {len(chunks)} in all]"
    return {"text": text}


READERS: tuple[Tool, ...] = (read_chunk, read_document)


def joined(chunks: list[Chunk]) -> str:
    """Chunks in order, what neighbours share only once."""
    text, end = "", 0
    for chunk in sorted(chunks, key=lambda one: one.chunk_index):
        gap = "\n\n" if text and chunk.start > end else ""
        text += gap + chunk.text[max(0, end - chunk.start) :]
        end = max(end, chunk.end)
    return text


def add_resources(server: "FastMCP", gate: "Gate") -> None:
    from fastmcp.exceptions import McpError, ResourceError
    from mcp_types import INVALID_PARAMS

    from trivium.doors.mcp.adapter import call_gate

    async def read(uri: str, name: str, **arguments: str) -> str:
        reply = await call_gate(gate, name, arguments)
        if not reply.is_error:
            return str(reply.body["text"])
        error = reply.body["error"]
        if error["code"].endswith("_NOT_FOUND"):
            raise McpError(code=INVALID_PARAMS, message=f"Resource not found: {uri!r}", data={"uri": uri})
        raise ResourceError(error["message"], log_level=logging.DEBUG)  # the gate has logged what deserves it

    @server.resource("trivium://chunk/{chunk_id}", mime_type="text/plain")
    async def chunk(chunk_id: str) -> str:
        """Text of one chunk, by the id search gives."""
        return await read(f"trivium://chunk/{chunk_id}", "resource_chunk", chunk_id=chunk_id)

    @server.resource("trivium://document/{path*}", mime_type="text/plain")
    async def document(path: str) -> str:
        """Text of one document, by its source_file."""
        return await read(f"trivium://document/{path}", "resource_document", path=path)
