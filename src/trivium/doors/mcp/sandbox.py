"""`execute_code`: an agent's program, run next to the data; only its result goes back.

How a program runs is decided in trivium/sandbox; here its functions are our tools (sandbox_calls.py), and its result
becomes an answer that fits (sandbox_fit.py). `search_tools` beside it is in sandbox_search.py.
"""

import textwrap
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from trivium.doors.mcp.envelope import Draft, error_body, priced, warning
from trivium.doors.mcp.sandbox_calls import Calls
from trivium.doors.mcp.sandbox_client import SHAPED
from trivium.doors.mcp.sandbox_fit import fit
from trivium.doors.mcp.sandbox_search import ToolSearch
from trivium.doors.mcp.tools import Body, Call, Failure, Reply, Tool, tool
from trivium.errors import InvalidInput, TokenLimitExceeded
from trivium.sandbox.failures import ProgramError
from trivium.settings import Settings

if TYPE_CHECKING:
    from trivium.doors.mcp.gate import Gate
    from trivium.sandbox.runner import Outcome, Runner

CODE_CHARACTERS = 100_000
_WAIT_S = 30.0  # for a worker
_GRACE_S = 5.0
_MARGIN = 8  # tokens, for digits that grow when counts are filled in

_TEXT: Body = {"type": "string"}
OUTPUT: Body = {
    "type": "object",
    "properties": {
        "_metadata": {"type": "object"},
        "results": {"description": "The program's result"},
        "output": _TEXT,
        "execution_context": {"type": "object"},
        "warnings": {"type": "array"},
        "error": {"type": "object"},
    },
    "required": ["_metadata", "results", "execution_context", "warnings"],
}

Code = Annotated[
    str,
    StringConstraints(strip_whitespace=False, min_length=1, max_length=CODE_CHARACTERS),
    Field(description="Python"),
]
Seconds = Annotated[float | None, Field(gt=0, json_schema_extra={"default": 30})]
Budget = Annotated[int | None, Field(ge=100, description="Fit the answer into so many tokens")]


def failed(failure: Failure) -> Body:
    """The envelope's error, with what helps to write the next program: the line, finished calls, output so far."""
    body = error_body(failure)
    if isinstance(failure.error, ProgramError):
        body["error"].update(failure.error.details)
    return body


class Programs:
    """The sandbox of one server. `functions` are the tools programs may call; `gate` is set once it is there."""

    def __init__(self, settings: Settings, functions: Sequence[Tool]) -> None:
        self._settings = settings
        self._functions = {one.name: one for one in functions}
        self._search = ToolSearch(functions)
        self._starting = threading.Lock()
        self.gate: Gate | None = None

    def tools(self) -> list[Tool]:
        """Both tools, the one that finds functions first."""
        deadline_s = self._settings.sandbox_timeout_s + _WAIT_S + _GRACE_S
        make = tool(
            scope="read",
            errors=failed,
            output=OUTPUT,
            destructive=True,
            idempotent=False,
            deadline_s=deadline_s,
            may_write=True,
            is_patient=True,
        )
        return [self._search.tool(), make(self.execute_code)]

    def execute_code(
        self,
        call: Call,
        code: Code,
        timeout_s: Seconds = None,
        budget_tokens: Budget = None,
        allow_writes: Annotated[bool, Field(description="Let tools that change data run")] = False,
    ) -> Reply:
        """Run Python next to the data; only its result comes back. Every tool is an async function of the same name.

        found = await semantic_search("token rotation", top_k=50)
        ids = [r.chunk_id for r in found.results if r.hybrid_score > 0.5][:3]
        texts = await asyncio.gather(*[get_chunk(i) for i in ids])
        __result__ = [t.results[0].chunk_text for t in texts]

        Answers are dictionaries with attribute access. The result is __result__, a top-level return, or the last
        expression. Errors of tools: except ToolError as e (e.code). Modules: json datetime re math typing asyncio.
        """
        from trivium.sandbox.runner import Functions
        from trivium.sandbox.workers import Quota

        assert self.gate is not None
        program = _program(code)
        settings = call.settings
        quota = Quota(self._timeout(timeout_s), settings.sandbox_memory_mb * 2**20, settings.sandbox_calls)
        calls = Calls(self.gate, self._functions, call, allow_writes=allow_writes)
        shaped = frozenset(name for name in SHAPED if name.removeprefix("client_") in self._functions)
        functions = Functions(frozenset(self._functions), calls.answer, shaped)
        outcome = self._runner.run(program, functions, quota, call.caller.subject)
        return answer(call, outcome, budget_tokens)

    def warm(self) -> None:
        """Starts the first worker, and embeds what search_tools knows, so that the first calls do not wait for it."""
        self._runner.workers.start()
        app = self.gate.opening.app if self.gate is not None else None
        if app is not None and self._settings.surface != "classic":
            self._search.warm(app.embedder)

    def close(self) -> None:
        if "_made" in self.__dict__:
            self._made.close()

    @cached_property
    def _made(self) -> "Runner":
        from trivium.sandbox.runner import Runner
        from trivium.sandbox.workers import Workers

        settings = self._settings
        workers = Workers(settings.sandbox_memory_mb * 2**20, settings.sandbox_workers, settings.sandbox_layer)
        return Runner(workers, _WAIT_S)

    @property
    def _runner(self) -> "Runner":
        with self._starting:
            return self._made

    def _timeout(self, asked: float | None) -> float:
        most = self._settings.sandbox_timeout_s
        if asked is not None and asked > most:
            raise InvalidInput(f"timeout_s must be between 0 and {most:g}", field="timeout_s")
        return asked or most


