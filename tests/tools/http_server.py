"""A real HTTP server in a thread of this process, on a free port."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import uvicorn

from served import Served
from trivium.doors.web.app import build_web

JSON_RPC = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass
class Web:
    url: str
    port: int
    served: Served

    def key(self, *scopes: str) -> str:
        return self.served.gate.guard.keys.create("test", scopes or ("read",))[0]

    def post(self, body: Any, key: str | None = None, **headers: str) -> httpx2.Response:
        more = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx2.post(f"{self.url}/mcp", json=body, headers=JSON_RPC | more | headers, timeout=30)

    def call(self, tool: str, key: str | None = None, headers: dict[str, str] | None = None, **arguments: Any) -> Any:
        """A call of the handshake era; without sessions every request stands for itself."""
        body = {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        return self.post(body, key, **(headers or {}))

    def raw(self, data: bytes, wait_s: float = 10.0) -> bytes:
        """Sends bytes as they are and reads what comes until the server closes or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait_s) as connection:
            connection.sendall(data)
            answer = b""
            try:
                while part := connection.recv(65536):
                    answer += part
                    if b"\r\n\r\n" in answer:
                        return answer
            except TimeoutError:
                pass
            return answer


@contextmanager
def running(served: Served) -> Iterator[Web]:
    config = uvicorn.Config(
        build_web(served.gate), host="127.0.0.1", port=0, log_level="error", lifespan="on", proxy_headers=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    patience = time.monotonic() + 20
    while not server.started and time.monotonic() < patience:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Web(f"http://127.0.0.1:{port}", port, served)
    finally:
        server.should_exit = True
        thread.join(10)
