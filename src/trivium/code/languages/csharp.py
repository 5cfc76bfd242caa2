"""C#: namespaces and usings, types, properties, methods, calls."""

from typing import TYPE_CHECKING, ClassVar

from trivium.code.lowering import ops
from trivium.code.lowering.typed import UNKNOWN, Description, TypedWalker, exactly, typed

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "csharp"
EXTENSIONS = (".cs",)


def grammar() -> object:
    import tree_sitter_c_sharp

    return tree_sitter_c_sharp.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = CSharpWalker(path, source)
    walker.visit(tree.root_node)
    return walker.facts()


_KINDS = {
    "class_declaration": "class",
    "struct_declaration": "class",
    "record_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
}


class CSharpWalker(TypedWalker):
    language = "csharp"
    visits: ClassVar[dict[str, str]] = {
        **dict.fromkeys(_KINDS, "type_declaration"),
        "namespace_declaration": "namespace",
        "file_scoped_namespace_declaration": "namespace",
        "using_directive": "using",
        "method_declaration": "method",
        "constructor_declaration": "method",
        "local_function_statement": "method",
        "property_declaration": "property_",
        "field_declaration": "field_declaration",
        "variable_declaration": "variables",
        "foreach_statement": "for_each",
        "parameter": "parameter",
        "invocation_expression": "invocation",
        "object_creation_expression": "creation",
    }

    def namespace(self, node: "Node") -> None:
        kept = self.package
        self.package = f"{kept}.{self.field(node, 'name')}" if kept else self.field(node, "name")
        self.children(node)
        if node.type == "namespace_declaration" and kept:
            self.package = kept

    def using(self, node: "Node") -> None:
        words = {c.type for c in node.children}
        alias = node.child_by_field_name("name")
        target = self.text(node.named_children[-1])
        if "static" in words:
            self.import_(node, target, kind="static-star")
        elif alias is not None:
            self.import_(node, target, kind="import", alias=self.text(alias))
        else:
            self.import_(node, target, kind="star")

    def type_declaration(self, node: "Node") -> None:
        listed = self.child(node, "base_list")
        bases = [
            (self.text(base).partition("(")[0], "either", self.line(base))
            for base in (listed.named_children if listed is not None else ())
            if base.type in ("identifier", "generic_name", "qualified_name", "primary_constructor_base_type")
        ]
        modifiers = [self.text(c) for c in node.named_children if c.type == "modifier"]
        name, body = self.field(node, "name"), node.child_by_field_name("body")
        self.declare_type(node, _KINDS[node.type], name, bases, body, "abstract" in modifiers)

    def method(self, node: "Node") -> None:
        variables: dict[str, Description] = {}
        parameters = node.child_by_field_name("parameters")
        for child in parameters.named_children if parameters is not None else ():
            if child.type == "parameter":
                variables[self.field(child, "name")] = typed(self.field(child, "type").rstrip("?"))
        result = self.field(node, "returns") or self.field(node, "type")
        name = self.field(node, "name")
        body = node.child_by_field_name("body") or self.child(node, "arrow_expression_clause")
        self.declare_function(node, name, variables, typed(_unwrapped(result)), body)
        initializer = self.child(node, "constructor_initializer")
        owner = self.type_stack[-1] if self.type_stack else None
        if initializer is not None and owner is not None:
            kept, self.current = self.current, self.functions[-1]
            base = self.text(initializer).lstrip(": ").startswith("base")
            self.new(initializer, owner.bases[0][0] if base and owner.bases else owner.name)
            self.children(initializer)
            self.current = kept

    def property_(self, node: "Node") -> None:
        if self.type_stack:
            self.type_stack[-1].fields[self.field(node, "name")] = typed(_unwrapped(self.field(node, "type")))
        self.children(node)

    def field_declaration(self, node: "Node") -> None:
        for declaration in node.named_children:
            if declaration.type == "variable_declaration":
                declared = typed(_unwrapped(self.field(declaration, "type")))
                for child in declaration.named_children:
                    if child.type == "variable_declarator" and self.type_stack:
                        self.type_stack[-1].fields[self.declared(child)] = declared
                        self.children(child)

    def declared(self, node: "Node") -> str:
        return self.field(node, "name") or self.text(node.named_children[0])

    def variables(self, node: "Node") -> None:
        declared = typed(_unwrapped(self.field(node, "type")))
        for child in node.named_children:
            if child.type == "variable_declarator":
                value = child.named_children[-1] if len(child.named_children) > 1 else None
                if value is not None and value.type == "equals_value_clause":
                    value = value.named_children[0]
                self.declare(self.declared(child), declared or self.describe(value))
                self.children(child)

    def for_each(self, node: "Node") -> None:
        self.declare(self.field(node, "left"), typed(_unwrapped(self.field(node, "type"))))
        self.children(node)

    def parameter(self, node: "Node") -> None:
        self.declare(self.field(node, "name"), typed(self.field(node, "type")))

    def invocation(self, node: "Node") -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type == "member_access_expression":
            name = self.field(function, "name").partition("<")[0]
            self.call(node, self.describe(function.child_by_field_name("expression")), name)
        elif function is not None and function.type in ("identifier", "generic_name"):
            self.call(node, None, self.text(function).partition("<")[0])
        elif function is not None and function.type == "conditional_access_expression":
            inner = self.child(function, "member_binding_expression")
            if inner is not None:
                self.call(node, self.describe(function.named_children[0]), self.text(inner).lstrip("."))
        self.children(node)

    def creation(self, node: "Node") -> None:
        self.new(node, self.field(node, "type"))
        for child in node.named_children:
            if child.type in ("argument_list", "initializer_expression"):
                self.children(child)

    def describe(self, node: "Node | None") -> Description:
        if node is None:
            return UNKNOWN
        kind = node.type
        if kind in ("identifier", "qualified_name", "generic_name"):
            return ("v", self.text(node).partition("<")[0])
        if kind in ("this", "this_expression", "base", "base_expression"):
            return ("this",) if kind.startswith("this") else ("super",)
        if kind == "member_access_expression":
            return ("f", self.describe(node.child_by_field_name("expression")), self.field(node, "name"))
        if kind == "invocation_expression":
            function = node.child_by_field_name("function")
            if function is not None and function.type == "member_access_expression":
                return ("c", self.describe(function.child_by_field_name("expression")), self.field(function, "name"))
            return ("c", None, self.text(function).partition("<")[0])
        if kind == "object_creation_expression":
            return exactly(self.field(node, "type"))
        if kind in ("cast_expression", "as_expression"):
            return typed(self.field(node, "type") or self.field(node, "right"))
        if kind in ("parenthesized_expression", "await_expression", "postfix_unary_expression") and node.named_children:
            return self.describe(node.named_children[0])
        return UNKNOWN


def _unwrapped(type_: str) -> str:
    """`Task<User?>` -> `User`: what one gets after awaiting."""
    text = type_.strip().rstrip("?")
    for wrapper in ("Task<", "ValueTask<"):
        if text.startswith(wrapper):
            text = text[len(wrapper) : -1].rstrip("?")
    return "" if text in ("var", "dynamic") else text
