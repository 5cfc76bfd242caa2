"""OpenTelemetry: with its SDK and an endpoint, every call leaves a span there, over both transports."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from http_server import JSON_RPC

from trivium.doors.guard.keys import Keys
from trivium.guard_stores import open_guard
from trivium.settings import Settings

AT_ONCE = {"OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_BSP_SCHEDULE_DELAY": "20"}
QUIET = {"TRIVIUM_MODEL": "hashing-64", "TRIVIUM_LOG_LEVEL": "INFO", "PATH": os.environ["PATH"]}


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A collector of spans: its address, and what was sent to it."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", received
    server.shutdown()
    server.server_close()


def test_a_call_over_stdio_leaves_a_span(corpus: Path, tmp_path: Path, collector: tuple[str, list[bytes]]) -> None:
    data = tmp_path / "data"
    shutil.copytree(corpus, data)
    address, received = collector
    command = ["-m", "trivium", "--data", str(data), "serve", "--toolsets", "knowledge"]
    environment = QUIET | AT_ONCE | {"OTEL_EXPORTER_OTLP_ENDPOINT": address}

    async def run() -> None:
        async with Client(StdioTransport(sys.executable, command, env=environment, keep_alive=False)) as client:
            await client.call_tool("semantic_search", {"query": "storage records"})
            while b"semantic_search" not in b"".join(received):  # the suite's time limit ends what never comes
                await asyncio.sleep(0.02)

    asyncio.run(run())
    assert b"semantic_search" in b"".join(received)


def test_a_call_over_http_leaves_a_span(corpus: Path, tmp_path: Path, collector: tuple[str, list[bytes]]) -> None:
    data = tmp_path / "data"
    shutil.copytree(corpus, data)
    stores = open_guard(Settings(data=data))
    key, _ = Keys(stores.keys).create("reader", ["read"])
    stores.close()
    address, received = collector
    environment = QUIET | AT_ONCE | {"OTEL_EXPORTER_OTLP_ENDPOINT": address}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "trivium", "--data", str(data), "serve", "--http", "--port", str(port)]
    server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        assert any("running on" in line for line in server.stderr)  # ends with the process, whatever happens
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        call = body | {"params": {"name": "semantic_search", "arguments": {"query": "storage"}}}
        headers = JSON_RPC | {"Authorization": f"Bearer {key}"}
        answer = httpx2.post(f"http://127.0.0.1:{port}/mcp", json=call, headers=headers, timeout=60)
    finally:
        server.terminate()
        server.communicate(timeout=60)
    assert answer.status_code == 200
    assert b"semantic_search" in b"".join(received)


def test_an_endpoint_without_the_sdk_is_told_in_the_log() -> None:
    code = (
        "import sys; sys.modules['opentelemetry.sdk'] = None;"
        "from trivium.doors.mcp.telemetry import start_telemetry; print(start_telemetry())"
    )
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert "opentelemetry-sdk" in done.stderr
