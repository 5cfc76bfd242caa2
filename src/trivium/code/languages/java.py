"""Java: packages, imports, classes with their fields, methods, calls."""

from typing import TYPE_CHECKING, ClassVar

from trivium.code.lowering import ops
from trivium.code.lowering.typed import UNKNOWN, Description, TypedWalker, exactly, typed

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "java"
EXTENSIONS = (".java",)


def grammar() -> object:
    import tree_sitter_java

    return tree_sitter_java.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = JavaWalker(path, source)
    walker.visit(tree.root_node)
    return walker.facts()


_KINDS = {
    "class_declaration": "class",
    "record_declaration": "class",
    "interface_declaration": "interface",
    "annotation_type_declaration": "interface",
    "enum_declaration": "enum",
}


class JavaWalker(TypedWalker):
    language = "java"
    visits: ClassVar[dict[str, str]] = {
        **dict.fromkeys(_KINDS, "type_declaration"),
        "package_declaration": "package_",
        "import_declaration": "import_declaration",
        "method_declaration": "method",
        "constructor_declaration": "method",
        "compact_constructor_declaration": "method",
        "field_declaration": "variables",
        "local_variable_declaration": "variables",
        "enhanced_for_statement": "for_each",
        "resource": "resource",
        "catch_formal_parameter": "parameter",
        "formal_parameter": "parameter",
        "lambda_expression": "children",
        "method_invocation": "invocation",
        "object_creation_expression": "creation",
        "explicit_constructor_invocation": "constructor_call",
        "method_reference": "reference",
    }

    def package_(self, node: "Node") -> None:
        self.package = self.text(node.named_children[-1])

    def import_declaration(self, node: "Node") -> None:
        name = self.text(self.child(node, "scoped_identifier", "identifier"))
        if any(c.type == "asterisk" for c in node.children):
            self.import_(node, name, kind="star")
        elif any(c.type == "static" for c in node.children):
            owner, _, member = name.rpartition(".")
            self.import_(node, owner, (member,), "static")
        else:
            self.import_(node, name, kind="import")

    def type_declaration(self, node: "Node") -> None:
        kind = _KINDS[node.type]
        bases = [(t, "extends", ln) for t, ln in self.listed(node.child_by_field_name("superclass"))]
        bases += [(t, "implements", ln) for t, ln in self.listed(node.child_by_field_name("interfaces"))]
        extended = self.child(node, "extends_interfaces")
        bases += [(t, "extends", ln) for t, ln in self.listed(extended)]
        modifiers = self.text(self.child(node, "modifiers"))
        self.declare_type(
            node, kind, self.field(node, "name"), bases, node.child_by_field_name("body"), "abstract" in modifiers
        )
        record = node.child_by_field_name("parameters")
        for parameter in record.named_children if record is not None and node.type == "record_declaration" else ():
            facts = next(t for t in reversed(self.types) if t.name.endswith(self.field(node, "name")))
            facts.fields[self.field(parameter, "name")] = typed(self.field(parameter, "type"))

    def listed(self, node: "Node | None") -> list[tuple[str, int]]:
        if node is None:
            return []
        inner = self.child(node, "type_list") or node
        return [(self.text(c), self.line(c)) for c in inner.named_children]

    def method(self, node: "Node") -> None:
        parameters = node.child_by_field_name("parameters")
        variables = {
            self.field(p, "name"): typed(self.field(p, "type"))
            for p in (parameters.named_children if parameters is not None else ())
        }
        name = self.field(node, "name")
        result = typed(self.field(node, "type"))
        self.declare_function(node, name, variables, result, node.child_by_field_name("body"))

    def variables(self, node: "Node") -> None:
        declared = self.field(node, "type")
        for child in node.named_children:
            if child.type == "variable_declarator":
                name, value = self.field(child, "name"), child.child_by_field_name("value")
                description = typed(declared) or self.describe(value)
                if node.type == "field_declaration" and self.type_stack:
                    self.type_stack[-1].fields[name] = description
                else:
                    self.declare(name, description)
                if value is not None:
                    self.visit(value)

    def for_each(self, node: "Node") -> None:
        self.declare(self.field(node, "name"), typed(self.field(node, "type")))
        self.children(node)

    def resource(self, node: "Node") -> None:
        value = node.child_by_field_name("value")
        self.declare(self.field(node, "name"), typed(self.field(node, "type")) or self.describe(value))
        self.children(node)

    def parameter(self, node: "Node") -> None:
        self.declare(self.field(node, "name"), typed(self.field(node, "type")))

    def invocation(self, node: "Node") -> None:
        receiver = node.child_by_field_name("object")
        self.call(node, self.describe(receiver) if receiver is not None else None, self.field(node, "name"))
        self.children(node)

    def creation(self, node: "Node") -> None:
        self.new(node, self.field(node, "type"))
        for child in node.named_children:
            if child.type != "type_identifier":
                self.visit(child)

    def constructor_call(self, node: "Node") -> None:
        word = self.field(node, "constructor")
        owner = self.type_stack[-1] if self.type_stack else None
        if owner is not None and word == "super" and owner.bases:
            self.new(node, owner.bases[0][0])
        elif owner is not None and word == "this":
            self.new(node, owner.name)
        self.children(node)

    def reference(self, node: "Node") -> None:
        inner = node.named_children
        if len(inner) == 2:
            self.call(node, self.describe(inner[0]), self.text(inner[1]))

    def describe(self, node: "Node | None") -> Description:
        if node is None:
            return UNKNOWN
        kind = node.type
        if kind in ("identifier", "type_identifier", "scoped_type_identifier"):
            return ("v", self.text(node))
        if kind in ("this", "super"):
            return (kind,)
        if kind == "field_access":
            return ("f", self.describe(node.child_by_field_name("object")), self.field(node, "field"))
        if kind == "method_invocation":
            receiver = node.child_by_field_name("object")
            return ("c", self.describe(receiver) if receiver is not None else None, self.field(node, "name"))
        if kind == "object_creation_expression":
            return exactly(self.field(node, "type"))
        if kind == "cast_expression":
            return typed(self.field(node, "type"))
        if kind == "parenthesized_expression":
            return self.describe(node.named_children[0])
        return ("t", "String") if kind == "string_literal" else UNKNOWN
