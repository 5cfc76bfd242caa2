"""C++: namespaces, classes, methods in and out of their class, templates read as what they wrap."""

from typing import TYPE_CHECKING, ClassVar

from trivium.code.languages.c import CWalker
from trivium.code.lowering import ops
from trivium.code.lowering.typed import UNKNOWN, Description, exactly, typed

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "cpp"
EXTENSIONS = (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".ipp")


def grammar() -> object:
    import tree_sitter_cpp

    return tree_sitter_cpp.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = CppWalker(path, source)
    walker.visit(tree.root_node)
    return walker.facts()


_SMART = ("unique_ptr", "shared_ptr", "weak_ptr", "optional")


class CppWalker(CWalker):
    language = "cpp"
    visits: ClassVar[dict[str, str]] = {
        **CWalker.visits,
        "namespace_definition": "namespace",
        "using_declaration": "using",
        "class_specifier": "class_",
        "struct_specifier": "class_",
        "template_declaration": "children",
        "new_expression": "creation",
        "field_declaration": "member",
        "for_range_loop": "for_range",
    }

    def namespace(self, node: "Node") -> None:
        name, body = self.field(node, "name").replace("::", "."), node.child_by_field_name("body")
        kept = self.prefix
        self.prefix = f"{self.prefix}{name}." if name else self.prefix
        if body is not None:
            self.children(body)
        self.prefix = kept

    def using(self, node: "Node") -> None:
        name = self.text(node.named_children[-1]).replace("::", ".")
        if any(c.type == "namespace" for c in node.children):
            self.import_(node, name, kind="namespace")
        else:
            self.import_(node, name, (name.rpartition(".")[2],), "name")

    def class_(self, node: "Node") -> None:
        body, name = node.child_by_field_name("body"), self.field(node, "name")
        if body is None or not name:
            return
        clause = self.child(node, "base_class_clause")
        bases = [
            (self.text(base).partition("<")[0].replace("::", "."), "either", self.line(base))
            for base in (clause.named_children if clause is not None else ())
            if base.type in ("type_identifier", "qualified_identifier", "template_type")
        ]
        pure = "= 0" in self.text(body) or "=0" in self.text(body)
        fields = [
            c for c in body.named_children if c.type == "field_declaration" and self.function_declarator(c) is None
        ]
        interface = (
            pure
            and not fields
            and not any(c.type == "function_definition" and "default" not in self.text(c) for c in body.named_children)
        )
        self.declare_type(node, "interface" if interface else "class", name, bases, body, is_abstract=pure)

    def member(self, node: "Node") -> None:
        declarator = self.function_declarator(node.child_by_field_name("declarator"))
        if declarator is not None:
            if "= 0" in self.text(node) or "=0" in self.text(node):
                name = self.declared_name(declarator.child_by_field_name("declarator"))
                self.declare_function(node, name, {}, self.type_of(node), None)
            return
        declared = self.type_of(node)
        for child in node.children_by_field_name("declarator"):
            if self.type_stack:
                self.type_stack[-1].fields[self.declared_name(child)] = declared

    def type_of(self, node: "Node") -> Description:
        written = node.child_by_field_name("type")
        return typed(self.unwrapped(written))

    def unwrapped(self, node: "Node | None") -> str:
        """`std::unique_ptr<Shape>` -> `Shape`."""
        text = self.text(node)
        if node is not None and "<" in text:
            head, _, inner = text.partition("<")
            if head.rpartition("::")[2] in _SMART:
                text = inner.rsplit(">", 1)[0]
        text = text.partition("<")[0].replace("::", ".").strip("*& ")
        return "" if text in ("auto", "void") else text.removeprefix("const ").strip()

    def named_function(self, node: "Node", name: str, declarator: "Node", body: "Node | None") -> None:
        owner, _, simple = name.replace("::", ".").rpartition(".")
        variables = self.parameters(declarator)
        simple = simple or name
        kept = self.prefix
        if owner:
            full = self.prefix + owner
            self.prefix = ""
            self.declare_function(node, simple, variables, self.type_of(node), body, owner=full)
        else:
            self.declare_function(node, simple, variables, self.type_of(node), body)
        self.prefix = kept

    def creation(self, node: "Node") -> None:
        self.new(node, self.unwrapped(node.child_by_field_name("type")))
        arguments = node.child_by_field_name("arguments")
        if arguments is not None:
            self.children(arguments)

    def declaration(self, node: "Node") -> None:
        super().declaration(node)
        declared = self.unwrapped(node.child_by_field_name("type"))
        smart = "_ptr" in self.field(node, "type").partition("<")[0] or "*" in self.text(node).partition("=")[0]
        if declared and not smart and self.current.definition >= 0:
            for child in node.children_by_field_name("declarator"):
                if child.type in ("init_declarator", "identifier") and self.constructs(child):
                    self.new(node, declared)

    def constructs(self, node: "Node") -> bool:
        value = node.child_by_field_name("value")
        return node.type == "identifier" or (value is not None and value.type in ("argument_list", "initializer_list"))

    def for_range(self, node: "Node") -> None:
        self.declare(self.declared_name(node.child_by_field_name("declarator")), self.type_of(node))
        self.children(node)

    def invocation(self, node: "Node") -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type == "qualified_identifier":
            head, _, name = self.text(function).partition("<")[0].replace("::", ".").rpartition(".")
            if name in ("make_unique", "make_shared"):
                self.new(node, self.template_argument(function))
            else:
                self.call(node, ("v", head), name)
            self.children(node)
        else:
            super().invocation(node)

    def template_argument(self, node: "Node") -> str:
        return self.text(node).partition("<")[2].rsplit(">", 1)[0].replace("::", ".")

    def describe(self, node: "Node | None") -> Description:
        if node is None:
            return UNKNOWN
        if node.type == "this":
            return ("this",)
        if node.type == "qualified_identifier":
            return ("v", self.text(node).replace("::", "."))
        if node.type in ("new_expression", "compound_literal_expression"):
            return exactly(self.unwrapped(node.child_by_field_name("type")))
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            if function is not None and function.type == "field_expression":
                return ("c", self.describe(function.child_by_field_name("argument")), self.field(function, "field"))
            if function is not None and function.type == "qualified_identifier":
                if "make_unique" in self.text(function) or "make_shared" in self.text(function):
                    return exactly(self.template_argument(function))
                head, _, name = self.text(function).replace("::", ".").rpartition(".")
                return ("c", ("v", head), name)
        return super().describe(node)
