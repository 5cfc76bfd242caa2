"""C: includes, functions, structs. C++ builds on this."""

from typing import TYPE_CHECKING, ClassVar

from trivium.code.lowering import ops
from trivium.code.lowering.typed import UNKNOWN, Description, TypedWalker, typed

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "c"
EXTENSIONS = (".c", ".h")


def grammar() -> object:
    import tree_sitter_c

    return tree_sitter_c.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = CWalker(path, source)
    walker.visit(tree.root_node)
    return walker.facts()


_POINTERS = (
    "pointer_declarator",
    "reference_declarator",
    "array_declarator",
    "parenthesized_declarator",
    "init_declarator",
)


class CWalker(TypedWalker):
    language = "c"
    visits: ClassVar[dict[str, str]] = {
        "preproc_include": "include",
        "function_definition": "function",
        "declaration": "declaration",
        "struct_specifier": "struct",
        "union_specifier": "struct",
        "enum_specifier": "struct",
        "type_definition": "type_definition",
        "call_expression": "invocation",
        "parameter_declaration": "nothing",
    }

    def nothing(self, node: "Node") -> None:
        """Read where the function is declared."""

    def include(self, node: "Node") -> None:
        path = node.child_by_field_name("path")
        local = path is not None and path.type == "string_literal"
        self.import_(node, self.text(path).strip('"<>'), kind="include" if local else "system")

    def declared_name(self, node: "Node | None") -> str:
        """The name inside `*(&x[3])`."""
        while node is not None and node.type in _POINTERS:
            node = node.child_by_field_name("declarator") or (node.named_children[0] if node.named_children else None)
        return self.text(node)

    def function_declarator(self, node: "Node | None") -> "Node | None":
        while node is not None and node.type != "function_declarator":
            inner = node.child_by_field_name("declarator")
            if inner is None and node.type == "reference_declarator" and node.named_children:
                inner = node.named_children[0]
            node = inner
        return node

    def type_of(self, node: "Node") -> Description:
        written = node.child_by_field_name("type")
        if written is not None and written.type in (
            "struct_specifier",
            "class_specifier",
            "enum_specifier",
            "union_specifier",
        ):
            return typed(self.field(written, "name"))
        return typed(self.text(written).partition("<")[0] if written is not None else "")

    def parameters(self, declarator: "Node") -> dict[str, Description]:
        found: dict[str, Description] = {}
        listed = declarator.child_by_field_name("parameters")
        for child in listed.named_children if listed is not None else ():
            found[self.declared_name(child.child_by_field_name("declarator"))] = self.type_of(child)
        found.pop("", None)
        return found

    def function(self, node: "Node") -> None:
        declarator = self.function_declarator(node.child_by_field_name("declarator"))
        if declarator is None:
            self.children(node)
            return
        name = self.declared_name(declarator.child_by_field_name("declarator"))
        self.named_function(node, name, declarator, node.child_by_field_name("body"))

    def named_function(self, node: "Node", name: str, declarator: "Node", body: "Node | None") -> None:
        variables = self.parameters(declarator)
        self.declare_function(node, name, variables, self.type_of(node), body)

    def declaration(self, node: "Node") -> None:
        declared = self.type_of(node)
        inner = node.child_by_field_name("type")
        if inner is not None and inner.child_by_field_name("body") is not None:
            self.visit(inner)
        for child in node.children_by_field_name("declarator"):
            if self.function_declarator(child) is not None and self.current.definition < 0:
                continue  # a prototype
            value = child.child_by_field_name("value")
            self.declare(self.declared_name(child), declared or self.describe(value))
            if value is not None:
                self.visit(value)

    def struct(self, node: "Node") -> None:
        body, name = node.child_by_field_name("body"), self.field(node, "name")
        if body is not None and name:
            self.declare_type(
                node, "enum" if node.type == "enum_specifier" else "class", name, [], body, walk=self.members
            )

    def type_definition(self, node: "Node") -> None:
        inner, alias = node.child_by_field_name("type"), self.field(node, "declarator")
        body = inner.child_by_field_name("body") if inner is not None else None
        if inner is not None and body is not None and not self.field(inner, "name"):
            self.declare_type(node, "class", alias, [], body, walk=self.members)
        else:
            self.children(node)

    def members(self, body: "Node") -> None:
        for child in body.named_children:
            if child.type == "field_declaration":
                declared = self.type_of(child)
                for declarator in child.children_by_field_name("declarator"):
                    self.type_stack[-1].fields[self.declared_name(declarator)] = declared

    def invocation(self, node: "Node") -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type == "identifier":
            self.call(node, None, self.text(function))
        elif function is not None and function.type == "field_expression":
            self.call(node, self.describe(function.child_by_field_name("argument")), self.field(function, "field"))
        self.children(node)

    def describe(self, node: "Node | None") -> Description:
        if node is None:
            return UNKNOWN
        if node.type == "identifier":
            return ("v", self.text(node))
        if node.type == "field_expression":
            return ("f", self.describe(node.child_by_field_name("argument")), self.field(node, "field"))
        if node.type == "call_expression":
            return ("c", None, self.field(node, "function"))
        if node.type in ("parenthesized_expression", "pointer_expression") and node.named_children:
            return self.describe(node.named_children[-1])
        return UNKNOWN
