"""The HTTP application: `/mcp`, `/health`, `/metrics`, `/admin`, behind the shield."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from trivium.doors.guard.caller import Caller
from trivium.doors.mcp.adapter import CALLER
from trivium.doors.mcp.gate import Gate
from trivium.doors.mcp.server import build_server, open_gate
from trivium.doors.mcp.telemetry import end_telemetry, start_telemetry
from trivium.doors.web.health import Health
from trivium.doors.web.shield import Shield
from trivium.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

_GZIP_FROM_BYTES = 500


def create() -> Starlette:
    """For server processes: everything comes from the environment."""
    start_telemetry()
    return build_web(open_gate(Settings(), embeds=True))


def build_web(gate: Gate) -> Starlette:
    settings = gate.settings
    mcp = build_server(gate).http_app(
        path="/mcp",
        stateless_http=True,
        json_response=not settings.response_streaming,
        host_origin_protection=False,  # the shield does it, for every path and with our settings
    )
    health = Health(gate)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.lifespan(mcp):
            yield
        gate.close()
        end_telemetry()

    middleware = [Middleware(Shield, gate=gate)]
    if settings.allowed_origins:
        middleware.insert(0, _cors(settings))
    if settings.enable_response_compression:
        middleware.append(Middleware(GZipMiddleware, minimum_size=_GZIP_FROM_BYTES))
    return Starlette(
        routes=[
            Route("/health", health.report),
            Route("/health/live", health.live),
            Route("/health/ready", health.ready),
            Route("/metrics", _metrics(gate)),
            Route("/admin/cache/clear", _clear(gate), methods=["POST"]),
            Mount("/", app=mcp),
        ],
        middleware=middleware,
        lifespan=lifespan,
    )


def _cors(settings: Settings) -> Middleware:
    return Middleware(
        CORSMiddleware,
        allow_origins=list(settings.allowed_origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["Mcp-Session-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
    )


def _metrics(gate: Gate) -> "Callable[[Request], Response]":
    def metrics(request: Request) -> Response:
        if not _may(request, "read"):
            return _forbidden("read")
        return PlainTextResponse(gate.guard.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return metrics


def _clear(gate: Gate) -> "Callable[[Request], Response]":
    def clear(request: Request) -> Response:
        if not _may(request, "admin"):
            return _forbidden("admin")
        return JSONResponse({"cleared": gate.services.clear_caches()})

    return clear


def _may(request: Request, scope: str) -> bool:
    caller = request.scope.get(CALLER)
    return isinstance(caller, Caller) and caller.may(scope)


def _forbidden(scope: str) -> Response:
    return JSONResponse({"error": f"this needs scope {scope}", "code": "FORBIDDEN"}, status_code=403)
