"""`trivium.Client`: the tools as methods, in this process, with the checks and answers they have over MCP.

async with trivium.Client(data="…") as client:
    found = await client.semantic_search(query="token rotation", response_mode="metadata")

with trivium.Client() as client:
    found = client.call("semantic_search", query="token rotation")
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from trivium.doors.guard.caller import Caller, local_owner
from trivium.errors import NotFound, TriviumError

if TYPE_CHECKING:
    from trivium.settings import Settings

Answer = dict[str, Any]


class ToolFailed(TriviumError):
    """A tool answered with an error; `answer` is that answer, whole."""

    def __init__(self, answer: Answer) -> None:
        error = answer.get("error") or {}
        super().__init__(
            str(error.get("message", "the tool failed")),
            hint=error.get("action"),
            code=error.get("code") or error.get("type"),
        )
        self.answer = answer
        self.remaining: Mapping[str, int] | None = error.get("remaining")
        self.reset_in_seconds: int | None = error.get("reset_in_seconds")


class Client:
    """Works as the local user, or with `api_key` as whoever that key stands for. `raise_on_error=False` hands error
    answers back instead of raising ToolFailed."""

    def __init__(
        self,
        data: str | Path | None = None,
        *,
        settings: "Settings | None" = None,
        api_key: str | None = None,
        raise_on_error: bool = True,
    ) -> None:
        from trivium.doors.mcp.server import open_gate
        from trivium.settings import Settings

        self._gate = open_gate(settings or (Settings(data=Path(data).expanduser()) if data is not None else Settings()))
        self._api_key, self._raises = api_key, raise_on_error

    @property
    def tools(self) -> list[str]:
        return [tool.name for tool in self._gate.visible(self._caller())]

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Calls a tool and waits for its answer."""
        if tool not in self._gate.tools:
            raise NotFound(f"there is no tool {tool!r}", nearest=sorted(self._gate.tools))
        reply = self._gate.run(self._gate.ticket(tool, arguments, "trivium.Client"), self._caller)
        if reply.is_error and self._raises:
            raise ToolFailed(reply.body)
        return reply.body

    def __getattr__(self, tool: str) -> Callable[..., Awaitable[Answer]]:
        if tool.startswith("_") or tool not in self._gate.tools:
            raise AttributeError(f"{type(self).__name__} has no tool {tool!r}")

        async def call(*positional: Any, **arguments: Any) -> Answer:
            named = dict(zip(self._gate.tools[tool].arguments.model_fields, positional, strict=False))
            return await asyncio.to_thread(partial(self.call, tool, **named, **arguments))

        call.__name__ = tool
        return call

    def close(self) -> None:
        self._gate.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def _caller(self) -> Caller:
        if self._api_key is None:
            return local_owner("memory")
        return self._gate.guard.keys.identify(self._api_key, "memory")


def adapt_legacy_response(answer: Answer) -> Answer:
    """An answer in the envelope, whatever the server's age: those before 1.0.0 had none."""
    if "_metadata" in answer:
        return answer
    return {
        "_metadata": {"operation": "unknown", "version": "0.9.0", "status": "success"},
        "results": answer.get("results", []),
        "execution_context": {"tokens_estimated": 0, "cache_hit": False},
        "warnings": [
            {
                "level": "warning",
                "code": "LEGACY_FORMAT",
                "message": "Response in legacy format",
                "suggestion": "Update server to 1.0.0+",
            }
        ],
    }
