"""JavaScript (and, with another grammar, TypeScript): statements, definitions, imports and exports."""

from functools import partial
from typing import TYPE_CHECKING

from trivium.code.languages.javascript_classes import JavaScriptClasses
from trivium.code.lowering import ops
from trivium.code.lowering.scope import ANY
from trivium.code.lowering.walker import MAX_DEPTH

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME = "javascript"
EXTENSIONS = (".js", ".jsx", ".mjs", ".cjs")


def grammar() -> object:
    import tree_sitter_javascript

    return tree_sitter_javascript.language()


def lower(path: str, source: bytes, tree: "Tree") -> ops.FileFacts:
    walker = JavaScriptWalker(path, source, shared=shared_names(tree.root_node))
    walker.block(tree.root_node)
    return walker.facts()


_FUNCTIONS = frozenset(
    ("function_declaration", "function_expression", "arrow_function", "method_definition", "generator_function",
     "generator_function_declaration")
)  # fmt: skip
_DECLARING = frozenset(
    ("variable_declarator", "formal_parameters", "required_parameter", "catch_clause", "arrow_function")
)


def shared_names(root: "Node") -> frozenset[str]:
    """Names that some function assigns without declaring them: they belong to code around it."""
    assigned: list[tuple[int, str]] = []
    declared: set[tuple[int, str]] = set()
    stack: list[tuple[Node, int]] = [(root, 0)]
    while stack:
        node, function = stack.pop()
        kind = node.type
        if kind == "assignment_expression" and function:
            left = node.child_by_field_name("left")
            if left is not None and left.type == "identifier":
                assigned.append((function, (left.text or b"").decode("utf-8", "replace")))
        elif kind in _DECLARING:
            declared.update((function, n) for n in _identifiers(node))
        inner = node.id if kind in _FUNCTIONS else function
        if kind in _FUNCTIONS:
            parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
            declared.update((inner, n) for n in _identifiers(parameters))
        if node.child_count:
            stack.extend((c, inner) for c in node.named_children)
    return frozenset(name for function, name in assigned if (function, name) not in declared)


def _identifiers(node: "Node | None") -> list[str]:
    if node is None:
        return []
    target = node.child_by_field_name("name") if node.type == "variable_declarator" else node
    target = node.child_by_field_name("parameter") if node.type == "catch_clause" else target
    found, stack = [], [target] if target is not None else []
    while stack:
        current = stack.pop()
        if current.type in ("identifier", "shorthand_property_identifier_pattern"):
            found.append((current.text or b"").decode("utf-8", "replace"))
        elif current.type not in ("statement_block", "class_body"):
            stack.extend(current.named_children)
    return found


