"""Go: packages, structs and interfaces, methods by receiver, calls."""

from typing import TYPE_CHECKING, ClassVar

from trivium.code.lowering import ops
from trivium.code.lowering.typed import UNKNOWN, Description, TypedWalker, exactly, typed

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "go"
EXTENSIONS = (".go",)


def grammar() -> object:
    import tree_sitter_go

    return tree_sitter_go.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = GoWalker(path, source)
    walker.visit(tree.root_node)
    return walker.facts()


class GoWalker(TypedWalker):
    language = "go"
    visits: ClassVar[dict[str, str]] = {
        "package_clause": "package_",
        "import_spec": "import_spec",
        "type_spec": "type_spec",
        "function_declaration": "function",
        "method_declaration": "method",
        "short_var_declaration": "assignment",
        "range_clause": "children",
        "var_spec": "var_spec",
        "call_expression": "invocation",
        "composite_literal": "literal",
        "func_literal": "closure",
    }

    def package_(self, node: "Node") -> None:
        self.package = self.text(node.named_children[0])

    def import_spec(self, node: "Node") -> None:
        path = self.field(node, "path").strip('"`')
        self.import_(node, path, kind="import", alias=self.field(node, "name"))

    def type_spec(self, node: "Node") -> None:
        body, name = node.child_by_field_name("type"), self.field(node, "name")
        if body is None or body.type not in ("struct_type", "interface_type"):
            self.declare_type(node, "class", name, [], None)
            return
        kind = "interface" if body.type == "interface_type" else "class"
        self.declare_type(node, kind, name, self.embedded(body), body, walk=self.members)

    def embedded(self, body: "Node") -> list[tuple[str, str, int]]:
        fields = self.child(body, "field_declaration_list")
        listed = fields.named_children if fields is not None else []
        nameless = [c for c in listed if c.type == "field_declaration" and c.child_by_field_name("name") is None]
        found = [(self.field(c, "type").lstrip("*"), "extends", self.line(c)) for c in nameless]
        return found + [(self.text(c), "extends", self.line(c)) for c in body.named_children if c.type == "type_elem"]

    def members(self, body: "Node") -> None:
        fields = self.child(body, "field_declaration_list")
        for child in fields.named_children if fields is not None else ():
            declared = typed(self.field(child, "type").lstrip("*"))
            for name in child.children_by_field_name("name"):
                self.type_stack[-1].fields[self.text(name)] = declared
            if child.child_by_field_name("name") is None:
                self.type_stack[-1].fields[self.field(child, "type").lstrip("*").rpartition(".")[2]] = declared
        for child in body.named_children:
            if child.type == "method_elem":
                self.declare_function(child, self.field(child, "name"), {}, self.result(child), None)

    def result(self, node: "Node") -> Description:
        result = node.child_by_field_name("result")
        if result is not None and result.type == "parameter_list" and result.named_children:
            return typed(self.field(result.named_children[0], "type").lstrip("*"))
        return typed(self.text(result).lstrip("*"))

    def parameters(self, node: "Node | None") -> dict[str, Description]:
        found = {}
        for child in node.named_children if node is not None else ():
            for name in child.children_by_field_name("name"):
                found[self.text(name)] = typed(self.field(child, "type").lstrip("*"))
        return found

    def function(self, node: "Node") -> None:
        variables = self.parameters(node.child_by_field_name("parameters"))
        self.declare_function(
            node, self.field(node, "name"), variables, self.result(node), node.child_by_field_name("body")
        )

    def method(self, node: "Node") -> None:
        receiver = node.child_by_field_name("receiver")
        variables = self.parameters(receiver)
        own = receiver.named_children[0] if receiver is not None and receiver.named_children else None
        owner = self.field(own, "type").lstrip("*").partition("[")[0] if own is not None else ""
        variables.update(self.parameters(node.child_by_field_name("parameters")))
        body = node.child_by_field_name("body")
        self.declare_function(node, self.field(node, "name"), variables, self.result(node), body, owner=owner)

    def closure(self, node: "Node") -> None:
        for name, description in self.parameters(node.child_by_field_name("parameters")).items():
            self.declare(name, description)
        self.children(node)

    def assignment(self, node: "Node") -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        names = left.named_children if left is not None else []
        values = right.named_children if right is not None else []
        for position, name in enumerate(names):
            value = values[position] if position < len(values) else values[0] if position == 0 else None
            self.declare(self.text(name), self.describe(value))
        self.children(node)

    def var_spec(self, node: "Node") -> None:
        declared = typed(self.field(node, "type").lstrip("*"))
        value = node.child_by_field_name("value")
        first = value.named_children[0] if value is not None and value.named_children else None
        for name in node.children_by_field_name("name"):
            self.declare(self.text(name), declared or self.describe(first))
        self.children(node)

    def invocation(self, node: "Node") -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type == "selector_expression":
            self.call(node, self.describe(function.child_by_field_name("operand")), self.field(function, "field"))
        elif (
            function is not None
            and function.type == "identifier"
            and self.text(function) not in ("make", "len", "append")
        ):
            self.call(node, None, self.text(function))
        self.children(node)

    def literal(self, node: "Node") -> None:
        named = node.child_by_field_name("type")
        if named is not None and named.type in ("type_identifier", "qualified_type"):
            self.new(node, self.text(named))
        self.children(node)

    def describe(self, node: "Node | None") -> Description:
        if node is None:
            return UNKNOWN
        kind = node.type
        if kind in ("identifier", "type_identifier", "package_identifier"):
            return ("v", self.text(node))
        if kind == "selector_expression":
            return ("f", self.describe(node.child_by_field_name("operand")), self.field(node, "field"))
        if kind == "call_expression":
            function = node.child_by_field_name("function")
            if function is not None and function.type == "selector_expression":
                return ("c", self.describe(function.child_by_field_name("operand")), self.field(function, "field"))
            if self.text(function) == "new":
                arguments = node.child_by_field_name("arguments")
                return (
                    typed(self.text(arguments.named_children[0]))
                    if arguments is not None and arguments.named_children
                    else UNKNOWN
                )
            return ("c", None, self.text(function))
        if kind == "composite_literal":
            return exactly(self.field(node, "type").lstrip("*"))
        if kind in ("unary_expression", "parenthesized_expression", "expression_list"):
            return self.describe(node.named_children[-1] if kind == "unary_expression" else node.named_children[0])
        if kind == "type_assertion_expression":
            return typed(self.field(node, "type").lstrip("*"))
        return UNKNOWN
