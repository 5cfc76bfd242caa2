"""Reads a program before it runs, to say in time what it cannot do and what to write instead.

This is for friendly messages, never the boundary: what slips through meets the interpreter, which has none of these
things, and the worker process, which may do nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from trivium.sandbox.failures import ProgramInvalid

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query, Tree

MODULES = ("json", "datetime", "re", "math", "typing", "asyncio")
# Names under which programs written elsewhere import the tools that are simply there.
CLIENTS = frozenset({"MCPClient", "Client"})
_SHOWN = 5

_QUERY = """
(import_statement) @import
(import_from_statement) @import
(future_import_statement) @future
(class_definition superclasses: (argument_list (_) @bases))
(class_definition body: (block (decorated_definition (decorator) @method_decorator)))
(yield) @yield
(delete_statement) @del
(except_clause "*" @except_group)
(type_alias_statement) @type_alias
(for_statement "async" @async_for)
(for_in_clause "async" @async_for)
(with_statement "async" @async_with)
(call function: (identifier) @called)
(function_definition name: (identifier) @defined)
(assignment left: (identifier) @defined)
(attribute) @attribute
(call function: (attribute) @method)
"""

_CONSTRUCTS = {
    "future": ("from __future__ import", "leave the line out"),
    "bases": ("class inheritance", "a class without bases, or plain dictionaries and functions"),
    "method_decorator": ("decorators on methods (property, classmethod, staticmethod)", "an ordinary method"),
    "yield": ("yield", "build a list and return it, or use a generator expression"),
    "del": ("the del statement", "values.pop(key), or a comprehension that leaves it out"),
    "except_group": ("except*", "except"),
    "type_alias": ("type aliases", "leave the line out"),
    "async_for": ("async for", "an ordinary for loop that awaits inside"),
    "async_with": ("async with", "call the tool with await; nothing has to be opened or closed"),
}
_BUILTINS = {
    "open": "files are out of reach: semantic_search and get_chunk give you text",
    "input": "write the value into the program",
    "eval": "write the expression itself, or json.loads for data",
    "exec": "write the statements themselves",
    "compile": "write the code itself (re.compile works)",
    "__import__": "import one of: " + ", ".join(MODULES),
    "globals": "keep values in a dictionary of your own",
    "vars": "keep values in a dictionary of your own",
    "super": "classes have no bases here: call the function you mean",
    "breakpoint": "print what you want to see",
    "help": "search_tools tells what a function takes",
    "exit": "a top-level return ends the program",
    "quit": "a top-level return ends the program",
}
_IMPORTS = {
    "collections": "a dictionary: counts[key] = counts.get(key, 0) + 1, groups.setdefault(key, []).append(value)",
    "itertools": "comprehensions and nested loops",
    "functools": "an ordinary function",
    "dataclasses": "a dictionary, or a class with __init__",
    "os": "nothing of the machine can be reached",
    "sys": "nothing of the machine can be reached",
    "pathlib": "files are out of reach: semantic_search and get_chunk give you text",
    "subprocess": "no other program can be started",
    "socket": "there is no network",
    "requests": "there is no network: the tools are functions of their own",
    "httpx": "there is no network: the tools are functions of their own",
    "urllib": "there is no network: the tools are functions of their own",
    "time": "datetime.datetime.now()",
    "random": "take the first ones, or sort",
    "statistics": "sum(values) / len(values), sorted(values)[len(values) // 2]",
    "numpy": "lists and math",
    "pandas": "lists of dictionaries",
    "string": "the characters themselves",
    "hashlib": "compare the values themselves",
    "logging": "print",
}
_ASYNCIO = frozenset({"gather", "run", "sleep"})
_TYPES = frozenset({"str", "int", "float", "list", "dict", "set", "tuple", "bytes"})


@dataclass(frozen=True, slots=True)
class Problem:
    line: int
    what: str
    instead: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}; instead: {self.instead}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """`imported` are names that stand for modules and their members; `dropped` are imports of what is there anyway."""

    source: bytes
    tree: "Tree"
    found: "dict[str, list[Node]]"
    imported: frozenset[str]
    dropped: "tuple[Node, ...]"


def parse(source: str, functions: frozenset[str]) -> Parsed:
    """The program's tree, or ProgramInvalid with every line that cannot work. Errors of syntax are left to the
    interpreter, whose grammar is the one that counts."""
    from tree_sitter import QueryCursor

    encoded = source.encode("utf-8", "replace")
    tree = _parser().parse(encoded)
    found = QueryCursor(_query()).captures(tree.root_node)
    imports = [_Import(node) for node in found.get("import", ())]
    dropped = tuple(one.node for one in imports if one.names and one.names <= CLIENTS | functions)
    if not tree.root_node.has_error:
        _refuse([*_problems(found, imports, dropped)])
    imported = frozenset(name for one in imports for name in one.bound) | frozenset(MODULES)
    return Parsed(encoded, tree, found, imported, dropped)


def _refuse(problems: list[Problem]) -> None:
    if not problems:
        return
    problems.sort(key=lambda problem: problem.line)
    shown = "; ".join(map(str, problems[:_SHOWN]))
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    lines = [{"line": one.line, "problem": one.what, "instead": one.instead} for one in problems[:_SHOWN]]
    raise ProgramInvalid(
        f"nothing ran: {shown}{more}", hint="change these lines and send it again", details={"problems": lines}
    )


def _problems(
    found: "dict[str, list[Node]]", imports: "list[_Import]", dropped: "tuple[Node, ...]"
) -> Iterator[Problem]:
    for name, (what, instead) in _CONSTRUCTS.items():
        yield from (Problem(_line(node), f"{what} is not supported", instead) for node in found.get(name, ()))
    for one in imports:
        if one.node not in dropped:
            yield from one.problems()
    defined = {_text(node) for node in found.get("defined", ())}
    for node in found.get("called", ()):
        name = _text(node)
        if name in _BUILTINS and name not in defined:
            yield Problem(_line(node), f"{name} is not available", _BUILTINS[name])
    yield from _asyncio(found)
    yield from _unbound(found)


def _asyncio(found: "dict[str, list[Node]]") -> Iterator[Problem]:
    for node in found.get("attribute", ()):
        owner, name = parts(node)
        if owner == "asyncio" and name not in _ASYNCIO:
            yield Problem(_line(node), f"asyncio.{name} is not available", "await asyncio.gather(one(), two())")
    for method in found.get("method", ()):
        if _text(method) == "asyncio.gather" and "return_exceptions" in _text(method.next_sibling):
            yield Problem(
                _line(method),
                "gather takes no return_exceptions",
                "an async function with try and except around each call",
            )


def _unbound(found: "dict[str, list[Node]]") -> Iterator[Problem]:
    called = {node.id for node in found.get("method", ())}
    for node in found.get("attribute", ()):
        owner, name = parts(node)
        if owner in _TYPES and node.id not in called and not name.startswith("__"):
            yield Problem(_line(node), f"{owner}.{name} cannot be passed on", f"lambda value: value.{name}()")


class _Import:
    """One import statement: the modules it names, what it takes from them, what it binds here."""

    def __init__(self, node: "Node") -> None:
        self.node = node
        self.is_from = node.type == "import_from_statement"
        named = node.children_by_field_name("name")
        inner = [one.child_by_field_name("name") or one for one in named]
        aliases = [one.child_by_field_name("alias") or one for one in named]
        self.names = frozenset(_text(one) for one in inner) if self.is_from else frozenset()
        self.bound = frozenset(_text(one).partition(".")[0] for one in aliases)
        module = node.child_by_field_name("module_name")
        self.modules = [_text(module)] if module is not None else [_text(one) for one in inner]

    def problems(self) -> Iterator[Problem]:
        for module in self.modules:
            first = module.partition(".")[0]
            if first not in MODULES:
                default = "one of: " + ", ".join(MODULES) + "; the tools are there without an import"
                yield Problem(_line(self.node), f"import of {module} is not allowed", _IMPORTS.get(first, default))
        if self.is_from and not self.names:
            yield Problem(_line(self.node), "import * is not supported", "name what you import")


def parts(attribute: "Node") -> tuple[str, str]:
    """What stands before the dot, where that is one name, and what stands after it."""
    owner, name = attribute.child_by_field_name("object"), attribute.child_by_field_name("attribute")
    return (_text(owner) if owner is not None and owner.type == "identifier" else "", _text(name))


def _text(node: "Node | None") -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def _line(node: "Node") -> int:
    return node.start_point[0] + 1


@cache
def _query() -> "Query":
    from tree_sitter import Query

    return Query(_language(), _QUERY)


def _parser() -> "Parser":
    from tree_sitter import Parser

    return Parser(_language())


@cache
def _language() -> "Language":
    import tree_sitter_python
    from tree_sitter import Language

    return Language(tree_sitter_python.language())