class JavaScriptWalker(JavaScriptClasses):
    def block(self, node: "Node") -> None:
        """Imports and function declarations are hoisted; names declared by let and const end with the block."""
        self.depth += 1
        if self.depth < MAX_DEPTH:
            children = node.named_children
            for child in children:
                if child.type == "import_statement":
                    self.import_statement(child)
            for child in children:
                self.hoist(child)
            for child in children:
                self.scope.ended = False
                self.statement(child)
        self.depth -= 1

    def hoist(self, node: "Node") -> None:
        inner = node.child_by_field_name("declaration") if node.type == "export_statement" else node
        if inner is not None and inner.type in ("function_declaration", "generator_function_declaration"):
            self.function_declaration(inner, node)

    def statement(self, node: "Node") -> None:
        method = _STATEMENTS.get(node.type)
        if method is not None:
            method(self, node)
        elif node.type not in _SILENT:
            self.expression(node)

    def children(self, node: "Node") -> None:
        for child in node.named_children:
            self.statement(child)

    def silent(self, node: "Node") -> None:
        """Hoisted already."""

    def function_declaration(self, node: "Node", outer: "Node") -> None:
        name = self.field_text(node, "name")
        definition = self.define("function", name, outer, node.child_by_field_name("body"), self.comment_before(outer))
        self.scope.write(name, self.make_function(node, name, ops.FUNCTION, definition))

    def declaration(self, node: "Node") -> None:
        for child in node.named_children:
            if child.type == "variable_declarator":
                self.declarator(child, node)

    def declarator(self, node: "Node", outer: "Node") -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        result = ANY
        written = node.child_by_field_name("type")
        declared = self.declared_type(written) if written is not None else ANY
        if value is not None:
            self.naming = (self.text(name), outer) if name.type == "identifier" else None
            result = self.expression(value)
            self.naming = None
        elif declared >= 0:
            result = self.scope.value(ops.INSTANCE, declared)
        self.assign(name, result, declares=True)

    # control flow

    def if_statement(self, node: "Node") -> None:
        self.field(node, "condition")
        then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        self.scope.branch(self.arm(then), self.arm(other))

    def arm(self, node: "Node | None") -> "partial[None] | None":
        return partial(self.scoped, node) if node is not None else None

    def scoped(self, node: "Node") -> None:
        self.depth += 1
        if self.depth < MAX_DEPTH:
            self.children(node) if node.type in ("else_clause", "finally_clause") else self.statement(node)
        self.depth -= 1

    def while_statement(self, node: "Node") -> None:
        self.scope.loop(partial(self.children, node))

    def for_statement(self, node: "Node") -> None:
        start = node.child_by_field_name("initializer")
        if start is not None:
            self.statement(start)
        rest = [c for c in node.named_children if start is None or c.id != start.id]
        self.scope.loop(partial(self.several, rest))

    def several(self, nodes: list["Node"]) -> None:
        for node in nodes:
            self.statement(node)

    def for_in(self, node: "Node") -> None:
        source = self.field(node, "right")
        operator = node.child_by_field_name("operator")
        iterates = operator is not None and self.text(operator) == "of"
        self.scope.loop(partial(self.for_body, node, source if iterates else ANY, self.line(node)))

    def for_body(self, node: "Node", source: int, line: int) -> None:
        left, body = node.child_by_field_name("left"), node.child_by_field_name("body")
        if left is not None:
            self.assign(left, self.scope.value(ops.ITER, source, line) if source >= 0 else ANY, declares=True)
        if body is not None:
            self.statement(body)

    def try_statement(self, node: "Node") -> None:
        body, handler = node.child_by_field_name("body"), node.child_by_field_name("handler")
        self.scope.branch(self.arm(body), partial(self.catch, handler) if handler is not None else None)
        final = node.child_by_field_name("finalizer")
        if final is not None:
            self.children(final)

    def catch(self, node: "Node") -> None:
        parameter, body = node.child_by_field_name("parameter"), node.child_by_field_name("body")
        if parameter is not None:
            self.assign(parameter, ANY, declares=True)
        if body is not None:
            self.statement(body)

    def switch_statement(self, node: "Node") -> None:
        self.field(node, "value")
        body = node.child_by_field_name("body")
        cases = body.named_children if body is not None else []
        self.scope.branch(*(partial(self.case, c) for c in cases), None)

    def case(self, node: "Node") -> None:
        self.children(node)
        self.scope.ended = False  # a case's break ends the case, not the code around it

    def return_statement(self, node: "Node") -> None:
        for child in node.named_children:
            self.scope.give_back(self.expression(child))
        self.scope.leave("return")

    def throw_statement(self, node: "Node") -> None:
        self.unknown(node)
        self.scope.leave("return")

    def break_statement(self, node: "Node") -> None:
        self.scope.leave(node.type.removesuffix("_statement"))

    # modules

    def import_statement(self, node: "Node") -> None:
        source = node.child_by_field_name("source")
        if source is None:
            self.import_require(node)
            return
        clause = next((c for c in node.named_children if c.type == "import_clause"), None)
        only_types = any(c.type == "type" for c in node.children)
        module, kind = self.literal(source), "type" if only_types else "from"
        names = self.imported_names(clause)
        self.imports.append(ops.Import(module, 0, self.line(node), tuple(n for n, _ in names), kind))
        index = len(self.imports) - 1
        for name, alias in names:
            value = self.scope.value(ops.IMPORT, index) if name == "*" else self.scope.value(ops.FROM, index, name)
            self.scope.write(alias, value)

    def import_require(self, node: "Node") -> None:
        """TypeScript's `import x = require("y")`."""
        clause = next((c for c in node.named_children if c.type == "import_require_clause"), None)
        source = clause.child_by_field_name("source") if clause is not None else None
        if clause is not None and source is not None:
            value = self.required(self.literal(source), self.line(node), "require")
            self.scope.write(self.text(clause.named_children[0]), value)

    def imported_names(self, clause: "Node | None") -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for child in clause.named_children if clause is not None else ():
            if child.type == "identifier":
                found.append(("default", self.text(child)))
            elif child.type == "namespace_import":
                found.append(("*", self.text(child.named_children[0])))
            elif child.type == "named_imports":
                for part in child.named_children:
                    if part.type == "import_specifier":
                        name = self.specifier(part, "name")
                        found.append((name, self.specifier(part, "alias") or name))
        return found

    def specifier(self, node: "Node", field: str) -> str:
        child = node.child_by_field_name(field)
        if child is None:
            return ""
        return self.literal(child) if child.type == "string" else self.text(child)

    def export_statement(self, node: "Node") -> None:
        source, declaration = node.child_by_field_name("source"), node.child_by_field_name("declaration")
        value = node.child_by_field_name("value")
        default = any(c.type == "default" for c in node.children)
        if source is not None:
            self.re_export(node, self.literal(source))
        elif declaration is not None:
            before = set(self.scope.names)
            names = self.declared_names(declaration)
            self.statement(declaration)
            for name in names or sorted(self.scope.names - before):
                self.scope.emit(ops.EXPORT, "default" if default else name, self.scope.read(name))
        elif value is not None:
            self.naming = ("default", node)
            self.scope.emit(ops.EXPORT, "default", self.expression(value))
            self.naming = None
        else:
            self.export_names(node)

    def declared_names(self, node: "Node") -> list[str]:
        name = node.child_by_field_name("name")
        if name is not None:
            return [self.text(name)]
        return [n for c in node.named_children if c.type == "variable_declarator" for n in _identifiers(c)]

    def export_names(self, node: "Node") -> None:
        for clause in node.named_children:
            for part in clause.named_children if clause.type == "export_clause" else ():
                name = self.specifier(part, "name")
                self.late_exports.append((self.specifier(part, "alias") or name, name))
            if clause.type == "identifier":  # TypeScript's `export = x`
                self.scope.emit(ops.SETATTR, self.scope.read("module"), "exports", self.expression(clause))

    def re_export(self, node: "Node", module: str) -> None:
        clause = next((c for c in node.named_children if c.type == "export_clause"), None)
        named = next((c for c in node.named_children if c.type == "namespace_export"), None)
        names = [] if clause is None else [p for p in clause.named_children if p.type == "export_specifier"]
        taken = tuple(self.specifier(p, "name") for p in names)
        self.imports.append(ops.Import(module, 0, self.line(node), taken, "from"))
        index = len(self.imports) - 1
        if named is not None:
            value = self.scope.value(ops.IMPORT, index)
            self.scope.emit(ops.EXPORT, self.text(named.named_children[-1]), value)
        elif clause is None:
            self.scope.emit(ops.STAR, index)
        for part, name in zip(names, taken, strict=True):
            self.scope.emit(ops.EXPORT, self.specifier(part, "alias") or name, self.scope.value(ops.FROM, index, name))

    def facts(self) -> ops.FileFacts:
        for exported, name in self.late_exports:
            self.scope.emit(ops.EXPORT, exported, self.scope.read(name))
        return super().facts()


