"""`trivium serve` as a client starts it: a process, two pipes."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from trivium.doors.guard.keys import Keys
from trivium.guard_stores import open_guard
from trivium.settings import Settings


def transport(data: Path, **environment: str) -> StdioTransport:
    quiet = {"TRIVIUM_MODEL": "hashing-64", "TRIVIUM_LOG_LEVEL": "ERROR", "PATH": os.environ["PATH"]}
    command = ["-m", "trivium", "--data", str(data), "serve", "--toolsets", "knowledge"]
    return StdioTransport(sys.executable, command, env=quiet | environment, keep_alive=False)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_lists_and_searches_at_once_over_stdio(corpus: Path, tmp_path: Path, mode: str) -> None:
    data = tmp_path / "data"
    shutil.copytree(corpus, data)

    async def run() -> None:
        async with Client(transport(data), mode=mode) as client:
            assert {"semantic_search", "get_chunk"} <= {tool.name for tool in await client.list_tools()}
            answer = await client.call_tool("semantic_search", {"query": "storage records"})
            assert answer.structured_content is not None
            assert len(answer.structured_content["results"]) == 10

    asyncio.run(run())


def test_scopes_hold_over_stdio_too(corpus: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(corpus, data)
    stores = open_guard(Settings(data=data))
    key, _ = Keys(stores.keys).create("reader", ["read"])
    stores.close()

    async def run() -> None:
        async with Client(transport(data, BMCIS_API_KEY=key)) as client:
            assert "semantic_search" in {tool.name for tool in await client.list_tools()}
            answer = await client.call_tool("semantic_search", {"query": "storage"})
            assert answer.structured_content is not None
            assert answer.structured_content["results"]
        async with Client(transport(data)) as client:
            refused = await client.call_tool("semantic_search", {"query": "storage"}, raise_on_error=False)
            assert refused.structured_content is not None
            assert refused.structured_content["error"]["code"] == "AUTH_REQUIRED"

    asyncio.run(run())
