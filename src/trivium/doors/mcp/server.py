"""The MCP server: FastMCP in front, the gate behind, one module a toolset.

How to add a toolset
--------------------
Write `trivium/doors/mcp/<toolset>.py` (names: `MODULES` below) with one function::

    def tools(served: frozenset[str]) -> Sequence[Tool]

that answers the toolset's tools; `served` are the toolsets this server offers, for names that depend on it. Nothing
else has to be touched: listing, scopes, limits, audit, deadline, errors, HTTP, stdio, the in-process client and the
sandbox all work from the Tool. Import nothing heavy at the top of the module: it is imported before `tools/list`
answers, and the app may still be opening then.

A tool is a plain function (never async) whose first parameter is the Call, the rest its parameters::

    from trivium.doors.mcp.tools import Call, Failure, tool

    @tool(scope="write", errors=error_body, idempotent=False)
    def create_concept(
        call: Call,
        name: Annotated[str, Field(min_length=1, max_length=200, description="…")],
        area: Annotated[str | None, Field(description="…")] = None,
    ) -> dict[str, Any]:
        \"\"\"What the client reads as the tool's description.\"\"\"
        concept = call.app.concepts.create(name, area)
        return {"success": True, "message": "…", "concept_id": concept.concept_id}

* Parameters are checked by pydantic from the annotations (lax: "5" is 5; strings are trimmed; unknown ones refused).
  The published input schema comes from the same annotations, without titles and null branches.
* Return the structured content as a dictionary, or a `Reply` (ready JSON text, `seen` ids for the harvesting guard).
  The text content is the same JSON, compact; both are written once.
* Raise `trivium.errors`. `errors=` is your function `(Failure) -> dict` that gives an error the toolset's shape; it is
  used for refusals of the guard too (`failure.error.code`: AUTH_REQUIRED, RATE_LIMIT …) and sent with `isError`.
  Anything that is no TriviumError is logged under the request id and shown as code INTERNAL_ERROR, never its text.
* `invalid=` may turn pydantic's first finding into your own error (default: `tools.explain`).
* `scope` is "read", "write" or "admin": a key without it neither sees nor calls the tool, on every transport. Scopes
  are a ladder (admin > write > read). The rate class over HTTP is "read" for read tools, "write" for the others.
* `destructive`, `idempotent`, `open_world` become the MCP annotations; `read_only` follows from the scope.
* `output=` is the output schema (JSON Schema); leave it out where the answers have no fixed shape.
* `call.app` the App, `call.settings`, `call.services` (tokens, rankings cache, cursors), `call.caller`,
  `call.request_id`, `call.client_name`, `call.progress(done, total, message)`; call `call.check()` in long loops: it
  raises when the deadline has passed. `deadline_s=` on the tool replaces the setting's 30 s for long jobs.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from trivium.doors.guard.guard import Guard, build_guard
from trivium.doors.mcp.gate import Gate
from trivium.doors.mcp.opening import Opening
from trivium.doors.mcp.sandbox import Programs
from trivium.doors.mcp.services import build_services
from trivium.doors.mcp.tools import Tool
from trivium.settings import Settings

if TYPE_CHECKING:
    from fastmcp import FastMCP

    from trivium.app import App

MODULES = {
    "knowledge": "trivium.doors.mcp.knowledge",
    "code": "trivium.doors.mcp.code",
    "concepts": "trivium.doors.mcp.concepts",
}
INSTRUCTIONS = (
    "Knowledge base. Scan with semantic_search (metadata), read the few results that matter with get_chunk,"
    " cite source_file and chunk_id."
)


COMPACT = (
    "Knowledge base. Find functions with search_tools, then run one short Python program with execute_code that calls"
    " them, selects, and returns only what is needed; cite source_file and chunk_id."
)


def load_tools(settings: Settings) -> list[Tool]:
    """The tools of the toolsets that are served, as far as this installation has them."""
    served = frozenset(name for name in settings.toolsets if find_spec(MODULES[name]))
    modules = [import_module(path) for name, path in MODULES.items() if name in served]
    return [tool for module in modules for tool in module.tools(served)]


def open_gate(
    settings: Settings,
    open_app: "Callable[[], App] | None" = None,
    guard: Guard | None = None,
    *,
    at_once: bool = True,
    embeds: bool = False,
) -> Gate:
    """The gate over one data folder. The app opens in the background: at once, or when the first client has its list of
    tools (Listing), so that the one does not slow down the other. `embeds`: vectors for what others add are computed
    here, too, as a server should."""
    from trivium.doors.mcp.resources import READERS
    from trivium.guard_stores import open_counter, open_guard

    guard = guard or build_guard(settings, open_guard(settings))
    services = build_services(settings, guard, open_counter(settings))
    opening = Opening(open_app or (lambda: _open_app(settings, embeds)))
    if at_once:
        opening.start()
    tools = load_tools(settings)
    programs = Programs(settings, tools) if settings.enable_code_execution else None
    shown, kept_back = surface(settings, tools, programs)
    gate = Gate(settings, guard, services, opening, shown, hidden=[*READERS, *kept_back])
    if programs is not None:
        programs.gate = gate
        gate.on_close.append(programs.close)
        if embeds:
            opening.beside = programs.warm
    return gate


def surface(settings: Settings, tools: list[Tool], programs: Programs | None) -> tuple[list[Tool], list[Tool]]:
    """What clients see, and what only programs can call. On the classic surface execute_code is one of the knowledge
    tools: the other toolsets alone are drop-ins that must not have a tool more."""
    if programs is None:
        return tools, []
    search_tools, execute_code = programs.tools()
    if settings.surface == "compact":
        return [search_tools, execute_code], tools
    if settings.surface == "both":
        return [*tools, search_tools, execute_code], []
    return [*tools, execute_code] if "knowledge" in settings.toolsets else tools, []


def _open_app(settings: Settings, embeds: bool) -> "App":
    from trivium import app as composition

    app = composition.open_app(settings)
    if embeds:
        app.start_background()
    return app


def build_server(gate: Gate) -> "FastMCP":
    """FastMCP over the gate: tools, resources, prompts."""
    from fastmcp import FastMCP

    from trivium.doors.mcp.adapter import GuardedTool, Listing
    from trivium.doors.mcp.prompts import add_prompts
    from trivium.doors.mcp.resources import add_resources

    server: FastMCP = FastMCP(
        "trivium",
        instructions=COMPACT if gate.settings.surface == "compact" else INSTRUCTIONS,
        version=version("trivium"),
        mask_error_details=True,
        dereference_schemas=False,
        middleware=[Listing(gate)],
        tools=[GuardedTool.of(tool, gate) for tool in gate.tools.values()],
    )
    if "knowledge" in gate.settings.toolsets:
        add_resources(server, gate)
        add_prompts(server)
    return server
