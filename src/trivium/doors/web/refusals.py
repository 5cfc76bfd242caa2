"""How HTTP says no."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from trivium.doors.web.rpc import Rpc

_RPC_REFUSED = -32000


class Refusal(Exception):
    """A status, a code and a sentence; `details` are further fields of the body."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        hint: str | None = None,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.hint = status, code, message, hint
        self.headers, self.details = dict(headers or {}), dict(details or {})

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"error": self.message, "code": self.code}
        if self.hint:
            body["action"] = self.hint
        return body | self.details


async def refuse(
    send: Callable[[MutableMapping[str, Any]], Awaitable[None]], refusal: Refusal, rpc: Rpc, *, is_head: bool = False
) -> None:
    body: dict[str, Any] = refusal.body
    if rpc.method and rpc.request_id is not None:
        error = {"code": _RPC_REFUSED, "message": refusal.message, "data": body}
        body = {"jsonrpc": "2.0", "id": rpc.request_id, "error": error}
    text = json.dumps(body).encode()
    headers = {"content-type": "application/json", "content-length": str(len(text)), **refusal.headers}
    if refusal.status in (400, 408, 413):
        headers["connection"] = "close"  # the rest of the body is not worth reading
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
    await send({"type": "http.response.body", "body": b"" if is_head else text})
