"""Ruby: requires, modules and classes, methods, calls."""

from typing import TYPE_CHECKING, ClassVar

from trivium.code.lowering import ops
from trivium.code.lowering.typed import UNKNOWN, Description, TypedWalker, exactly

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "ruby"
EXTENSIONS = (".rb", ".rake")
_SILENT = frozenset(
    ("attr_accessor", "attr_reader", "attr_writer", "private", "public", "protected", "puts", "raise", "p")
)
_REFLECTION = frozenset(
    ("send", "public_send", "define_method", "instance_eval", "class_eval", "const_get", "method_missing")
)


def grammar() -> object:
    import tree_sitter_ruby

    return tree_sitter_ruby.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = RubyWalker(path, source)
    walker.visit(tree.root_node)
    return walker.facts()


class RubyWalker(TypedWalker):
    language = "ruby"
    visits: ClassVar[dict[str, str]] = {
        "class": "class_",
        "module": "module",
        "method": "method",
        "singleton_method": "method",
        "assignment": "assignment",
        "call": "invocation",
        "identifier": "bare",
        "super": "super_call",
    }

    def class_(self, node: "Node") -> None:
        name = self.field(node, "name").replace("::", ".")
        parent = node.child_by_field_name("superclass")
        bases = []
        if parent is not None and parent.named_children:
            bases.append((self.text(parent.named_children[0]).replace("::", "."), "extends", self.line(parent)))
        self.declare_type(node, "class", name, bases, node.child_by_field_name("body"))

    def module(self, node: "Node") -> None:
        name = self.field(node, "name").replace("::", ".")
        self.declare_type(node, "interface", name, [], node.child_by_field_name("body"))

    def method(self, node: "Node") -> None:
        name = self.field(node, "name")
        body = node.child_by_field_name("body")
        parameters = node.child_by_field_name("parameters")
        variables: dict[str, Description] = {}
        for child in parameters.named_children if parameters is not None else ():
            variables[self.field(child, "name") or self.text(child)] = UNKNOWN
        self.declare_function(node, name, variables, self.result(body), body)

    def result(self, body: "Node | None") -> Description:
        """A method gives its last expression."""
        last = body.named_children[-1] if body is not None and body.named_children else None
        if last is not None and last.type == "return" and last.named_children:
            last = last.named_children[0].named_children[0] if last.named_children[0].named_children else None
        described = self.describe(last) if last is not None else UNKNOWN
        return described if described[:1] in (("n",), ("this",)) else UNKNOWN

    def assignment(self, node: "Node") -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "identifier":
            self.declare(self.text(left), self.describe(right))
        elif left is not None and left.type == "instance_variable" and self.type_stack:
            fields = self.type_stack[-1].fields
            fields[self.text(left)] = fields.get(self.text(left)) or self.describe(right)
        if right is not None:
            self.visit(right)

    def invocation(self, node: "Node") -> None:
        name, receiver = self.field(node, "method"), node.child_by_field_name("receiver")
        if receiver is None and name in ("require", "require_relative", "load", "autoload"):
            self.required(node, name)
            return
        if receiver is None and name in ("include", "extend", "prepend") and self.type_stack:
            self.mix_in(node)
            return
        if name in _REFLECTION:
            self.notes.append(("reflection", self.line(node), name))
        if name == "new" and receiver is not None:
            self.new(node, self.text(receiver).replace("::", "."))
        elif receiver is not None:
            self.call(node, self.describe(receiver), name)
        elif name not in _SILENT:
            self.call(node, None, name)
        for child in node.named_children:
            if child.type not in ("identifier", "constant"):
                self.visit(child)
        arguments = node.child_by_field_name("arguments")
        for child in arguments.named_children if arguments is not None else ():
            if child.type == "identifier":
                self.bare(child)

    def required(self, node: "Node", name: str) -> None:
        arguments = node.child_by_field_name("arguments")
        for child in arguments.named_children if arguments is not None else ():
            if child.type == "string":
                self.import_(node, self.text(child).strip("\"'"), kind=name)

    def mix_in(self, node: "Node") -> None:
        arguments = node.child_by_field_name("arguments")
        for child in arguments.named_children if arguments is not None else ():
            if child.type in ("constant", "scope_resolution"):
                self.type_stack[-1].bases.append((self.text(child).replace("::", "."), "implements", self.line(node)))

    def bare(self, node: "Node") -> None:
        """A lone word is a variable if there is one, a call without arguments otherwise."""
        name = self.text(node)
        if name not in self.current.variables and name not in _SILENT:
            self.call(node, None, name)

    def super_call(self, node: "Node") -> None:
        self.call(node, ("super",), self.current.name)

    def describe(self, node: "Node | None") -> Description:
        if node is None:
            return UNKNOWN
        kind = node.type
        if kind in ("identifier", "constant", "scope_resolution", "instance_variable"):
            return ("v", self.text(node).replace("::", "."))
        if kind == "self":
            return ("this",)
        if kind == "call":
            receiver, name = node.child_by_field_name("receiver"), self.field(node, "method")
            if name == "new" and receiver is not None:
                return exactly(self.text(receiver).replace("::", "."))
            return ("c", self.describe(receiver) if receiver is not None else None, name)
        if kind == "parenthesized_statements" and node.named_children:
            return self.describe(node.named_children[0])
        return UNKNOWN
