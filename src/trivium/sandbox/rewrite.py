"""Gives a program attribute access to results, which are plain dictionaries: `found.results` reads `found["results"]`.

The text is changed in place and keeps its lines, so that errors name the line the author wrote.
"""

from typing import TYPE_CHECKING

from trivium.sandbox.check import Parsed, parts

if TYPE_CHECKING:
    from tree_sitter import Node

READER = "__at"
# Runs in the sandbox. An error of a tool reads "CODE: message"; its code is asked for the same way as a field.
PRELUDE = """
import asyncio, json, math, re
ToolError = RuntimeError
true, false, null = True, False, None
def __at(owner, name):
    if isinstance(owner, dict):
        if name in owner:
            return owner[name]
        raise AttributeError("no field " + repr(name) + "; there are: " + ", ".join([str(key) for key in owner][:30]))
    if isinstance(owner, Exception) and name in ("code", "message"):
        code, colon, message = str(owner).partition(": ")
        known = colon and code.replace("_", "").isalnum() and code.upper() == code
        if name == "code":
            return code if known else type(owner).__name__
        return message if known else str(owner)
    return getattr(owner, name)
"""
_TARGETS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target"})


def rewrite(parsed: Parsed) -> str:
    """The program's text with every read of an attribute made a read of a field or an attribute."""
    edits = [
        (node.start_byte, node.end_byte, b"pass" + b"\\\n" * (node.text or b"").count(b"\n")) for node in parsed.dropped
    ]
    if not parsed.tree.root_node.has_error:
        methods = {node.id for node in parsed.found.get("method", ())}
        for node in parsed.found.get("attribute", ()):
            if node.id not in methods and _is_read(node, parsed.imported):
                edits += _edits(node)
    return _applied(parsed.source, edits).decode("utf-8", "replace")


def _is_read(node: "Node", imported: frozenset[str]) -> bool:
    owner, name = parts(node)
    if name.startswith("__") or owner in imported or owner in ("self", "cls"):
        return False
    child, parent = node, node.parent
    while parent is not None and parent.type in _TARGETS:
        child, parent = parent, parent.parent
    if parent is None or parent.type in ("decorator", "type"):
        return False
    if parent.type in ("assignment", "augmented_assignment", "for_statement", "for_in_clause"):
        return parent.child_by_field_name("left") != child
    return not (parent.type == "as_pattern" and parent.children[-1] == child)


def _edits(node: "Node") -> list[tuple[int, int, bytes]]:
    owner, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
    assert owner is not None
    assert name is not None
    lines = node.end_point[0] - owner.end_point[0]
    closing = b', "' + (name.text or b"") + b'"' + b"\n" * lines + b")"
    return [
        (node.start_byte, node.start_byte, READER.encode() + b"("),
        (owner.end_byte, node.end_byte, closing),
    ]


def _applied(source: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    pieces: list[bytes] = []
    done = 0
    for start, end, text in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        pieces += [source[done:start], text]
        done = end
    return b"".join([*pieces, source[done:]])
