"""JavaScript and TypeScript: classes, interfaces, enums, namespaces."""

from functools import partial
from typing import TYPE_CHECKING

from trivium.code.languages.javascript_expressions import JavaScriptExpressions
from trivium.code.lowering import ops
from trivium.code.lowering.scope import ANY

if TYPE_CHECKING:
    from tree_sitter import Node


class JavaScriptClasses(JavaScriptExpressions):
    def class_statement(self, node: "Node") -> None:
        name = self.field_text(node, "name")
        self.scope.write(name, self.make_class(node, name, node))

    def class_expression(self, node: "Node") -> int:
        given, self.naming = self.naming, None
        name = self.field_text(node, "name") or (given[0] if given else f"<class{self.scope.count('class')}>")
        return self.make_class(node, name, given[1] if given else node)

    def make_class(self, node: "Node", name: str, outer: "Node") -> int:
        body = node.child_by_field_name("body")
        decorators = [self.expression(c.named_children[0]) for c in node.named_children if c.type == "decorator"]
        bases, interfaces = self.heritage(node)
        definition = self.define("class", name, outer, body, self.comment_before(outer))
        self.classes.append(ops.ClassBody(self.prefix + name, self.line(node), definition))
        value = self.scope.value(ops.CLASS, len(self.classes) - 1, bases, self.line(node), interfaces)
        before, self.own_class = self.own_class, value
        if node.child_by_field_name("name") is not None and outer is node:
            self.scope.write(name, value)
        if body is not None:
            self.inside(definition, f"{self.prefix}{name}.", partial(self.class_body, body, value))
        self.own_class = before
        for decorator in reversed(decorators):
            given = self.scope.value(ops.CALL, decorator, (value,), (), (), self.line(node))
            value = self.scope.union((value, given))
        return value

    def heritage(self, node: "Node") -> tuple[tuple[int, ...], tuple[int, ...]]:
        bases: list[int] = []
        interfaces: list[int] = []
        clauses = [c for c in node.named_children if c.type in ("class_heritage", "extends_type_clause")]
        for clause in [p for c in clauses for p in (c.named_children if c.type == "class_heritage" else [c])]:
            if clause.type == "extends_clause":
                base = clause.child_by_field_name("value")
                bases += [self.base(base)] if base is not None else []
            elif clause.type in ("implements_clause", "extends_type_clause"):
                interfaces += [self.annotation(t) for t in clause.named_children]
            else:
                bases.append(self.base(clause))  # plain JavaScript has the expression here
        return tuple(bases), tuple(interfaces)

    def base(self, node: "Node") -> int:
        """The class has an edge to it of its own: naming it here is no reference besides."""
        return self.scope.read(self.text(node)) if node.type == "identifier" else self.expression(node)

    def class_body(self, body: "Node", cls: int) -> None:
        prototype = self.scope.value(ops.ATTR, cls, "prototype", self.line(body))
        fields: list[Node] = []
        for child in body.named_children:
            if child.type in ("method_definition", "abstract_method_signature", "method_signature"):
                self.method(child, cls, prototype)
            elif child.type in ("field_definition", "public_field_definition"):
                static = any(c.type == "static" for c in child.children)
                if static:
                    self.static_field(child, cls)
                else:
                    fields.append(child)
            elif child.type == "class_static_block":
                self.unknown(child)
        if fields:
            self.instance_fields(fields, cls)

    def method(self, node: "Node", cls: int, prototype: int) -> None:
        name = self.property_name(node.child_by_field_name("name"))
        body = node.child_by_field_name("body")
        words = {c.type for c in node.children}
        if body is None and node.type != "abstract_method_signature":
            return  # an overload's signature: the implementation follows
        self.joins_prefix = name.startswith("[")
        definition = self.define("method", name, node, body, self.comment_before(node))
        value = self.make_function(node, name, ops.METHOD, definition, owner=cls)
        target = cls if "static" in words else prototype
        self.attach(target, name, value, words, self.line(node))

    def attach(self, target: int, name: str, value: int, words: set[str], line: int) -> None:
        if "get" in words or "set" in words:
            maker = self.scope.value(ops.BUILTIN, "<getter>" if "get" in words else "<setter>")
            value = self.scope.value(ops.CALL, maker, (value,), (), (), line)
            self.scope.weaken()
            self.scope.emit(ops.SETATTR, target, name, value)
            self.scope.strengthen()
        else:
            self.scope.emit(ops.SETATTR, target, name, value)

    def static_field(self, node: "Node", cls: int) -> None:
        name, value = self.field_name(node), node.child_by_field_name("value")
        if value is not None:
            self.naming = (name, node)
            self.scope.emit(ops.SETATTR, cls, name, self.expression(value))
            self.naming = None

    def field_name(self, node: "Node") -> str:
        return self.property_name(node.child_by_field_name("property") or node.child_by_field_name("name"))

    def instance_fields(self, fields: list["Node"], cls: int) -> None:
        """Initialisers run for every new object: they become a nameless function that the constructor runs."""

        def body() -> None:
            self.scope.flags |= ops.JAVASCRIPT
            me = self.scope.value(ops.THIS)
            self.scope.write("this", me)
            for node in fields:
                name, value = self.field_name(node), node.child_by_field_name("value")
                declared = self.declared_type(node.child_by_field_name("type"))
                self.naming = (name, node)
                result = self.expression(value) if value is not None else ANY
                self.naming = None
                if result < 0 and declared >= 0:
                    result = self.scope.value(ops.INSTANCE, declared)
                if result >= 0:
                    self.scope.emit(ops.SETATTR, me, name, result)

        before = self.prefix
        index, _ = self.function(
            "<fields>", ops.LAMBDA, -1, self.line(fields[0]), partial(self.unprefixed, before, body)
        )
        made = self.scope.value(ops.FUNC, index, (), (), cls)
        self.scope.emit(ops.SETATTR, cls, "<fields>", made)

    def unprefixed(self, prefix: str, body: "partial[None] | object") -> None:
        self.prefix = prefix
        body()  # type: ignore[operator]

    # TypeScript

    def interface_statement(self, node: "Node") -> None:
        name = self.field_text(node, "name")
        _, parents = self.heritage(node)
        definition = self.define("interface", name, node, node.child_by_field_name("body"), self.comment_before(node))
        self.classes.append(ops.ClassBody(self.prefix + name, self.line(node), definition))
        value = self.scope.value(ops.CLASS, len(self.classes) - 1, parents, self.line(node), ())
        self.scope.write(name, value)
        self.declared_type(node.child_by_field_name("body"))

    def enum_statement(self, node: "Node") -> None:
        name = self.field_text(node, "name")
        definition = self.define("enum", name, node, node.child_by_field_name("body"), self.comment_before(node))
        self.classes.append(ops.ClassBody(self.prefix + name, self.line(node), definition))
        self.scope.write(name, self.scope.value(ops.CLASS, len(self.classes) - 1, (), self.line(node), ()))

    def alias_statement(self, node: "Node") -> None:
        """`type Name = …` is no symbol of its own, but names others."""
        self.declared_type(node.child_by_field_name("value"))

    def namespace_statement(self, node: "Node") -> None:
        """Its declarations are lowered as if they stood outside, and are reachable through the namespace too."""
        name, body = self.field_text(node, "name"), node.child_by_field_name("body")
        outer = set(self.scope.names)
        if body is not None:
            self.statement(body)
        inner = sorted(self.scope.names - outer)
        members = tuple((n, self.scope.read(n)) for n in inner)
        if name.isidentifier():
            self.scope.write(name, self.scope.value(ops.TABLE, members, (), self.site()))
