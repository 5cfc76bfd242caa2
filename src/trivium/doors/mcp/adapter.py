"""Between FastMCP and the gate: who is calling, on which thread the work runs, what goes on the wire."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types
from fastmcp.exceptions import McpError
from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_context, get_http_request
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import Tool as FastTool
from fastmcp.tools.base import ToolResult
from pydantic import ConfigDict, Field

from trivium.doors.guard.caller import Caller
from trivium.doors.mcp.gate import Gate
from trivium.doors.mcp.tools import Progress, Reply, Tool, no_progress
from trivium.errors import TriviumError

CALLER = "trivium.caller"  # where the HTTP door leaves who is calling, in the ASGI scope
_GRACE_S = 0.5
_THREADS = 32
_PATIENT_THREADS = 64
_AUTH_ERROR = -32001
_AFTER_LIST_S = 0.05  # the answer is on its way by then


def current_caller(gate: Gate) -> Caller:
    """Over HTTP whoever the door let in; otherwise the local user, or the key in the environment."""
    try:
        caller = get_http_request().scope.get(CALLER)
    except RuntimeError:
        caller = None
    if isinstance(caller, Caller):
        return caller
    settings = gate.settings
    return gate.guard.keys.local(settings.api_key.get_secret_value(), required=settings.require_key)


async def call_gate(gate: Gate, name: str, arguments: Mapping[str, Any]) -> Reply:
    context = get_context()
    ticket = gate.ticket(name, arguments, _client_name(context), _progress(context))
    caller_here = _Captured(gate)
    delay = _delay(gate, caller_here)
    if delay:
        await anyio.sleep(delay)
    with anyio.move_on_after(ticket.deadline.left_s + _GRACE_S):
        return await anyio.to_thread.run_sync(
            gate.run, ticket, caller_here, abandon_on_cancel=True, limiter=_limiter(gate, ticket.tool.is_patient)
        )
    return gate.abandon(ticket)


class _Captured:
    """Identifies the caller here, on the event loop, where the request is known; raises only when asked."""

    def __init__(self, gate: Gate) -> None:
        self.caller: Caller | None = None
        self.error: TriviumError | None = None
        try:
            self.caller = current_caller(gate)
        except TriviumError as error:
            self.error = error

    def __call__(self) -> Caller:
        if self.caller is None:
            assert self.error is not None
            raise self.error
        return self.caller


def _delay(gate: Gate, who: _Captured) -> float:
    if who.caller is None:
        return 0.0
    try:
        return gate.guard.watch.delay_s(who.caller)
    except TriviumError:
        return 0.0  # the store is down; the call itself will say so


def _limiter(gate: Gate, is_patient: bool) -> anyio.CapacityLimiter:
    """Programs that wait for a worker must not take the threads that other calls need."""
    if gate.limiter is None:
        gate.limiter, gate.patient_limiter = anyio.CapacityLimiter(_THREADS), anyio.CapacityLimiter(_PATIENT_THREADS)
    limiter = gate.patient_limiter if is_patient else gate.limiter
    assert isinstance(limiter, anyio.CapacityLimiter)
    return limiter


def _client_name(context: Context) -> str:
    try:
        parameters = context.session.client_params
        return parameters.client_info.name if parameters is not None else ""
    except (RuntimeError, AttributeError):
        return ""


def _progress(context: Context) -> Progress:
    if context.request_context is None:
        return no_progress

    def report(done: float, total: float | None = None, message: str | None = None) -> None:
        anyio.from_thread.run(context.report_progress, done, total, message)

    return report


class GuardedTool(FastTool):
    """A tool whose every call goes through the gate."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    gate: Any = Field(exclude=True)

    @classmethod
    def of(cls, tool: Tool, gate: Gate) -> "GuardedTool":
        return cls(
            name=tool.name,
            title=tool.title or None,
            description=tool.description,
            parameters=tool.input_schema,
            output_schema=dict(tool.output_schema) if tool.output_schema else None,
            annotations=mcp_types.ToolAnnotations(
                read_only_hint=tool.read_only and not tool.may_write,
                destructive_hint=tool.destructive,
                idempotent_hint=tool.idempotent,
                open_world_hint=tool.open_world,
            ),
            gate=gate,
        )

    def get_meta(self) -> dict[str, Any]:
        """FastMCP would send its own bookkeeping along, which costs every client tokens."""
        return {}

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        reply = await call_gate(self.gate, self.name, arguments)
        return ToolResult.from_mcp_result(
            mcp_types.CallToolResult(
                content=[mcp_types.TextContent(type="text", text=reply.text or "")],
                structured_content=reply.body,
                is_error=reply.is_error,
            )
        )


class Listing(Middleware):
    """Shows a caller the tools it may use."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[FastTool]],
    ) -> Sequence[FastTool]:
        try:
            caller = current_caller(self._gate)
        except TriviumError as error:
            # A client without a good key learns why there is nothing, instead of seeing a server without tools.
            raise McpError(code=_AUTH_ERROR, message=f"{error.message} {error.hint or ''}".strip()) from None
        visible = {tool.name for tool in self._gate.visible(caller)}
        asyncio.get_running_loop().call_later(_AFTER_LIST_S, self._gate.opening.start)
        return [tool for tool in await call_next(context) if tool.name in visible]
