"""What a JSON-RPC body asks for, as far as limits and refusals need to know. Everything else is FastMCP's to judge."""

import json
from dataclasses import dataclass
from typing import Any

_COUNTED = frozenset({"tools/call", "resources/read", "prompts/get", "completion/complete"})


@dataclass(frozen=True, slots=True)
class Rpc:
    """`calls` has a name for each call that counts: the tool's, or the method where it is not a tool."""

    method: str = ""
    request_id: Any = None
    calls: tuple[str, ...] = ()


def parse_rpc(body: bytes) -> Rpc:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return Rpc()
    messages = message if isinstance(message, list) else [message]
    known = [one for one in messages if isinstance(one, dict) and isinstance(one.get("method"), str)]
    if not known:
        return Rpc()
    identity = known[0].get("id")
    return Rpc(
        known[0]["method"],
        identity if isinstance(identity, str | int) else None,
        tuple(_name(one) for one in known if one["method"] in _COUNTED),
    )


def _name(message: dict[str, Any]) -> str:
    parameters = message.get("params")
    name = parameters.get("name") if isinstance(parameters, dict) else None
    return name if message["method"] == "tools/call" and isinstance(name, str) else str(message["method"])