def _program(code: str) -> str:
    """The text with its lines where they were; a program copied with its indentation is moved to the left."""
    program = textwrap.dedent(code.replace("\r\n", "\n").replace("\r", "\n"))
    if not program.strip():
        raise InvalidInput("code must not be empty", field="code")
    if "\0" in program:
        raise InvalidInput("code must not contain NUL characters", field="code")
    return program


def answer(call: Call, outcome: "Outcome", budget_tokens: int | None) -> Reply:
    """The result in the envelope, cut where it is larger than the caller or the server allows."""
    limit = call.settings.max_tokens_per_response
    room = min(limit, budget_tokens or limit)
    draft = Draft("execute_code", call.request_id, call.started, results=None)
    draft.extended = _figures(outcome)
    if outcome.value is None and not outcome.output:
        draft.warnings.append(
            warning("info", "NO_RESULT", "The program ended without a result", "Assign __result__ or end with return")
        )
    draft.output = outcome.output or None
    draft.results = outcome.value
    body, text, tokens = priced(draft, call.services.tokens)
    if tokens > room:
        body, text, tokens = _cut(call, draft, outcome, room, tokens)
    call.services.guard.metrics.count("tokens_total", tokens)
    return Reply(body, text)


def _cut(call: Call, draft: Draft, outcome: "Outcome", room: int, wanted: int) -> tuple[Body, str, int]:
    """What was printed goes first, then the ends of lists and texts."""
    counter = call.services.tokens
    message = f"{wanted} tokens do not fit into {room}: output, lists and texts were cut"
    note = warning("warning", "PARTIAL_RESULTS", message, "Select in the program, and return only what is needed")
    for printed in (outcome.output[:room], outcome.output[: room // 8], ""):
        noted = replace(draft, results=None, warnings=[*draft.warnings, note], status="partial", output=printed)
        inner = room - priced(noted, counter)[2] - _MARGIN
        found = fit(outcome.value, inner, counter) if inner > 0 else None
        if found is None:
            continue
        noted.results = found
        body, text, tokens = priced(noted, counter)
        if tokens <= room:
            return body, text, tokens
    raise TokenLimitExceeded(
        f"Response would use {wanted} tokens, limit is {room}",
        tokens=wanted,
        hint="select in the program, and return only what is needed",
    )


def _figures(outcome: "Outcome") -> dict[str, Any]:
    figures: dict[str, Any] = {"calls": len(outcome.calls)}
    if outcome.waited_s > 0:
        figures["queue_ms"] = max(0.1, round(outcome.waited_s * 1000, 1))
    return figures
