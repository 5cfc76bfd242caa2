"""JavaScript and TypeScript: functions, their parameters and declared types."""

from functools import partial
from typing import TYPE_CHECKING

from trivium.code.lowering import ops
from trivium.code.lowering.scope import ANY
from trivium.code.lowering.walker import Walker

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMING_PARENTS = frozenset(
    (
        "variable_declarator",
        "pair",
        "assignment_expression",
        "field_definition",
        "public_field_definition",
        "export_statement",
    )
)

_NO_TYPES = ("property_identifier", "comment", "string", "literal_type", "predefined_type", "statement_block")


class JavaScriptFunctions(Walker):
    language = "javascript"

    def __init__(self, path: str, source: bytes, shared: frozenset[str] = frozenset()) -> None:
        super().__init__(path, source, shared)
        self.naming: tuple[str, Node] | None = None  # the variable or property a nameless function will be known by
        self.own_class = ANY
        self.late_exports: list[tuple[str, str]] = []
        self.joins_prefix = False

    def arrow(self, node: "Node") -> int:
        given, self.naming = self.naming, None
        anonymous = f"<arrow{self.scope.count('arrow')}>"
        parent = node.parent
        if given is None or parent is None or parent.type not in _NAMING_PARENTS:
            return self.make_function(node, anonymous, ops.LAMBDA, -1)
        definition = self.define(
            "function", given[0], given[1], node.child_by_field_name("body"), self.comment_before(given[1])
        )
        in_object = given[1].type == "pair"
        return self.make_function(node, given[0] if in_object else anonymous, ops.LAMBDA, definition)

    def function_expression(self, node: "Node") -> int:
        given, self.naming = self.naming, None
        name = self.field_text(node, "name") or (given[0] if given else "")
        outer = given[1] if given else node
        if not name:
            return self.make_function(node, f"<anonymous{self.scope.count('anonymous')}>", ops.LAMBDA, -1)
        definition = self.define("function", name, outer, node.child_by_field_name("body"), self.comment_before(outer))
        return self.make_function(node, name, ops.FUNCTION, definition)

    def make_function(self, node: "Node", name: str, kind: int, definition: int, owner: int = ANY) -> int:
        before = self.prefix
        if self.joins_prefix:  # `Cls[Symbol.iterator]` is written without a dot
            self.joins_prefix, self.prefix = False, self.prefix.removesuffix(".")
        kept, self.also_named = self.also_named, []
        described = [self.parameter(c) for c in self.parameter_nodes(node)]
        defaults = tuple(
            (i, v) for i, (_, d, _) in enumerate(described) if d is not None and (v := self.expression(d)) >= 0
        )
        types = tuple((i, t) for i, (_, _, t) in enumerate(described) if t >= 0)
        result = self.annotation(node.child_by_field_name("return_type"))
        types = (*types, (ops.RESULT, result)) if result >= 0 else types
        types = (*types, *((ops.NAMED, register) for register in self.also_named if register >= 0))
        self.also_named = kept
        body = partial(self.function_body, node, [d[0] for d in described])
        index, _ = self.function(name, kind, definition, self.line(node), body)
        self.prefix = before
        return self.scope.value(ops.FUNC, index, defaults, types, owner)

    def parameter_nodes(self, node: "Node") -> "list[Node]":
        parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        if parameters is None or parameters.type == "identifier":
            return [parameters] if parameters is not None else []
        return [c for c in parameters.named_children if c.type not in ("comment", "decorator")]

    def parameter(self, node: "Node") -> tuple["Node", "Node | None", int]:
        """Its pattern, its default, its declared type."""
        kind = node.type
        if kind == "assignment_pattern":
            left = node.child_by_field_name("left")
            return left or node, node.child_by_field_name("right"), ANY
        if kind in ("required_parameter", "optional_parameter"):
            pattern = node.child_by_field_name("pattern") or node
            return pattern, node.child_by_field_name("value"), self.annotation(node.child_by_field_name("type"))
        return node, None, ANY

    def function_body(self, node: "Node", patterns: list["Node"]) -> None:
        scope = self.scope
        scope.flags |= ops.JAVASCRIPT
        words = {c.type for c in node.children if not c.is_named}
        scope.flags |= ops.ASYNC if "async" in words else 0
        scope.flags |= ops.GENERATOR if "*" in words or "generator" in node.type else 0
        registers = [scope.register() for _ in patterns]
        for pattern, register in zip(patterns, registers, strict=True):
            rest = pattern.type == "rest_pattern"
            target = pattern.named_children[0] if rest and pattern.named_children else pattern
            scope.params.append((self.text(target), register, ops.VARARGS if rest else ops.POSITIONAL))
        if node.type != "arrow_function":
            scope.write("this", scope.value(ops.THIS))
        for pattern, register in zip(patterns, registers, strict=True):
            target = pattern.named_children[0] if pattern.type == "rest_pattern" and pattern.named_children else pattern
            self.assign(target, register, declares=True)
            self.parameter_property(pattern, register)
        body = node.child_by_field_name("body")
        if body is None:
            return
        if body.type == "statement_block":
            self.statement(body)
        else:
            scope.give_back(self.expression(body))

    def parameter_property(self, pattern: "Node", register: int) -> None:
        """TypeScript's `constructor(private x: X)` also sets a field."""
        parent = pattern.parent
        declared = parent is not None and parent.type in ("required_parameter", "optional_parameter")
        words = {c.type for c in parent.children} if parent is not None and declared else set()
        if words & {"accessibility_modifier", "readonly", "override_modifier"}:
            self.scope.emit(ops.SETATTR, self.scope.read("this"), self.text(pattern), register)

    def annotation(self, node: "Node | None") -> int:
        """A register holding the classes a declared type names; ANY for what tells us nothing. Classes that stand
        deeper in it (`Map<string, User>`) are added to `also_named`."""
        if node is None:
            return ANY
        inner = node.named_children[0] if node.type == "type_annotation" and node.named_children else node
        if inner.type in ("type_identifier", "identifier"):
            return self.scope.read(self.text(inner))
        if inner.type == "nested_type_identifier" and len(inner.named_children) == 2:
            source = self.annotation(inner.named_children[0])
            name = self.text(inner.named_children[1])
            return self.scope.value(ops.ATTR, source, name, self.line(inner)) if source >= 0 else ANY
        if inner.type == "generic_type":
            return self.generic(inner)
        if inner.type in ("union_type", "intersection_type", "parenthesized_type"):
            return self.scope.union([self.annotation(c) for c in inner.named_children])
        self.also_named += [self.annotation(c) for c in inner.named_children if c.type not in _NO_TYPES]
        return ANY

    def generic(self, node: "Node") -> int:
        """`Promise<User>` is read as User, `Repository<User>` as Repository."""
        name, *rest = node.named_children
        arguments = rest[0].named_children if rest else []
        if self.text(name) in ("Promise", "Readonly", "Partial", "Required"):
            return self.annotation(arguments[0]) if arguments else ANY
        self.also_named += [self.annotation(argument) for argument in arguments]
        return self.annotation(name)

    def declared_type(self, node: "Node | None") -> int:
        """Of a variable or a field: whoever declares it depends on every class the type names."""
        kept, self.also_named = self.also_named, []
        type_ = self.annotation(node)
        for register in (type_, *self.also_named):
            self.scope.mention(f"{register}", register, self.line(node) if node is not None else 0)
        self.also_named = kept
        return type_

    def field_text(self, node: "Node", name: str) -> str:
        child = node.child_by_field_name(name)
        return self.text(child) if child is not None else ""

    def comment_before(self, node: "Node") -> str:
        previous = node.prev_named_sibling
        if previous is None or previous.type != "comment":
            return ""
        raw = self.text(previous)
        return " ".join(raw.strip("/*").replace("\n *", "\n").split())[:1000] if raw.startswith("/**") else ""

    def statement(self, node: "Node") -> None:
        raise NotImplementedError

    def assign(self, node: "Node", value: int, *, declares: bool) -> None:
        raise NotImplementedError
