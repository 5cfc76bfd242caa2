"""What the statically typed languages (and Ruby, PHP) are reduced to: declarations, and calls with their receiver.

A *description* says where a receiver comes from, without knowing any other file:
`("v", name)` a variable or a type by name · `("this",)` · `("super",)` · `("t", type)` a value of that type or one
below it · `("n", type)` of exactly that type · `("f", description, name)` a member · `("c", description | None, name)`
what a call gives · `()` nobody knows.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from trivium.code.lowering import ops
from trivium.code.lowering.mentions import Mention, mentions

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 150
# Calls that decide at run time what is called or made.
REFLECTION: dict[str, frozenset[str]] = {
    "java": frozenset({"getMethod", "getDeclaredMethod", "forName", "newProxyInstance"}),
    "csharp": frozenset({"GetMethod", "GetType", "CreateInstance", "InvokeMember", "DynamicInvoke"}),
    "go": frozenset({"MethodByName", "FieldByName"}),
    "php": frozenset({"call_user_func", "call_user_func_array", "newInstance", "invokeArgs"}),
    "c": frozenset({"dlsym"}),
    "cpp": frozenset({"dlsym"}),
}
Description = tuple[Any, ...]
UNKNOWN: Description = ()


class TypeFacts(NamedTuple):
    definition: int  # -1: says more about a type defined elsewhere
    name: str  # qualified within the file: `Outer.Inner`
    bases: list[tuple[str, str, int]]  # name, extends | implements | either, line
    fields: dict[str, Description]
    is_abstract: bool


class FunctionFacts(NamedTuple):
    definition: int  # -1: code that stands outside every function
    owner: str  # the type it belongs to, empty for none
    name: str
    result: Description
    variables: dict[str, Description]
    calls: list[tuple[int, str, Description | None, str]]  # line, call | new, receiver, name
    line: int


class TypedFacts(NamedTuple):
    package: str
    types: list[TypeFacts]
    functions: list[FunctionFacts]
    mentions: list[Mention]


class TypedWalker:
    """Walks one tree; a language lists its node types in `visits`: type -> method name."""

    language = ""
    visits: ClassVar[dict[str, str]] = {}
    separator = "."

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.source = source
        self.definitions: list[ops.Definition] = []
        self.imports: list[ops.Import] = []
        self.types: list[TypeFacts] = []
        self.package = ""
        self.functions = [FunctionFacts(-1, "", "", UNKNOWN, {}, [], 1)]
        self.current = self.functions[0]
        self.type_stack: list[TypeFacts] = []
        self.owner = -1
        self.prefix = ""
        self.depth = 0
        self.notes: list[tuple[str, int, str]] = []

    # text

    def text(self, node: "Node | None") -> str:
        return (node.text or b"").decode("utf-8", "replace") if node is not None else ""

    def field(self, node: "Node", name: str) -> str:
        return self.text(node.child_by_field_name(name))

    def line(self, node: "Node") -> int:
        return int(node.start_point[0]) + 1

    def child(self, node: "Node", *types: str) -> "Node | None":
        return next((c for c in node.named_children if c.type in types), None)

    # walking

    def visit(self, node: "Node") -> None:
        self.depth += 1
        if self.depth < MAX_DEPTH:
            method = self.visits.get(node.type)
            if method is not None:
                getattr(self, method)(node)
            else:
                self.children(node)
        self.depth -= 1

    def children(self, node: "Node") -> None:
        for child in node.named_children:
            self.visit(child)

    # declaring

    def define(self, kind: str, name: str, node: "Node", body: "Node | None") -> int:
        end = body.start_byte if body is not None else node.end_byte
        signature = " ".join(self.source[node.start_byte : end].decode("utf-8", "replace").split()).rstrip("{: ")
        self.definitions.append(
            ops.Definition(
                kind,
                self.prefix + name,
                name,
                self.line(node),
                int(node.end_point[0]) + 1,
                node.start_byte,
                node.end_byte,
                signature[:400],
                self.comment_before(node),
                self.owner,
            )
        )
        return len(self.definitions) - 1

    def comment_before(self, node: "Node") -> str:
        lines: list[str] = []
        previous = node.prev_named_sibling
        while previous is not None and "comment" in previous.type and len(lines) < 40:
            if previous.end_point[0] < node.start_point[0] - len(lines) - 1 and not lines:
                break
            lines.insert(0, self.text(previous))
            previous = previous.prev_named_sibling
        words = [line.strip().strip("/*#!").strip() for text in lines for line in text.splitlines()]
        return " ".join(w for w in words if w)[:1000]

    def declare_type(
        self,
        node: "Node",
        kind: str,
        name: str,
        bases: Sequence[tuple[str, str, int]],
        body: "Node | None",
        is_abstract: bool = False,
        walk: Callable[["Node"], None] | None = None,
    ) -> None:
        definition = self.define(kind, name, node, body)
        facts = TypeFacts(definition, self.prefix + name, list(bases), {}, is_abstract or kind == "interface")
        self.types.append(facts)
        kept = self.owner, self.prefix, self.current
        self.owner, self.prefix = definition, f"{self.prefix}{name}."
        self.type_stack.append(facts)
        self.current = FunctionFacts(definition, facts.name, "", UNKNOWN, {}, [], self.line(node))
        self.functions.append(self.current)
        if body is not None:
            (walk or self.children)(body)
        self.type_stack.pop()
        self.owner, self.prefix, self.current = kept

    def declare_function(
        self,
        node: "Node",
        name: str,
        variables: dict[str, Description],
        result: Description,
        body: "Node | None",
        owner: str | None = None,
        kind: str | None = None,
    ) -> None:
        own = self.type_stack[-1].name if owner is None and self.type_stack else owner or ""
        kept = self.owner, self.prefix, self.current
        if owner and not self.type_stack:
            self.prefix = f"{owner}."  # a method written outside its type: Go, C++
        definition = self.define(kind or ("method" if own else "function"), name, node, body)
        self.current = FunctionFacts(definition, own, name, result, dict(variables), [], self.line(node))
        self.functions.append(self.current)
        self.owner, self.prefix = definition, f"{self.prefix}{name}."
        if body is not None:
            self.visit(body)
        self.owner, self.prefix, self.current = kept

    def call(self, node: "Node", receiver: Description | None, name: str) -> None:
        if name in REFLECTION.get(self.language, ()):
            self.notes.append(("reflection", self.line(node), name))
        if name:
            self.current.calls.append((self.line(node), "call", receiver, name))

    def new(self, node: "Node", type_: str) -> None:
        if type_:
            self.current.calls.append((self.line(node), "new", None, type_))

    def declare(self, name: str, description: Description) -> None:
        """A variable; the first declaration of a name in a function wins, later ones only fill gaps."""
        if name and (description or name not in self.current.variables) and not self.current.variables.get(name):
            self.current.variables[name] = description

    def import_(
        self, node: "Node", module: str, names: Sequence[str] = (), kind: str = "import", alias: str = ""
    ) -> None:
        self.imports.append(ops.Import(module, 0, self.line(node), tuple(names), kind, alias))

    def describe(self, node: "Node | None") -> Description:
        raise NotImplementedError

    def facts(self) -> ops.FileFacts:
        named = mentions(self.language, self.source, self.definitions)
        types, functions = [tuple(one) for one in self.types], [tuple(one) for one in self.functions]
        return ops.FileFacts(
            ops.VERSION,
            self.language,
            self.path,
            self.source.count(b"\n") + 1,
            self.definitions,
            self.imports,
            [],
            [],
            [(self.package, types, functions, named)],  # TypedFacts in plain tuples, which can be cached
            self.notes,
            [],
        )


def typed(type_: str) -> Description:
    """A value of a declared type; `var`, `auto` and the like say nothing."""
    return ("t", type_) if type_ and type_ not in ("var", "auto", "let", "dynamic", "mixed", "void") else UNKNOWN


def exactly(type_: str) -> Description:
    """A value made right here: its type is no wider than written."""
    return ("n", type_) if type_ else UNKNOWN
