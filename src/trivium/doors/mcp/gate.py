"""The one way into a tool, whatever the transport: who may, how often, how long; what went wrong; what is written down.

Everything a tool raises ends here: errors we know get their toolset's shape, anything else is logged under the request
id and shown as that id alone.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trivium.doors.guard.audit import redacted
from trivium.doors.guard.caller import Caller
from trivium.doors.guard.deadline import Deadline, Reaper, Stoppable
from trivium.doors.guard.guard import Guard
from trivium.doors.mcp.envelope import json_text, new_request_id, priced_error
from trivium.doors.mcp.opening import Opening
from trivium.doors.mcp.services import Services
from trivium.doors.mcp.tools import Call, Failure, Progress, Reply, Tool, no_progress
from trivium.errors import BackendUnavailable, Forbidden, ModelUnavailable, TriviumError, VectorsUnavailable
from trivium.ports.audit import AuditEntry
from trivium.settings import Settings

logger = logging.getLogger("trivium.calls")
_reaper = Reaper()

Identify = Callable[[], Caller]


@dataclass(slots=True)
class Ticket:
    """One call on its way; `done` makes sure that it is written down once, whoever ends it."""

    tool: Tool
    arguments: Mapping[str, Any]
    deadline: Deadline
    caller: Caller | None = None
    client_name: str = ""
    progress: Progress = no_progress
    settings: Settings | None = None  # None: the gate's own
    request_id: str = field(default_factory=new_request_id)
    started: float = field(default_factory=time.perf_counter)
    work: Stoppable = field(default_factory=Stoppable)
    done: threading.Lock = field(default_factory=threading.Lock)

    @property
    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000


def storable(value: Any) -> Any:
    """The same value with halves of UTF-16 pairs, which JSON may smuggle in and nothing can store, made U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {storable(name): storable(item) for name, item in value.items()}
    return [storable(item) for item in value] if isinstance(value, list) else value


