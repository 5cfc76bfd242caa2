"""The calls a program makes: each is a call like any other, through the same gate, as the same caller.

Scopes, deadlines, the breaker, errors and the audit log hold for them. Reading ones are counted by the program's own
budget of calls; writing ones take from the caller's rate limit as if they had come alone.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from trivium.doors.guard.caller import Caller
from trivium.doors.guard.deadline import Deadline
from trivium.doors.mcp.envelope import json_text
from trivium.doors.mcp.sandbox_client import CLIENT, arguments_of, as_seed
from trivium.doors.mcp.tools import Call, Reply, Tool
from trivium.sandbox.runner import CallFailed

if TYPE_CHECKING:
    from trivium.doors.mcp.gate import Gate

_ROOM = 20  # an answer that only a program reads may be so many times larger than one a model reads


class Calls:
    """Answers the calls of one program. Those it makes are in the audit log as `<its request>.1`, `.2`, …"""

    def __init__(self, gate: "Gate", tools: Mapping[str, Tool], call: Call, *, allow_writes: bool) -> None:
        self._gate, self._tools, self._call, self._allow_writes = gate, tools, call, allow_writes
        most = gate.settings.max_tokens_per_response * _ROOM
        self._settings = gate.settings.model_copy(update={"max_tokens_per_response": most})
        self._number = itertools.count(1)

    def answer(self, name: str, values: Sequence[Any], named: Mapping[str, Any], left_s: float) -> Any:
        if name.startswith(CLIENT):
            tool = self._tools[name.removeprefix(CLIENT)]
            arguments = arguments_of(_named(tool, values, named))
            reply = self._run(tool, arguments, left_s)
            return as_seed(self._call.app, arguments["response_mode"], from_json(json_text(reply.body)))
        tool = self._tools[name]
        return from_json(json_text(self._run(tool, _named(tool, values, named), left_s).body))

    def _run(self, tool: Tool, arguments: Mapping[str, Any], left_s: float) -> Reply:
        if not tool.read_only and not self._allow_writes:
            raise CallFailed(
                "WRITES_NOT_ALLOWED", f"{tool.name} changes what is stored", "call execute_code with allow_writes=true"
            )
        ticket = self._gate.ticket(tool.name, arguments, "execute_code")
        ticket.deadline = Deadline(min(ticket.deadline.seconds, left_s))
        ticket.settings = self._settings
        ticket.request_id = f"{self._call.request_id}.{next(self._number)}"
        caller = self._caller(tool)
        reply = self._gate.run(ticket, lambda: caller)
        if reply.is_error:
            raise _failed(reply.body)
        return reply

    def _caller(self, tool: Tool) -> Caller:
        caller = self._call.caller
        return replace(caller, metered=tool.read_only or caller.transport == "memory")


def _named(tool: Tool, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Positional arguments by the names of the tool's parameters."""
    parameters = list(tool.arguments.model_fields)
    if len(values) > len(parameters):
        raise CallFailed("INVALID_PARAMS", f"{tool.name} takes {len(parameters)} arguments: {', '.join(parameters)}")
    given = dict(zip(parameters, values, strict=False))
    if twice := given.keys() & named.keys():
        raise CallFailed("INVALID_PARAMS", f"{tool.name} got {', '.join(sorted(twice))} twice")
    return {**given, **named}


def _failed(body: Mapping[str, Any]) -> CallFailed:
    error = body.get("error") or {}
    if not isinstance(error, Mapping):
        return CallFailed("TOOL_FAILED", str(error))
    code = str(error.get("code") or error.get("type") or "TOOL_FAILED")
    hint = error.get("action") or ", ".join(map(str, error.get("suggestions") or ()))
    return CallFailed(code, str(error.get("message") or "the tool failed"), str(hint or ""))
