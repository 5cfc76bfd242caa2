"""`trivium serve`: the MCP server, over stdio or HTTP."""

import os
import sys
from typing import TYPE_CHECKING, Any

import typer

from trivium.doors.cli.context import chosen
from trivium.doors.cli.output import note

if TYPE_CHECKING:
    from trivium.settings import Settings


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium serve --http --port 8000 --processes 4")(serve)


def serve(
    http: bool = typer.Option(False, "--http", help="Streamable HTTP on /mcp instead of stdio."),
    host: str | None = typer.Option(None, help="Address to listen on (127.0.0.1)."),
    port: int | None = typer.Option(None, min=0, max=65535, help="Port to listen on (8000)."),
    processes: int | None = typer.Option(None, min=1, max=64, help="Server processes (1)."),
    toolsets: str | None = typer.Option(None, help="knowledge, code, concepts; separated by commas (all)."),
    surface: str | None = typer.Option(
        None, help="classic: every tool; compact: search_tools and execute_code; both (classic)."
    ),
) -> None:
    """Serve MCP clients: over stdio for a client that starts this command, or over HTTP for many."""
    given = {"http_host": host, "http_port": port, "http_processes": processes, "toolsets": toolsets}
    given["surface"] = surface
    settings = chosen.settings(**{name: value for name, value in given.items() if value is not None})
    _log_to_stderr(settings)
    _tell_unused(settings)
    if http:
        serve_http(settings)
    else:
        serve_stdio(settings)


def serve_stdio(settings: "Settings") -> None:
    import anyio

    from trivium.doors.mcp.server import build_server, open_gate
    from trivium.doors.mcp.telemetry import start_telemetry

    gate = open_gate(settings, at_once=False, embeds=True)
    try:
        start_telemetry()
        anyio.run(lambda: build_server(gate).run_stdio_async(show_banner=False))
    finally:
        gate.close()


def serve_http(settings: "Settings") -> None:
    import uvicorn

    from trivium.doors.mcp.server import open_gate
    from trivium.doors.mcp.telemetry import start_telemetry
    from trivium.doors.web.app import build_web

    first_key(settings)
    note(f"MCP at http://{_shown_host(settings.http_host)}:{settings.http_port}/mcp")
    common: dict[str, Any] = {
        "host": settings.http_host,
        "port": settings.http_port,
        "log_level": settings.log_level.lower(),
        "access_log": False,  # the audit log has every call, with its caller
        "server_header": False,
        "proxy_headers": False,  # X-Forwarded-For is believed of trusted proxies only, by the shield
        "timeout_graceful_shutdown": 5,
        "timeout_keep_alive": 30,
        "timeout_worker_healthcheck": 60,  # a busy machine is no reason to kill a worker
        "lifespan": "on",
        "ws": "none",
    }
    if settings.http_processes == 1:
        start_telemetry()
        uvicorn.run(build_web(open_gate(settings, embeds=True)), **common)
        return
    for row in settings.origins():
        if row.origin == "given":
            os.environ[row.variable] = _as_variable(getattr(settings, row.name))
    uvicorn.run("trivium.doors.web.app:create", factory=True, workers=settings.http_processes, **common)


def first_key(settings: "Settings") -> str | None:
    """HTTP always needs a key: where there is none yet, one is made and printed, this once."""
    from trivium.doors.guard.guard import build_guard
    from trivium.guard_stores import open_guard

    guard = build_guard(settings, open_guard(settings))
    try:
        if guard.keys.exist() or settings.api_key.get_secret_value():
            return None
        text, _ = guard.keys.create("first", ["admin"])
    finally:
        guard.close()
    typer.echo(text)
    note("the line above is the first API key, with every scope; it is not shown again. More: trivium keys --help")
    return text


def _tell_unused(settings: "Settings") -> None:
    """A database named for something else must not look as if it were in use."""
    from trivium.stores import is_postgres

    if settings.store and not is_postgres(settings.store):
        origin = {row.name: row.origin for row in settings.origins()}["store"]
        note(f"[yellow]{origin}[/] is set, but this version keeps everything in {settings.data}")


def _as_variable(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _shown_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _log_to_stderr(settings: "Settings") -> None:
    """stdout belongs to the protocol."""
    import logging

    logging.basicConfig(
        level=settings.log_level,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        force=True,
    )
    logging.getLogger("mcp").setLevel(max(logging.WARNING, logging.getLevelName(settings.log_level)))
