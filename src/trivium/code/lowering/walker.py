"""What the lowering of every dynamic language shares: definitions, imports, depth, text of nodes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trivium.code.lowering import ops
from trivium.code.lowering.scope import ANY, Scope

if TYPE_CHECKING:
    from tree_sitter import Node

# A level of source nesting costs up to six Python frames; deeper code than this is data, not program.
MAX_DEPTH = 100


class Walker:
    """Walks one tree. Subclasses fill `statements` and `expressions`: node type -> method name."""

    language = ""

    def __init__(self, path: str, source: bytes, shared: frozenset[str] = frozenset()) -> None:
        self.path = path
        self.source = source
        self.shared = shared
        self.definitions: list[ops.Definition] = []
        self.imports: list[ops.Import] = []
        self.functions: list[Any] = [None]
        self.classes: list[ops.ClassBody] = []
        self.notes: list[tuple[str, int, str]] = []
        self.also_named: list[int] = []  # registers of types that stand inside a declared type
        self.global_names: set[str] = set()  # declared so inside functions
        self.owner = -1  # innermost definition around the current node
        self.prefix = ""  # its qualified name, with a dot
        self.depth = 0
        self.sites = 0
        self.scope = Scope(None, "", ops.MODULE, shared, -1, -1)
        self._text: dict[bytes, str] = {}

    def text(self, node: "Node") -> str:
        raw = node.text or b""
        try:
            return self._text[raw]
        except KeyError:
            known = self._text[raw] = raw.decode("utf-8", "replace")
            return known

    def line(self, node: "Node") -> int:
        return node.start_point[0] + 1

    def site(self) -> int:
        self.sites += 1
        return self.sites

    def note(self, reason: str, node: "Node", name: str) -> None:
        self.notes.append((reason, self.line(node), name))

    def define(self, kind: str, name: str, node: "Node", body: "Node | None", docstring: str) -> int:
        """Registers a symbol and returns its index. `node` spans the whole definition, decorators included."""
        end = body.start_byte if body is not None else node.end_byte
        signature = " ".join(self.source[node.start_byte : end].decode("utf-8", "replace").split()).rstrip("{:= ")
        definition = ops.Definition(
            kind,
            self.prefix + name,
            name,
            self.line(node),
            int(node.end_point[0]) + 1,
            node.start_byte,
            node.end_byte,
            signature[:400],
            docstring,
            self.owner,
        )
        self.definitions.append(definition)
        return len(self.definitions) - 1

    def inside(self, definition: int, prefix: str, body: Callable[[], None]) -> None:
        """Runs `body` with this definition as the one around it."""
        before = self.owner, self.prefix
        self.owner, self.prefix = definition, prefix
        body()
        self.owner, self.prefix = before

    def function(self, name: str, kind: int, definition: int, line: int, body: Callable[[], None]) -> tuple[int, Scope]:
        """Lowers an inner function; `body` runs with the new scope current. Returns its index and its scope."""
        outer = self.scope
        outer.open_cells()
        index = len(self.functions)
        self.functions.append(None)
        owner = definition if definition >= 0 else self.owner
        scope = Scope(outer, self.prefix + name, kind, self.shared, definition, owner)
        scope.line = line
        self.scope = scope
        if definition >= 0:
            self.inside(definition, f"{self.prefix}{name}.", body)
        else:
            before, self.prefix = self.prefix, f"{self.prefix}{name}."
            body()
            self.prefix = before
        self.functions[index] = scope.finish()
        self.scope = outer
        return index, scope

    def facts(self) -> ops.FileFacts:
        self.functions[0] = self.scope.finish()
        return ops.FileFacts(
            ops.VERSION,
            self.language,
            self.path,
            self.source.count(b"\n") + 1,
            self.definitions,
            self.imports,
            self.functions,
            self.classes,
            [],
            self.notes,
            sorted(self.scope.names | self.global_names),
        )

    def unknown(self, node: "Node") -> int:
        """An expression with no value of its own: its parts may still call."""
        for child in node.named_children:
            self.expression(child)
        return ANY

    def expression(self, node: "Node") -> int:
        raise NotImplementedError
