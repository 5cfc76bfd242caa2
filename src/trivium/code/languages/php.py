"""PHP: namespaces and uses, classes, traits, interfaces, functions, calls."""

from typing import TYPE_CHECKING, ClassVar

from trivium.code.lowering import ops
from trivium.code.lowering.typed import UNKNOWN, Description, TypedWalker, exactly, typed

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "php"
EXTENSIONS = (".php", ".phtml")


def grammar() -> object:
    import tree_sitter_php

    return tree_sitter_php.language_php()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = PhpWalker(path, source)
    walker.visit(tree.root_node)
    return walker.facts()


_KINDS = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "trait_declaration": "interface",
    "enum_declaration": "enum",
}
_INCLUDES = ("require_expression", "require_once_expression", "include_expression", "include_once_expression")


def dotted(name: str) -> str:
    return name.strip("\\").replace("\\", ".")


class PhpWalker(TypedWalker):
    language = "php"
    visits: ClassVar[dict[str, str]] = {
        **dict.fromkeys(_KINDS, "type_declaration"),
        **dict.fromkeys(_INCLUDES, "include"),
        "namespace_definition": "namespace",
        "namespace_use_declaration": "use",
        "use_declaration": "use_trait",
        "method_declaration": "method",
        "function_definition": "method",
        "property_declaration": "property_",
        "assignment_expression": "assignment",
        "member_call_expression": "member_call",
        "nullsafe_member_call_expression": "member_call",
        "scoped_call_expression": "static_call",
        "function_call_expression": "function_call",
        "object_creation_expression": "creation",
    }

    def namespace(self, node: "Node") -> None:
        self.package = dotted(self.field(node, "name"))
        self.children(node)

    def use(self, node: "Node") -> None:
        group = self.child(node, "namespace_use_group")
        head = dotted(self.text(self.child(node, "namespace_name"))) + "." if group is not None else ""
        word = "function" if any(c.type == "function" for c in node.children) else "import"
        for clause in (group or node).named_children:
            if clause.type in ("namespace_use_clause", "namespace_use_group_clause"):
                alias = clause.child_by_field_name("alias")
                name = head + dotted(self.text(clause.named_children[0]))
                if word == "function":
                    owner, _, simple = name.rpartition(".")
                    self.import_(node, owner, (simple,), "function")
                else:
                    self.import_(node, name, kind="import", alias=self.text(alias))

    def include(self, node: "Node") -> None:
        written = self.text(node.named_children[0]) if node.named_children else ""
        literal = [part.strip("'\" ()") for part in written.split(".") if "'" in part or '"' in part]
        path = written.split("'")[1] if "'" in written else written.split('"')[1] if '"' in written else ""
        if path and literal:
            self.import_(node, path.lstrip("/"), kind="include")
        else:
            self.notes.append(("dynamic_import", self.line(node), written[:60]))

    def type_declaration(self, node: "Node") -> None:
        bases = []
        for clause, word in (
            (self.child(node, "base_clause"), "extends"),
            (self.child(node, "class_interface_clause"), "implements"),
        ):
            listed = clause.named_children if clause is not None else []
            bases += [(dotted(self.text(base)), word, self.line(base)) for base in listed]
        abstract = any(c.type == "abstract_modifier" for c in node.named_children)
        self.declare_type(
            node, _KINDS[node.type], self.field(node, "name"), bases, node.child_by_field_name("body"), abstract
        )

    def use_trait(self, node: "Node") -> None:
        for child in node.named_children:
            if child.type in ("name", "qualified_name") and self.type_stack:
                self.type_stack[-1].bases.append((dotted(self.text(child)), "implements", self.line(node)))

    def method(self, node: "Node") -> None:
        variables: dict[str, Description] = {}
        parameters = node.child_by_field_name("parameters")
        for child in parameters.named_children if parameters is not None else ():
            declared = typed(dotted(self.field(child, "type").lstrip("?")))
            name = self.field(child, "name")
            variables[name] = declared
            if child.type == "property_promotion_parameter" and self.type_stack:
                self.type_stack[-1].fields[name.lstrip("$")] = declared
        result = dotted(self.field(node, "return_type").lstrip("?"))
        body = node.child_by_field_name("body")
        own = ("this",) if result in ("self", "static") else typed(result)
        self.declare_function(node, self.field(node, "name"), variables, own, body)

    def property_(self, node: "Node") -> None:
        declared = typed(dotted(self.field(node, "type").lstrip("?")))
        for child in node.named_children:
            if child.type == "property_element" and self.type_stack:
                self.type_stack[-1].fields[self.text(child.named_children[0]).lstrip("$")] = declared

    def assignment(self, node: "Node") -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "variable_name":
            self.declare(self.text(left), self.describe(right))
        elif left is not None and left.type == "member_access_expression" and self.field(left, "object") == "$this":
            self.assign_field(self.field(left, "name"), self.describe(right))
        self.children(node)

    def assign_field(self, name: str, described: Description) -> None:
        if self.type_stack:
            fields = self.type_stack[-1].fields
            local = described[:1] == ("v",)
            fields[name] = fields.get(name) or (
                self.current.variables.get(described[1], UNKNOWN) if local else described
            )

    def member_call(self, node: "Node") -> None:
        self.call(node, self.describe(node.child_by_field_name("object")), self.field(node, "name"))
        self.children(node)

    def static_call(self, node: "Node") -> None:
        self.call(node, self.describe(node.child_by_field_name("scope")), self.field(node, "name"))
        self.children(node)

    def function_call(self, node: "Node") -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type in ("name", "qualified_name"):
            head, _, name = dotted(self.text(function)).rpartition(".")
            self.call(node, ("v", head) if head else None, name)
            if name in ("call_user_func", "call_user_func_array", "eval"):
                self.notes.append(("reflection", self.line(node), name))
        self.children(node)

    def creation(self, node: "Node") -> None:
        named = self.child(node, "name", "qualified_name")
        written = dotted(self.text(named))
        self.new(node, self.type_stack[-1].name if written in ("self", "static") and self.type_stack else written)
        self.children(node)

    def describe(self, node: "Node | None") -> Description:
        if node is None:
            return UNKNOWN
        kind = node.type
        if kind == "variable_name":
            return ("this",) if self.text(node) == "$this" else ("v", self.text(node))
        if kind in ("name", "qualified_name"):
            return ("v", dotted(self.text(node)))
        if kind == "relative_scope":
            return ("super",) if self.text(node) == "parent" else ("this",)
        if kind in ("member_access_expression", "nullsafe_member_access_expression"):
            return ("f", self.describe(node.child_by_field_name("object")), self.field(node, "name"))
        if kind in ("member_call_expression", "nullsafe_member_call_expression"):
            return ("c", self.describe(node.child_by_field_name("object")), self.field(node, "name"))
        if kind == "scoped_call_expression":
            return ("c", self.describe(node.child_by_field_name("scope")), self.field(node, "name"))
        if kind == "function_call_expression":
            return ("c", None, self.field(node, "function"))
        if kind == "object_creation_expression":
            return exactly(dotted(self.text(self.child(node, "name", "qualified_name"))))
        if kind == "parenthesized_expression" and node.named_children:
            return self.describe(node.named_children[0])
        return UNKNOWN
