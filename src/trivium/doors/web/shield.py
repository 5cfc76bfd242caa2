"""What every HTTP request passes before anything else sees it: address, Host and Origin, size, key, limits.

Pure ASGI, so that a refusal costs little and a body is read once. Refusals are JSON with the codes of the MCP tools;
inside `/mcp` they carry the id of the JSON-RPC request as well.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from typing import Any

from trivium.doors.guard.caller import Caller
from trivium.doors.guard.keys import owner_key
from trivium.doors.guard.limits import Exhausted
from trivium.doors.mcp.adapter import CALLER
from trivium.doors.mcp.gate import Gate
from trivium.doors.web.hosts import Hosts
from trivium.doors.web.refusals import Refusal, refuse
from trivium.doors.web.rpc import Rpc, parse_rpc
from trivium.errors import AuthInvalid, AuthRequired, BackendUnavailable, RateLimited, TriviumError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

MCP_PATH = "/mcp"
OPEN_PATHS = ("/health", "/health/live", "/health/ready")


class Shield:
    def __init__(self, app: Asgi, gate: Gate) -> None:
        self._app, self._gate = app, gate
        settings = gate.settings
        self._hosts = Hosts(settings.http_host, settings.allowed_hosts, settings.allowed_origins)
        self._max_bytes = int(settings.max_request_mb * 1_000_000)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        address = self._address(scope, headers)
        rpc = Rpc()
        try:
            self._check_place(headers, address)
            caller = None if scope["path"] in OPEN_PATHS else self._identify(headers, address)
            body = await self._body(headers, receive)
            rpc = parse_rpc(body) if scope["path"].rstrip("/") == MCP_PATH and scope["method"] == "POST" else rpc
            more = await asyncio.to_thread(self._meter, scope, caller, rpc) if caller else {}
        except (Refusal, TriviumError) as error:
            await self._refused(scope, send, error, address, rpc)
            return
        await self._app(scope, _replay(body, receive), self._counting(send, more))

    def _address(self, scope: Scope, headers: dict[str, str]) -> str:
        peer = scope.get("client")
        return self._gate.guard.addresses.origin(peer[0] if peer else "", headers.get("x-forwarded-for", ""))

    def _check_place(self, headers: dict[str, str], address: str) -> None:
        if not self._gate.guard.addresses.may_connect(address):
            raise Refusal(403, "ADDRESS_DENIED", "this address may not connect")
        if not self._hosts.knows(headers.get("host", "")):
            raise Refusal(403, "HOST_DENIED", "unknown Host header", "name it in TRIVIUM_ALLOWED_HOSTS")
        origin = headers.get("origin")
        if origin is not None and not self._hosts.trusts(origin, headers.get("host", "")):
            raise Refusal(403, "ORIGIN_DENIED", "this Origin may not call", "name it in TRIVIUM_ALLOWED_ORIGINS")

    async def _body(self, headers: dict[str, str], receive: Receive) -> bytes:
        too_large = Refusal(413, "REQUEST_TOO_LARGE", f"a request has at most {self._max_bytes:,} bytes")
        declared = headers.get("content-length", "")
        if declared.isdigit() and int(declared) > self._max_bytes:
            raise too_large
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._gate.settings.body_timeout_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "DISCONNECTED", "the client went away")
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self._max_bytes:
                        raise too_large
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise Refusal(408, "REQUEST_TOO_SLOW", "the request's body did not arrive in time") from None

    def _identify(self, headers: dict[str, str], address: str) -> Caller:
        """Reads only, so it may run on the event loop; a wrong key is counted when it is refused."""
        guard = self._gate.guard
        guard.limits.check_auth(guard.addresses.subject(address))
        given = _key(headers)
        expected = self._gate.settings.api_key.get_secret_value()
        return owner_key(given, expected, address) or guard.keys.identify(given, "http", address)

    def _meter(self, scope: Scope, caller: Caller, rpc: Rpc) -> dict[str, str]:
        """Counts the request and the calls in it; the headers that tell what is left."""
        limits = self._gate.guard.limits
        quota = limits.take_address(self._gate.guard.addresses.subject(caller.address))
        for name in rpc.calls:
            tool = self._gate.tools.get(name)
            quota = limits.take(caller, writes=tool is not None and not tool.read_only) or quota
        scope[CALLER] = replace(caller, metered=True)
        return quota.headers if quota else {}

    async def _refused(self, scope: Scope, send: Send, error: Refusal | TriviumError, address: str, rpc: Rpc) -> None:
        refusal = as_refusal(error)
        await asyncio.to_thread(self._note, refusal, address, rpc)
        await refuse(self._counting(send, {}), refusal, rpc, is_head=scope["method"] == "HEAD")

    def _note(self, refusal: Refusal, address: str, rpc: Rpc) -> None:
        if refusal.status == 401:
            self._gate.guard.limits.auth_failed(self._gate.guard.addresses.subject(address))
        self._gate.note_refusal(refusal.code, address, ", ".join(rpc.calls) or rpc.method)

    def _counting(self, send: Send, more: dict[str, str]) -> Send:
        extra = [(name.lower().encode(), value.encode()) for name, value in more.items()]

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *extra, (b"x-content-type-options", b"nosniff")]
                self._gate.guard.metrics.count("http_responses_total", status=str(message["status"]))
            await send(message)

        return counted


def as_refusal(error: Refusal | TriviumError) -> Refusal:
    """The one mapping of our errors to HTTP."""
    if isinstance(error, Refusal):
        return error
    headers: dict[str, str] = {}
    status, details = 403, dict[str, Any]()
    if isinstance(error, AuthRequired | AuthInvalid):
        status, headers = 401, {"WWW-Authenticate": 'Bearer realm="trivium"'}
    elif isinstance(error, RateLimited):
        status = 429
        details = {"remaining": error.remaining, "reset_in_seconds": error.reset_in_seconds}
        headers = error.headers if isinstance(error, Exhausted) else {"Retry-After": str(error.reset_in_seconds)}
    elif isinstance(error, BackendUnavailable):
        wait = str(max(1, round(error.retry_after_s)))
        return Refusal(503, error.code, "the store does not answer", headers={"Retry-After": wait})
    return Refusal(status, error.code, error.message, error.hint, headers, details)


def _headers(scope: Scope) -> dict[str, str]:
    """Host, Origin and keys must be given once: of two, a proxy and we might each believe another."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reversed(scope["headers"])}


def _key(headers: dict[str, str]) -> str:
    kind, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "").strip()


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