_SILENT = frozenset(("comment", "empty_statement", "ERROR", "debugger_statement", "hash_bang_line"))
J = JavaScriptWalker
_STATEMENTS = {
    "expression_statement": J.children,
    "function_declaration": J.silent,
    "generator_function_declaration": J.silent,
    "class_declaration": J.class_statement,
    "abstract_class_declaration": J.class_statement,
    "interface_declaration": J.interface_statement,
    "enum_declaration": J.enum_statement,
    "type_alias_declaration": J.alias_statement,
    "internal_module": J.namespace_statement,
    "module": J.namespace_statement,
    "ambient_declaration": J.children,
    "lexical_declaration": J.declaration,
    "variable_declaration": J.declaration,
    "if_statement": J.if_statement,
    "while_statement": J.while_statement,
    "do_statement": J.while_statement,
    "for_statement": J.for_statement,
    "for_in_statement": J.for_in,
    "try_statement": J.try_statement,
    "switch_statement": J.switch_statement,
    "return_statement": J.return_statement,
    "throw_statement": J.throw_statement,
    "break_statement": J.break_statement,
    "continue_statement": J.break_statement,
    "import_statement": J.silent,
    "export_statement": J.export_statement,
    "statement_block": J.block,
    "labeled_statement": J.children,
    "with_statement": J.children,
    "else_clause": J.children,
    "ERROR": J.block,
}
