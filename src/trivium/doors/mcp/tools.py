"""What a tool is, before any framework sees it: a function, its scope, its schemas and the shape of its errors.

No FastMCP here: the in-process client and the sandbox call the same objects through the same gate (gate.py).
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from trivium.errors import InvalidInput, TriviumError

if TYPE_CHECKING:
    from trivium.app import App
    from trivium.doors.guard.caller import Caller
    from trivium.doors.guard.deadline import Deadline
    from trivium.doors.mcp.services import Services
    from trivium.settings import Settings

Scope = Literal["read", "write", "admin"]
Body = dict[str, Any]
Progress = Callable[[float, float | None, str | None], None]


def no_progress(done: float, total: float | None = None, message: str | None = None) -> None:
    """For calls whose client asked for no progress."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as the tool's function sees it. `check()` raises once the deadline has passed."""

    app: "App"
    settings: "Settings"
    services: "Services"
    caller: "Caller"
    request_id: str
    started: float
    deadline: "Deadline"
    client_name: str = ""
    progress: Progress = no_progress

    def check(self) -> None:
        self.deadline.check()


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back. `body` is the structured content; `text` its JSON, made once. `seen` are the ids of the results
    it shows: the guard counts how many different ones a caller collects."""

    body: Body
    text: str | None = None
    is_error: bool = False
    seen: Sequence[int | str] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed, for the function that gives errors the toolset's shape."""

    tool: str
    error: TriviumError
    request_id: str
    elapsed_ms: float


ErrorShape = Callable[[Failure], Body]
InvalidShape = Callable[[ErrorDetails, "Tool"], TriviumError]


@dataclass(frozen=True)
class Tool:
    """`function(call, **arguments)` answers a Reply or a plain dictionary. See server.py for the convention."""

    name: str
    function: Callable[..., Reply | Body]
    description: str
    scope: Scope
    errors: ErrorShape
    output_schema: Mapping[str, Any] | None = None
    invalid: InvalidShape | None = None
    error_text: Callable[[Body], str] | None = None  # the text beside an error's body; None: its JSON
    title: str = ""
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    failure_code: str = "INTERNAL_ERROR"  # what an unforeseen failure is called
    deadline_s: float | None = None  # None: the setting's; a long job names its own
    may_write: bool = False  # a tool of scope read that writes where it is told to
    is_patient: bool = False  # mostly waits; its calls have threads of their own
    secrets: frozenset[str] = field(default_factory=frozenset)  # arguments the audit log must not keep

    @property
    def read_only(self) -> bool:
        return self.scope == "read"

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The parameters of the function after `call`, as a model that refuses what it does not know."""
        hints = get_type_hints(self.function, include_extras=True)
        fields: dict[str, Any] = {}
        for parameter in list(inspect.signature(self.function).parameters.values())[1:]:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            fields[parameter.name] = (hints[parameter.name], default)
        return create_model(self.name, __config__=ConfigDict(extra="forbid", str_strip_whitespace=True), **fields)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return compact_schema(self.arguments)

    def parse(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Checked keyword arguments, or InvalidInput that names the field and what is allowed."""
        try:
            model = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise (self.invalid or explain)(first, self) from None
        return {name: getattr(model, name) for name in type(model).model_fields}

    def run(self, call: Call, arguments: Mapping[str, Any]) -> Reply:
        answer = self.function(call, **arguments)
        return answer if isinstance(answer, Reply) else Reply(answer)


def tool(
    *,
    scope: Scope,
    errors: ErrorShape,
    name: str = "",
    output: Mapping[str, Any] | None = None,
    **more: Any,
) -> Callable[[Callable[..., Reply | Body]], Tool]:
    """Makes a Tool of a function; its docstring is the description clients see."""

    def make(function: Callable[..., Reply | Body]) -> Tool:
        return Tool(
            name=name or function.__name__,
            function=function,
            description=inspect.cleandoc(function.__doc__ or ""),
            scope=scope,
            errors=errors,
            output_schema=output,
            **more,
        )

    return make


def explain(problem: ErrorDetails, of: Tool) -> InvalidInput:
    """One sentence for what pydantic found: the field, what is allowed."""
    where = ".".join(str(part) for part in problem["loc"] if not _is_branch(part))
    name = str(problem["loc"][0]) if problem["loc"] else ""
    known = of.arguments.model_fields
    context = problem.get("ctx", {})
    match problem["type"]:
        case "missing":
            return InvalidInput(f"{where} is required", field=name)
        case "extra_forbidden":
            return InvalidInput(f"unknown parameter {where!r}", field=name, allowed=sorted(known))
        case "string_too_long":
            return InvalidInput(f"{where} exceeds {context['max_length']} characters", field=name)
        case "string_too_short":
            return InvalidInput(f"{where} must not be empty", field=name)
        case "less_than_equal" | "greater_than_equal" | "less_than" | "greater_than" if where in known:
            return InvalidInput(f"{where} {_range(known[name])}", field=name)
        case "literal_error" | "enum":
            return InvalidInput(f"{where} must be one of {context['expected']}", field=name)
        case _:
            return InvalidInput(f"{where}: {problem['msg'][:1].lower()}{problem['msg'][1:]}", field=name)


def _is_branch(part: object) -> bool:
    """pydantic puts the branch of a union into the location ("int", "list[str]"); people need only the field."""
    return isinstance(part, str) and (part in {"int", "str", "float", "bool"} or "[" in part)


def _range(info: FieldInfo) -> str:
    low: object = None
    high: object = None
    for rule in info.metadata:
        low = getattr(rule, "ge", getattr(rule, "gt", low))
        high = getattr(rule, "le", getattr(rule, "lt", high))
    if low is not None and high is not None:
        return f"must be between {low} and {high}"
    return f"must be at least {low}" if low is not None else f"must be at most {high}"


def compact_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON Schema without what costs tokens and says nothing: titles, null branches, references."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    compact = _compact(schema, definitions)
    assert isinstance(compact, dict)
    compact.pop("description", None)
    return compact


def _compact(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_compact(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[-1]]
        return _compact({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    branches = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1:
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        return _compact({**branches[0], **rest}, definitions)
    if branches:
        node = {**node, "anyOf": branches}
    return {
        key: (
            {name: _compact(value, definitions) for name, value in item.items()}
            if key == "properties"
            else _compact(item, definitions)
        )
        for key, item in node.items()
        if not (key == "title" and isinstance(item, str)) and not (key == "default" and item is None)
    }