class Gate:
    """`tools` are what clients see; `hidden` ones (what reads resources) pass through here just the same."""

    def __init__(
        self,
        settings: Settings,
        guard: Guard,
        services: Services,
        opening: Opening,
        tools: Sequence[Tool],
        hidden: Sequence[Tool] = (),
    ) -> None:
        self.settings, self.guard, self.services, self.opening = settings, guard, services, opening
        self.tools = {tool.name: tool for tool in tools}
        self.limiter: Any = None  # made on the event loop that uses it
        self.patient_limiter: Any = None  # the same for tools that mostly wait
        self.on_close: list[Callable[[], None]] = []
        self._all = self.tools | {tool.name: tool for tool in hidden}

    def visible(self, caller: Caller) -> list[Tool]:
        return [tool for tool in self.tools.values() if caller.may(tool.scope)]

    def ticket(
        self, name: str, arguments: Mapping[str, Any], client_name: str = "", progress: Progress = no_progress
    ) -> Ticket:
        tool = self._all[name]
        deadline = Deadline(tool.deadline_s or self.settings.deadline_s)
        return Ticket(tool, storable(arguments), deadline, client_name=client_name, progress=progress)

    def run(self, ticket: Ticket, identify: Identify) -> Reply:
        """Blocks until the answer is there or the deadline has stopped the work."""
        _reaper.watch(ticket.work, ticket.deadline)
        try:
            reply = ticket.work.run(lambda: self._serve(ticket, identify), ticket.deadline)
            error = None
        except TriviumError as known:
            reply, error = self._failed(ticket, known), known
        except Exception:
            logger.exception("%s failed (%s)", ticket.tool.name, ticket.request_id)
            error = TriviumError(
                f"an internal error; the log has it as {ticket.request_id}", code=ticket.tool.failure_code
            )
            reply = self._failed(ticket, error)
        return self._ended(ticket, reply, error.code if error else "ok")

    def abandon(self, ticket: Ticket) -> Reply:
        """The answer to a call that did not stop in time: its thread hangs in something Python cannot interrupt."""
        ticket.work.stop()
        error = ticket.deadline.exceeded()
        return self._ended(ticket, self._failed(ticket, error), error.code)

    def note_refusal(self, code: str, address: str, what: str) -> None:
        """Writes down a request that a door refused before it became a call."""
        subject = f"address:{self.guard.addresses.subject(address)}"
        caller = Caller("unknown", frozenset(), "http", subject)
        entry = AuditEntry(
            self.guard.audit.now(), new_request_id(), caller.name, "", address, "http", what, "{}", code, 0, 0, 0.0
        )
        try:
            flag = self.guard.watch.note(caller, (), failed=True)
            self.guard.audit.record_seldom(subject + code, replace(entry, flag=flag))
        except TriviumError as error:
            logger.error("the audit log could not be written: %s", error.message)

    def close(self) -> None:
        for close in self.on_close:
            close()
        self.opening.close()
        self.guard.close()

    def _serve(self, ticket: Ticket, identify: Identify) -> Reply:
        tool = ticket.tool
        caller = ticket.caller = identify()
        if not caller.may(tool.scope):
            raise Forbidden(
                f"this key may not use {tool.name}: it needs scope {tool.scope}",
                hint=f"make a key with: trivium keys create --scope {tool.scope}",
            )
        if not caller.metered:
            self.guard.limits.take(caller, writes=not tool.read_only)
        arguments = tool.parse(ticket.arguments)
        self.guard.breaker.enter()
        app = self.opening.get(ticket.deadline.left_s)
        call = Call(
            app,
            ticket.settings or self.settings,
            self.services,
            caller,
            ticket.request_id,
            ticket.started,
            ticket.deadline,
            ticket.client_name,
            ticket.progress,
        )
        return self._through_breaker(tool, call, arguments)

    def _through_breaker(self, tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Reply:
        try:
            reply = tool.run(call, arguments)
        except BackendUnavailable as error:
            if not isinstance(error, ModelUnavailable | VectorsUnavailable):
                self.guard.breaker.failed()
            raise
        self.guard.breaker.succeeded()
        return reply if reply.text is not None else replace(reply, text=json_text(reply.body))

    def _failed(self, ticket: Ticket, error: TriviumError) -> Reply:
        if isinstance(error, BackendUnavailable):
            # Messages of backends name files and addresses: for the log, not for clients.
            logger.warning("%s (%s): %s", ticket.tool.name, ticket.request_id, error.message)
        body = ticket.tool.errors(Failure(ticket.tool.name, error, ticket.request_id, ticket.elapsed_ms))
        text = ticket.tool.error_text(body) if ticket.tool.error_text else priced_error(body, self.services.tokens)
        return Reply(body, text, is_error=True)

    def _ended(self, ticket: Ticket, reply: Reply, outcome: str) -> Reply:
        if ticket.done.acquire(blocking=False):
            try:
                self._write_down(ticket, reply, outcome)
            except TriviumError as error:
                # A full disk must not take the answer with it; the operator finds this in the log.
                logger.error("the audit log could not be written: %s", error.message)
        return reply

    def _write_down(self, ticket: Ticket, reply: Reply, outcome: str) -> None:
        caller, tool = ticket.caller, ticket.tool
        flag = ""
        if caller is not None and caller.transport != "memory":
            flag = self.guard.watch.note(caller, reply.seen, failed=reply.is_error)
        self.guard.metrics.call(tool.name, outcome, ticket.elapsed_ms / 1000)
        if flag:
            self.guard.metrics.count("flagged_total", flag=flag)
        self.guard.audit.record(
            AuditEntry(
                at=self.guard.audit.now(),
                request_id=ticket.request_id,
                caller=caller.name if caller else "unknown",
                key=caller.key if caller else "",
                address=caller.address if caller else "",
                transport=caller.transport if caller else "",
                tool=tool.name,
                arguments=redacted(ticket.arguments, tool.secrets),
                outcome=outcome,
                result_bytes=len((reply.text or "").encode("utf-8", "replace")),
                results=len(reply.seen),
                duration_ms=round(ticket.elapsed_ms, 2),
                flag=flag,
            )
        )
