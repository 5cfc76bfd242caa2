"""Whether the server lives, whether it can answer, and which parts are weak. Found out by really searching."""

import logging
import threading
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from trivium.doors.mcp.gate import Gate
from trivium.errors import TriviumError
from trivium.model.hits import SearchQuery

logger = logging.getLogger(__name__)
_FRESH_S = 5.0


class Health:
    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._lock = threading.Lock()
        self._known: tuple[float, dict[str, str]] = (0.0, {})

    def live(self, _: Request) -> Response:
        return JSONResponse({"live": True})

    def ready(self, _: Request) -> Response:
        body = self._body()
        return JSONResponse({"ready": body["ready"]}, status_code=200 if body["ready"] else 503)

    def report(self, _: Request) -> Response:
        body = self._body()
        return JSONResponse(body, status_code=200 if body["ready"] else 503)

    def _body(self) -> dict[str, Any]:
        parts = self._parts()
        ready = parts["store"] == "ok"
        status = "unavailable" if not ready else "ok" if set(parts.values()) == {"ok"} else "degraded"
        return {"status": status, "live": True, "ready": ready, "parts": parts}

    def _parts(self) -> dict[str, str]:
        with self._lock:
            made, parts = self._known
            if time.monotonic() - made > _FRESH_S or not parts:
                parts = self._look()
                self._known = time.monotonic(), parts
            return parts

    def _look(self) -> dict[str, str]:
        app = self._gate.opening.app
        if app is None:
            return {"store": self._gate.opening.state.partition(":")[0]}
        parts = {"store": "failing" if self._gate.guard.breaker.is_open else "ok"}
        try:
            ranking = app.search.search(SearchQuery("health", limit=1))
        except TriviumError as error:
            logger.warning("health: %s", error.message)
            return {"store": "failing"}
        shared = self._gate.guard.stores.shared
        if shared is not None:
            parts["cache"] = "unavailable" if shared.ping() else "ok"
        if app.graph_server is not None:
            parts["graph"] = "unavailable" if app.graph_server.trouble else "ok"
        parts["vectors"] = "unavailable" if ranking.degraded else "incomplete" if ranking.missing_vectors else "ok"
        return parts
