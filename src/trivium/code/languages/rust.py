"""Rust: modules and uses, structs, enums, traits, impl blocks, calls by path and by method."""

from typing import TYPE_CHECKING, ClassVar

from trivium.code.lowering import ops
from trivium.code.lowering.typed import UNKNOWN, Description, TypedWalker, TypeFacts, exactly, typed

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "rust"
EXTENSIONS = (".rs",)


def grammar() -> object:
    import tree_sitter_rust

    return tree_sitter_rust.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = RustWalker(path, source)
    walker.visit(tree.root_node)
    return walker.facts()


def plain(type_: str) -> str:
    """`&mut Box<dyn Shape>` -> `Shape`: what a method call goes through."""
    text = type_.strip()
    while True:
        before = text
        for word in ("&", "mut ", "dyn ", "impl "):
            text = text.removeprefix(word).strip()
        if text.startswith("'"):
            text = text.partition(" ")[2].strip()
        for wrapper in ("Box", "Rc", "Arc", "Option", "Result", "RefCell"):
            if text.startswith(wrapper + "<"):
                text = text[len(wrapper) + 1 : -1].split(",")[0]
        if text == before:
            return text.partition("<")[0]


class RustWalker(TypedWalker):
    language = "rust"
    visits: ClassVar[dict[str, str]] = {
        "mod_item": "module",
        "use_declaration": "use",
        "struct_item": "struct",
        "enum_item": "struct",
        "union_item": "struct",
        "trait_item": "trait",
        "impl_item": "implementation",
        "function_item": "function",
        "function_signature_item": "function",
        "let_declaration": "let",
        "call_expression": "invocation",
        "struct_expression": "literal",
        "attribute_item": "nothing",
        "macro_definition": "nothing",
        "token_tree": "tokens",
    }

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self.impl_owner = ""
        self.self_types: list[str] = []

    def nothing(self, node: "Node") -> None:
        """No code of ours in there."""

    def module(self, node: "Node") -> None:
        name, body = self.field(node, "name"), node.child_by_field_name("body")
        if body is None:
            self.import_(node, name, kind="mod")
            return
        kept, self.prefix = self.prefix, f"{self.prefix}{name}."
        self.children(body)
        self.prefix = kept

    def use(self, node: "Node") -> None:
        argument = node.child_by_field_name("argument")
        for path, alias in self.used(argument, ""):
            head, _, name = path.rpartition("::")
            if name == "*":
                self.import_(node, head, kind="star")
            else:
                self.import_(node, path, (name,), "use", alias)

    def used(self, node: "Node | None", prefix: str) -> list[tuple[str, str]]:
        if node is None:
            return []
        if node.type == "use_as_clause":
            return [(prefix + self.field(node, "path"), self.field(node, "alias"))]
        if node.type == "scoped_use_list":
            head = self.field(node, "path")
            return self.used(node.child_by_field_name("list"), f"{prefix}{head}::" if head else prefix)
        if node.type == "use_list":
            return [found for child in node.named_children for found in self.used(child, prefix)]
        if node.type == "use_wildcard":
            return [(prefix + self.text(node), "")]
        if node.type == "self":
            return [(prefix.removesuffix("::"), "")]
        return [(prefix + self.text(node), "")] if node.type != "line_comment" else []

    def struct(self, node: "Node") -> None:
        name = self.field(node, "name")
        kind = "enum" if node.type == "enum_item" else "class"
        self.declare_type(node, kind, name, [], node.child_by_field_name("body"), walk=self.members)

    def members(self, body: "Node") -> None:
        for child in body.named_children:
            if child.type == "field_declaration":
                self.type_stack[-1].fields[self.field(child, "name")] = typed(plain(self.field(child, "type")))

    def trait(self, node: "Node") -> None:
        bounds = node.child_by_field_name("bounds")
        bases = [
            (plain(self.text(b)), "extends", self.line(b))
            for b in (bounds.named_children if bounds is not None else ())
        ]
        self.declare_type(node, "interface", self.field(node, "name"), bases, node.child_by_field_name("body"))

    def implementation(self, node: "Node") -> None:
        """Methods belong to the type; `impl Trait for Type` also makes the type implement the trait."""
        owner, trait = plain(self.field(node, "type")), node.child_by_field_name("trait")
        if trait is not None:
            self.types.append(
                TypeFacts(-1, owner, [(plain(self.text(trait)), "implements", self.line(node))], {}, False)
            )
        body = node.child_by_field_name("body")
        kept, self.impl_owner = self.impl_owner, owner
        if body is not None:
            self.children(body)
        self.impl_owner = kept

    def function(self, node: "Node") -> None:
        variables: dict[str, Description] = {}
        parameters = node.child_by_field_name("parameters")
        for child in parameters.named_children if parameters is not None else ():
            if child.type == "parameter":
                variables[self.field(child, "pattern").removeprefix("mut ")] = typed(plain(self.field(child, "type")))
        result = plain(self.field(node, "return_type"))
        result = self.impl_owner if result == "Self" else result
        owner = self.impl_owner if self.impl_owner and not self.type_stack else None
        body = node.child_by_field_name("body")
        kept, self.impl_owner = self.impl_owner, ""
        self.self_types.append(owner or (self.type_stack[-1].name if self.type_stack else ""))
        self.declare_function(node, self.field(node, "name"), variables, typed(result), body, owner=owner)
        self.self_types.pop()
        self.impl_owner = kept

    def let(self, node: "Node") -> None:
        declared = typed(plain(self.field(node, "type")))
        value = node.child_by_field_name("value")
        self.declare(self.field(node, "pattern").removeprefix("mut "), declared or self.describe(value))
        self.children(node)

    def invocation(self, node: "Node") -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type == "generic_function":
            function = function.child_by_field_name("function")
        if function is not None and function.type == "field_expression":
            self.call(node, self.describe(function.child_by_field_name("value")), self.field(function, "field"))
        elif function is not None and function.type == "scoped_identifier":
            self.call(node, self.path_of(function.child_by_field_name("path")), self.field(function, "name"))
        elif function is not None and function.type == "identifier":
            self.call(node, None, self.text(function))
        self.children(node)

    def tokens(self, node: "Node") -> None:
        """A macro's arguments are not parsed for us: a name before parentheses is taken for a call."""
        parts = node.children
        for before, here, after in zip([None, *parts], parts, [*parts[1:], None], strict=False):
            called = after is not None and after.type == "token_tree" and self.text(after).startswith("(")
            if here.type == "identifier" and called:
                self.token_call(parts, here, before)
            elif here.type == "token_tree":
                self.tokens(here)

    def token_call(self, parts: "list[Node]", name: "Node", before: "Node | None") -> None:
        position = next(i for i, p in enumerate(parts) if p.id == name.id)
        owner = parts[position - 2] if position >= 2 else None
        if before is not None and before.type in (".", "::") and owner is not None:
            itself = owner.type == "self" or self.text(owner) == "self"
            self.call(name, ("this",) if itself else self.path_of(owner), self.text(name))
        elif before is None or before.type not in (".", "::"):
            self.call(name, None, self.text(name))

    def path_of(self, node: "Node | None") -> Description:
        written = self.text(node).partition("<")[0]
        if written == "Self":
            return ("v", self.self_types[-1] if self.self_types else "")
        return ("v", written)

    def literal(self, node: "Node") -> None:
        name = self.field(node, "name")
        self.new(node, self.self_types[-1] if name == "Self" and self.self_types else name)
        self.children(node)

    def describe(self, node: "Node | None") -> Description:
        if node is None:
            return UNKNOWN
        kind = node.type
        if kind == "self":
            return ("this",)
        if kind in ("identifier", "type_identifier", "scoped_identifier"):
            return self.path_of(node) if kind == "scoped_identifier" else ("v", self.text(node))
        if kind == "field_expression":
            return ("f", self.describe(node.child_by_field_name("value")), self.field(node, "field"))
        if kind == "call_expression":
            function = node.child_by_field_name("function")
            if function is not None and function.type == "field_expression":
                return ("c", self.describe(function.child_by_field_name("value")), self.field(function, "field"))
            if function is not None and function.type == "scoped_identifier":
                wrapped = self.text(function) in ("Box::new", "Rc::new", "Arc::new", "RefCell::new", "Some", "Ok")
                arguments = node.child_by_field_name("arguments")
                if wrapped and arguments is not None and arguments.named_children:
                    return self.describe(arguments.named_children[0])
                return ("c", self.path_of(function.child_by_field_name("path")), self.field(function, "name"))
            return ("c", None, self.text(function))
        if kind == "struct_expression":
            name = self.field(node, "name")
            return exactly(self.self_types[-1] if name == "Self" and self.self_types else name)
        if kind in ("reference_expression", "parenthesized_expression", "try_expression", "await_expression"):
            return self.describe(node.named_children[-1])
        return UNKNOWN
