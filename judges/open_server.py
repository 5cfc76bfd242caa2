"""A Trivium HTTP server for judges that cannot send a key: the key is added inside, everything else is as served.

Usage: open_server.py PORT DATA
"""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn

from trivium.app import open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.doors.mcp.server import open_gate
from trivium.doors.web.app import build_web
from trivium.settings import Settings

SAMPLES = {
    "jwt.md": "# JWT guide\n\nTokens rotate every hour. Refresh tokens live a day.",
    "backup.md": "# Backups\n\nBackups run at night and are kept for a month.",
    "network.md": "# Network\n\nThe gateway terminates TLS and forwards to the service.",
}
Asgi = Callable[..., Awaitable[None]]


def with_key(app: Asgi, key: str) -> Asgi:
    async def keyed(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {key}".encode())]
        await app(scope, receive, send)

    return keyed


def main(port: int, data: Path) -> None:
    settings = Settings(
        data=data,
        http_port=port,
        rate_limit_http_read_minute=0,
        rate_limit_http_read_hour=0,
        rate_limit_http_write_minute=0,
        rate_limit_http_write_hour=0,
        rate_limit_day=0,
        rate_limit_address_minute=0,
        harvest_results_hour=0,
        harvest_failures_hour=0,
    )

    def opened() -> Any:
        return open_app(settings, lambda _: HashingEmbedder())

    docs = data.parent / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    for name, text in SAMPLES.items():
        (docs / name).write_text(text)
    app = opened()
    app.documents.add([docs])
    app.embedding.run()
    app.close()
    gate = open_gate(settings, opened)
    key, _ = gate.guard.keys.create("judge", ["admin"])
    Path(data.parent / "key").write_text(key)
    uvicorn.run(with_key(build_web(gate), key), host="127.0.0.1", port=port, log_level="warning", proxy_headers=False)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
