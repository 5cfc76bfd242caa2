"""Python: statements, definitions and imports. Expressions are in python_expressions.py."""

from functools import partial
from typing import TYPE_CHECKING

from trivium.code.languages.python_expressions import PythonExpressions
from trivium.code.lowering import ops
from trivium.code.lowering.scope import ANY
from trivium.code.lowering.walker import MAX_DEPTH

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "python"
EXTENSIONS = (".py", ".pyi", ".pyw")
METACLASS = "<metaclass>"  # the attribute of a class that holds it


def grammar() -> object:
    import tree_sitter_python

    return tree_sitter_python.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = PythonWalker(path, source, shared=_shared_names(source))
    walker.block(tree.root_node)
    return walker.facts()


def _shared_names(source: bytes) -> frozenset[str]:
    """Names that some function declares global or nonlocal: nobody may assume to know their value by reading on."""
    names: set[str] = set()
    if b"global " in source or b"nonlocal " in source:
        for line in source.splitlines():
            words = line.strip()
            for keyword in (b"global ", b"nonlocal "):
                if words.startswith(keyword):
                    listed = words[len(keyword) :].split(b"#")[0].split(b",")
                    names.update(word.strip().decode("utf-8", "replace") for word in listed)
    return frozenset(names)


class PythonWalker(PythonExpressions):
    def block(self, node: "Node") -> None:
        self.depth += 1
        if self.depth < MAX_DEPTH:
            for child in node.named_children:
                if self.scope.ended:
                    self.scope.ended = False  # unreachable code is still read: it may be a stub or a mistake
                self.statement(child)
        self.depth -= 1

    def statement(self, node: "Node") -> None:
        method = _STATEMENTS.get(node.type)
        if method is not None:
            method(self, node)
        elif node.type not in _SILENT:
            self.expression(node)

    def expression_statement(self, node: "Node") -> None:
        for child in node.named_children:
            if child.type != "string":  # a docstring
                self.expression(child)

    # definitions

    def decorated(self, node: "Node") -> None:
        decorators = [
            (self.expression(c.named_children[0]), self.line(c)) for c in node.children if c.type == "decorator"
        ]
        definition = node.child_by_field_name("definition")
        if definition is not None:
            define = self.class_definition if definition.type == "class_definition" else self.function_definition
            define(definition, node, decorators)

    def function_definition(
        self, node: "Node", outer: "Node | None" = None, decorators: list[tuple[int, int]] | None = None
    ) -> None:
        name = self.field_text(node, "name")
        body = node.child_by_field_name("body")
        in_class = bool(self.scope.classes)
        definition = self.define("method" if in_class else "function", name, outer or node, body, self.docstring(body))
        kind = ops.METHOD if in_class else ops.FUNCTION
        value = self.make_function(node, name, kind, definition, partial(self.body, node, body))
        for decorator, line in reversed(decorators or []):
            value = self.scope.value(ops.CALL, decorator, (value,), (), (), line)
        self.scope.write(name, value)

    def body(self, node: "Node", body: "Node | None") -> None:
        if node.children and node.children[0].type == "async":
            self.scope.flags |= ops.ASYNC
        if body is not None:
            self.block(body)

    def class_definition(
        self, node: "Node", outer: "Node | None" = None, decorators: list[tuple[int, int]] | None = None
    ) -> None:
        name, body = self.field_text(node, "name"), node.child_by_field_name("body")
        bases, metaclass = self.bases(node.child_by_field_name("superclasses"))
        definition = self.define("class", name, outer or node, body, self.docstring(body))
        fields = self.declared_fields(body)
        self.classes.append(ops.ClassBody(self.prefix + name, self.line(node), definition, fields))
        value = self.scope.value(ops.CLASS, len(self.classes) - 1, bases, self.line(node), ())
        if metaclass >= 0:
            self.scope.emit(ops.SETATTR, value, METACLASS, metaclass)
        self.scope.classes.append((value, {}))
        if body is not None:
            self.inside(definition, f"{self.prefix}{name}.", partial(self.block, body))
        self.scope.classes.pop()
        for decorator, line in reversed(decorators or []):
            value = self.scope.value(ops.CALL, decorator, (value,), (), (), line)
        self.scope.write(name, value)

    def bases(self, node: "Node | None") -> tuple[tuple[int, ...], int]:
        """The bases, and the metaclass or ANY."""
        found, metaclass = [], ANY
        for child in node.named_children if node is not None else ():
            if child.type == "keyword_argument":
                value = self.expression(child.named_children[-1])
                metaclass = value if self.field_text(child, "name") == "metaclass" else metaclass
            elif child.type != "comment":
                plain = child.type == "identifier"  # the class has an edge to it of its own
                found.append(self.scope.read(self.text(child)) if plain else self.expression(child))
        return tuple(found), metaclass

    def declared_fields(self, body: "Node | None") -> tuple[str, ...]:
        """What a generated constructor (a dataclass's, a named tuple's) takes, in order."""
        found = []
        for child in body.named_children if body is not None else ():
            inner = child.named_children[0] if child.type == "expression_statement" and child.named_children else None
            if inner is not None and inner.type == "assignment" and inner.child_by_field_name("type") is not None:
                left = inner.child_by_field_name("left")
                if left is not None and left.type == "identifier":
                    found.append(self.text(left))
        return tuple(found)

    def docstring(self, body: "Node | None") -> str:
        first = body.named_children[:1] if body is not None else []
        inner = first[0].named_children[:1] if first and first[0].type == "expression_statement" else []
        if not inner or inner[0].type != "string":
            return ""
        raw = self.text(inner[0]).lstrip("rRuUbB").strip("\"'")
        return " ".join(raw.split())[:1000]

    # control flow

    def if_statement(self, node: "Node") -> None:
        condition = node.child_by_field_name("condition")
        then = node.child_by_field_name("consequence")
        alternatives = [c for c in node.named_children if c.type in ("elif_clause", "else_clause")]
        if condition is not None:
            self.expression(condition)
        if condition is not None and then is not None and not alternatives and "__name__" in self.text(condition):
            self.block(then)  # the program's entry: as good as straight-line code
            return
        arms = [partial(self.block, then) if then is not None else None]
        arms += [partial(self.clause, c) for c in alternatives]
        if not alternatives or alternatives[-1].type != "else_clause":
            arms.append(None)
        self.scope.branch(*arms)

    def clause(self, node: "Node") -> None:
        for child in node.named_children:
            if child.type == "block":
                self.block(child)
            else:
                self.expression(child)

    def while_statement(self, node: "Node") -> None:
        self.scope.loop(partial(self.clause, node))

    def for_statement(self, node: "Node") -> None:
        source = self.field(node, "right")
        self.scope.loop(partial(self.for_body, node, source, self.line(node)))
        alternative = node.child_by_field_name("alternative")
        if alternative is not None:
            self.clause(alternative)

    def for_body(self, node: "Node", source: int, line: int) -> None:
        left, body = node.child_by_field_name("left"), node.child_by_field_name("body")
        if left is not None:
            self.assign(left, self.scope.value(ops.ITER, source, line))
        if body is not None:
            self.block(body)

    def try_statement(self, node: "Node") -> None:
        body = node.child_by_field_name("body")
        main = [body] if body is not None else []
        main += [c for c in node.named_children if c.type == "else_clause"]
        handlers = [c for c in node.named_children if c.type in ("except_clause", "except_group_clause")]
        self.scope.branch(partial(self.several, main), *(partial(self.handler, h) for h in handlers))
        for child in node.named_children:
            if child.type == "finally_clause":
                ended, self.scope.ended = self.scope.ended, False
                self.clause(child)
                self.scope.ended |= ended

    def several(self, nodes: list["Node"]) -> None:
        for node in nodes:
            self.block(node) if node.type == "block" else self.clause(node)

    def handler(self, node: "Node") -> None:
        for child in node.named_children:
            if child.type == "block":
                self.block(child)
            elif child.type == "as_pattern":
                raised = self.expression(child.named_children[0])
                self.assign(child.named_children[-1], self.scope.value(ops.INSTANCE, raised))
            else:
                self.expression(child)

    def with_statement(self, node: "Node") -> None:
        for clause in node.named_children:
            if clause.type == "with_clause":
                for item in clause.named_children:
                    self.with_item(item)
            elif clause.type == "block":
                self.block(clause)

    def with_item(self, node: "Node") -> None:
        value = node.named_children[0] if node.type == "with_item" and node.named_children else node
        target = None
        if value.type == "as_pattern":
            value, target = value.named_children[0], value.named_children[-1]
        entered = self.scope.value(ops.ENTER, self.expression(value), self.line(node))
        if target is not None:
            self.assign(target, entered)

    def match_statement(self, node: "Node") -> None:
        subject = node.child_by_field_name("subject")
        value = self.expression(subject) if subject is not None else ANY
        body = node.child_by_field_name("body")
        cases = [c for c in body.named_children if c.type == "case_clause"] if body is not None else []
        self.scope.branch(*(partial(self.case, c, value) for c in cases), None)

    def case(self, node: "Node", value: int) -> None:
        for child in node.named_children:
            if child.type == "block":
                self.block(child)
            elif child.type == "case_pattern":
                self.pattern(child, value)
            else:
                self.clause(child)

    def pattern(self, node: "Node", value: int) -> None:
        """Binds the names of a pattern to the parts of the value they stand for."""
        inner = [c for c in node.named_children if c.type != "comment"]
        kind = node.type
        if kind == "dotted_name":
            if len(inner) == 1:
                self.scope.write(self.text(node), value)
        elif kind in ("list_pattern", "tuple_pattern") and value >= 0:
            self.sequence_pattern(inner, value)
        elif kind == "dict_pattern" and value >= 0:
            self.mapping_pattern(node, value)
        elif kind == "class_pattern":
            for child in inner[1:]:
                self.pattern(child, value if self.is_keyword(child) else ANY)
        elif kind == "keyword_pattern" and len(inner) == 2 and value >= 0:
            self.pattern(inner[1], self.scope.value(ops.ATTR, value, self.text(inner[0]), self.line(node)))
        elif kind == "as_pattern" and inner:
            self.pattern(inner[0], value)
            self.scope.write(self.text(inner[-1]), value)
        else:
            whole = kind in ("case_pattern", "union_pattern")
            for child in inner:
                self.pattern(child, value if whole else ANY)

    def is_keyword(self, node: "Node") -> bool:
        return node.type == "keyword_pattern" or any(c.type == "keyword_pattern" for c in node.named_children)

    def sequence_pattern(self, inner: "list[Node]", value: int) -> None:
        stars = [n for n, child in enumerate(inner) if self.text(child).startswith("*")]
        parts = tuple(self.scope.register() for _ in inner)
        self.scope.emit(ops.UNPACK, value, parts, stars[0] if stars else -1)
        for child, part in zip(inner, parts, strict=True):
            name = self.text(child).lstrip("*")
            if self.text(child).startswith("*"):
                self.scope.write(name, part)
            else:
                self.pattern(child, part)

    def mapping_pattern(self, node: "Node", value: int) -> None:
        keys, values = node.children_by_field_name("key"), node.children_by_field_name("value")
        for key, child in zip(keys, values, strict=False):
            at = self.expression(key.named_children[0] if key.type == "case_pattern" and key.named_children else key)
            self.pattern(child, self.scope.value(ops.ITEM, value, at))

    def delete_statement(self, node: "Node") -> None:
        for child in node.named_children:
            for target in child.named_children if child.type in ("expression_list", "tuple") else (child,):
                if target.type == "subscript":
                    source = self.field(target, "value")
                    keys = [self.expression(k) for k in target.children_by_field_name("subscript")]
                    if source >= 0:
                        self.scope.value(ops.OPERATOR, source, (keys or [ANY])[-1], "__delitem__", self.line(target))

    # leaving, raising, importing

    def return_statement(self, node: "Node") -> None:
        for child in node.named_children:
            self.scope.give_back(self.argument(child))
        self.scope.leave("return")

    def raise_statement(self, node: "Node") -> None:
        for position, child in enumerate(node.named_children):
            value = self.expression(child)
            if position == 0:
                self.scope.emit(ops.RAISE, value, self.line(node))
        self.scope.leave("return")

    def break_statement(self, node: "Node") -> None:
        self.scope.leave(node.type.removesuffix("_statement"))

    def global_statement(self, node: "Node") -> None:
        for child in node.named_children:
            if self.scope.kind != ops.MODULE:
                self.scope.outer_names[self.text(child)] = node.type == "global_statement"
                if node.type == "global_statement":
                    self.global_names.add(self.text(child))

    def import_statement(self, node: "Node") -> None:
        for child in node.named_children:
            aliased = child.type == "aliased_import"
            module = self.field_text(child, "name") if aliased else self.text(child)
            alias = self.field_text(child, "alias") if aliased else ""
            self.imports.append(ops.Import(module, 0, self.line(node), (), "import", alias))
            value = self.scope.value(ops.IMPORT, len(self.imports) - 1)
            self.scope.write(alias or module.partition(".")[0], value)

    def import_from(self, node: "Node") -> None:
        source = node.child_by_field_name("module_name")
        written = self.text(source) if source is not None else "__future__"
        module = written.lstrip(".").strip()
        level = written.count(".", 0, len(written) - len(written.lstrip(".")))
        names = [(n, a) for n, a in map(self.imported_name, node.children_by_field_name("name"))]
        star = any(c.type == "wildcard_import" for c in node.named_children)
        kind = "star" if star else "from"
        self.imports.append(ops.Import(module, level, self.line(node), tuple(n for n, _ in names), kind))
        index = len(self.imports) - 1
        if star:
            self.scope.emit(ops.STAR, index)
        for name, alias in names:
            self.scope.write(alias, self.scope.value(ops.FROM, index, name))

    def imported_name(self, node: "Node") -> tuple[str, str]:
        if node.type == "aliased_import":
            return self.field_text(node, "name"), self.field_text(node, "alias")
        return self.text(node), self.text(node)


_SILENT = frozenset(("comment", "pass_statement", "type_alias_statement", "ERROR"))
_STATEMENTS = {
    "expression_statement": PythonWalker.expression_statement,
    "decorated_definition": PythonWalker.decorated,
    "function_definition": PythonWalker.function_definition,
    "class_definition": PythonWalker.class_definition,
    "if_statement": PythonWalker.if_statement,
    "while_statement": PythonWalker.while_statement,
    "for_statement": PythonWalker.for_statement,
    "try_statement": PythonWalker.try_statement,
    "with_statement": PythonWalker.with_statement,
    "match_statement": PythonWalker.match_statement,
    "delete_statement": PythonWalker.delete_statement,
    "return_statement": PythonWalker.return_statement,
    "raise_statement": PythonWalker.raise_statement,
    "break_statement": PythonWalker.break_statement,
    "continue_statement": PythonWalker.break_statement,
    "global_statement": PythonWalker.global_statement,
    "nonlocal_statement": PythonWalker.global_statement,
    "import_statement": PythonWalker.import_statement,
    "import_from_statement": PythonWalker.import_from,
    "future_import_statement": PythonWalker.import_from,
    "block": PythonWalker.block,
    "ERROR": PythonWalker.block,
}
