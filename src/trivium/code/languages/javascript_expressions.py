"""JavaScript and TypeScript: expressions and patterns."""

from typing import TYPE_CHECKING

from trivium.code.languages.javascript_functions import JavaScriptFunctions
from trivium.code.lowering import ops
from trivium.code.lowering.scope import ANY
from trivium.code.lowering.walker import MAX_DEPTH

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION_TYPES = ("function_expression", "generator_function", "function")


class JavaScriptExpressions(JavaScriptFunctions):
    def field(self, node: "Node", name: str) -> int:
        child = node.child_by_field_name(name)
        return self.expression(child) if child is not None else ANY

    def literal(self, node: "Node") -> str:
        return self.text(node).strip("\"'`")

    def expression(self, node: "Node") -> int:
        kind = node.type
        method = _EXPRESSIONS.get(kind)
        if method is None:
            return self.unknown(node) if kind in _VISITED else ANY
        self.depth += 1
        value: int = getattr(self, method)(node) if self.depth < MAX_DEPTH else ANY
        self.depth -= 1
        return value

    def unknown(self, node: "Node") -> int:
        self.depth += 1
        if self.depth < MAX_DEPTH:
            for child in node.named_children:
                if child.type.endswith(("_statement", "_declaration", "_block")):
                    self.statement(child)
                else:
                    self.expression(child)
        self.depth -= 1
        return ANY

    def identifier(self, node: "Node") -> int:
        name = self.text(node)
        if name == "undefined":
            return ANY
        value = self.scope.read(name)
        if "A" <= name[:1] <= "Z" and (value in self.scope.loaded or self.scope.kind == ops.MODULE):
            self.scope.mention(name, value, self.line(node))  # whoever names a class depends on it, called or not
        return value

    def this(self, _node: "Node") -> int:
        return self.scope.read("this")

    def super_(self, _node: "Node") -> int:
        return self.scope.value(ops.SUPER, ANY, self.scope.read("this"))

    def string(self, node: "Node") -> int:
        content = self.literal(node)
        return self.scope.value(ops.CONST, content) if len(content) <= 60 else ANY

    def number(self, node: "Node") -> int:
        digits = self.text(node)
        return self.scope.value(ops.CONST, int(digits)) if digits.isdecimal() and len(digits) < 10 else ANY

    def first(self, node: "Node") -> int:
        inner = [c for c in node.named_children if c.type != "comment"]
        return self.expression(inner[0]) if inner else ANY

    def last(self, node: "Node") -> int:
        values = [self.expression(c) for c in node.named_children]
        return values[-1] if values else ANY

    def member(self, node: "Node") -> int:
        source = self.field(node, "object")
        name = self.field_text(node, "property")
        return self.scope.value(ops.ATTR, source, name, self.line(node)) if source >= 0 else ANY

    def subscript(self, node: "Node") -> int:
        source = self.field(node, "object")
        symbol = self.symbol_key(node.child_by_field_name("index"))
        if symbol and source >= 0:
            return self.scope.value(ops.ATTR, source, symbol, self.line(node))
        key = self.field(node, "index")
        return self.scope.value(ops.ITEM, source, key) if source >= 0 else ANY

    def symbol_key(self, node: "Node | None") -> str:
        written = self.text(node) if node is not None and node.type == "member_expression" else ""
        return f"[{written}]" if written.startswith("Symbol.") else ""

    def property_name(self, node: "Node | None") -> str:
        if node is None:
            return ""
        if node.type == "computed_property_name":
            symbol = self.symbol_key(node.named_children[0])
            if symbol:
                return symbol
            inner = node.named_children[0]
            return self.literal(inner) if inner.type == "string" else self.text(node)
        return self.literal(node)

    def call(self, node: "Node") -> int:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return self.unknown(node)
        special = self.special_call(node, function, arguments)
        if special is not None:
            return special
        line = self.line(node)
        if function.type == "member_expression":
            source = self.field(function, "object")
            name = self.field_text(function, "property")
            args, spreads = self.arguments(arguments)
            return self.scope.value(ops.CALLM, source, name, args, (), spreads, line) if source >= 0 else ANY
        callee = self.expression(function)
        args, spreads = self.arguments(arguments)
        return self.scope.value(ops.CALL, callee, args, (), spreads, line) if callee >= 0 else ANY

    def special_call(self, node: "Node", function: "Node", arguments: "Node") -> int | None:
        given = arguments.named_children
        if function.type == "super":
            args, spreads = self.arguments(arguments)
            return self.scope.value(ops.CALLM, self.super_(function), "constructor", args, (), spreads, self.line(node))
        literal = bool(given) and given[0].type in ("string", "template_string") and "${" not in self.text(given[0])
        if function.type == "import" or (function.type == "identifier" and self.text(function) == "require"):
            kind = "dynamic" if function.type == "import" else "require"
            if literal:
                return self.required(self.literal(given[0]), self.line(node), kind)
            self.note("dynamic_import", node, kind)
            return self.unknown(arguments)
        if function.type == "identifier" and self.text(function) in ("eval", "Function"):
            self.note("reflection", node, self.text(function))
            return self.evaluated(given[0]) if literal else None
        return None

    def evaluated(self, node: "Node") -> int:
        """Code in a literal is code: read it here, as `eval` would."""
        inner = self.parse_snippet(self.literal(node))
        if inner is not None:
            kept, self.source = self.source, inner.text or b""
            for child in inner.named_children:
                self.statement(child)
            self.source = kept
        return ANY

    def parse_snippet(self, text: str) -> "Node | None":
        import tree_sitter_javascript
        from tree_sitter import Language, Parser

        tree = Parser(Language(tree_sitter_javascript.language())).parse(text.encode())
        return None if tree.root_node.has_error else tree.root_node

    def required(self, module: str, line: int, kind: str) -> int:
        self.imports.append(ops.Import(module, 0, line, (), kind))
        return self.scope.value(ops.IMPORT, len(self.imports) - 1)

    def new(self, node: "Node") -> int:
        callee = self.field(node, "constructor")
        arguments = node.child_by_field_name("arguments")
        args, spreads = self.arguments(arguments) if arguments is not None else ((), ())
        return self.scope.value(ops.NEW, callee, args, (), spreads, self.line(node)) if callee >= 0 else ANY

    def arguments(self, node: "Node") -> tuple[tuple[int, ...], tuple[int, ...]]:
        args: list[int] = []
        spreads: list[int] = []
        if node.type == "template_string":
            self.unknown(node)
            return (), ()
        for child in node.named_children:
            if child.type == "spread_element":
                spreads.append(self.first(child))
            elif child.type != "comment":
                args.append(self.argument(child))
        return tuple(args), tuple(spreads)

    def argument(self, node: "Node") -> int:
        value = self.expression(node)
        free = node.type == "identifier" and self.text(node) not in self.scope.env
        if value >= 0 and (free or node.type == "member_expression"):
            self.scope.emit(ops.REFER, value, self.line(node))
        return value

    def array(self, node: "Node") -> int:
        items: list[int] = []
        spreads: list[int] = []
        for child in node.named_children:
            if child.type == "spread_element":
                spreads.append(self.first(child))
            elif child.type != "comment":
                items.append(self.argument(child))
        return self.scope.value(ops.ARRAY, "array", tuple(items), tuple(spreads), self.site())

    def object(self, node: "Node") -> int:
        self.naming = None
        pairs: list[tuple[int | str, int]] = []
        spreads: list[int] = []
        accessors: list[tuple[str, int, set[str], int]] = []
        for child in node.named_children:
            kind = child.type
            if kind == "pair":
                pairs.append(self.pair(child))
            elif kind == "shorthand_property_identifier":
                pairs.append((self.text(child), self.scope.read(self.text(child))))
            elif kind == "spread_element":
                spreads.append(self.first(child))
            elif kind == "method_definition":
                name = self.property_name(child.child_by_field_name("name"))
                definition = self.define(
                    "function", name, child, child.child_by_field_name("body"), self.comment_before(child)
                )
                value = self.make_function(child, name, ops.FUNCTION, definition)
                words = {c.type for c in child.children} & {"get", "set"}
                if words:
                    accessors.append((name, value, words, self.line(child)))
                else:
                    pairs.append((name, value))
        table = self.scope.value(ops.TABLE, tuple(pairs), tuple(spreads), self.site())
        for name, value, words, line in accessors:
            self.attach(table, name, value, words, line)
        return table

    def attach(self, target: int, name: str, value: int, words: set[str], line: int) -> None:
        raise NotImplementedError

    def pair(self, node: "Node") -> tuple[int | str, int]:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        name: int | str = self.property_name(key)
        if key is not None and key.type == "computed_property_name" and not str(name).startswith("[Symbol."):
            name = self.expression(key.named_children[0])
        if value is None:
            return name, ANY
        if isinstance(name, str):
            self.naming = (name, node)
        result = self.argument(value)
        self.naming = None
        return name, result

    def binary(self, node: "Node") -> int:
        chain = []
        current: Node | None = node
        while current is not None and current.type == "binary_expression":
            chain.append(current)
            current = current.child_by_field_name("left")
        left = self.expression(current) if current is not None else ANY
        for link in reversed(chain):
            operator = link.child_by_field_name("operator")
            chooses = operator is not None and operator.type in ("||", "&&", "??")
            if chooses:
                self.scope.weaken()
            right = self.field(link, "right")
            if chooses:
                self.scope.strengthen()
            left = self.scope.union((left, right)) if chooses else ANY
        return left

    def ternary(self, node: "Node") -> int:
        self.field(node, "condition")
        self.scope.weaken()
        value = self.scope.union((self.field(node, "consequence"), self.field(node, "alternative")))
        self.scope.strengthen()
        return value

    def await_(self, node: "Node") -> int:
        value = self.first(node)
        return self.scope.value(ops.AWAIT, value) if value >= 0 else ANY

    def yield_(self, node: "Node") -> int:
        self.scope.flags |= ops.GENERATOR
        delegates = any(c.type == "*" for c in node.children)
        return self.scope.value(ops.YIELD, self.first(node), int(delegates))

    def jsx(self, node: "Node") -> int:
        """`<Component prop={f}/>` uses Component as a function; lower-case tags are the browser's."""
        name = node.child_by_field_name("name")
        if name is not None and self.text(name)[:1].isupper():
            value = self.expression(name)
            if value >= 0:
                self.scope.emit(ops.CALL, self.scope.register(), value, (), (), (), self.line(node))
        return self.unknown(node)

    def assignment(self, node: "Node") -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return ANY
        if left.type in ("identifier", "member_expression"):
            name = self.text(left) if left.type == "identifier" else self.field_text(left, "property")
            self.naming = (name, node) if right.type in (*_FUNCTION_TYPES, "arrow_function", "class") else None
        value = self.expression(right)
        self.naming = None
        self.assign(left, value, declares=False)
        return value

    def augmented(self, node: "Node") -> int:
        left = node.child_by_field_name("left")
        value = self.field(node, "right")
        operator = node.child_by_field_name("operator")
        if left is not None and operator is not None and self.text(operator) in ("||=", "??=", "&&="):
            value = self.scope.union((self.expression(left), value))
            self.assign(left, value, declares=False)
            return value
        return ANY

    def assign(self, node: "Node", value: int, *, declares: bool) -> None:
        kind = node.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            self.scope.write(self.text(node), value, declares=declares or self.text(node) in self.scope.env)
        elif kind == "member_expression":
            source = self.field(node, "object")
            if source >= 0:
                self.scope.emit(ops.SETATTR, source, self.field_text(node, "property"), value)
        elif kind == "subscript_expression":
            source, key = self.field(node, "object"), self.field(node, "index")
            if source >= 0:
                self.scope.emit(ops.SETITEM, source, key, value)
        elif kind == "object_pattern":
            self.object_pattern(node, value, declares)
        elif kind == "array_pattern":
            self.array_pattern(node, value, declares)
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None:
                self.assign(left, self.scope.union((value, self.expression(right))), declares=declares)
        elif kind in ("rest_pattern", "parenthesized_expression", "lexical_declaration", "variable_declaration"):
            for child in node.named_children[:1]:
                self.assign(child.child_by_field_name("name") or child, value, declares=declares)

    def object_pattern(self, node: "Node", value: int, declares: bool) -> None:
        for child in node.named_children:
            target, name = child, self.text(child)
            if child.type == "pair_pattern":
                target = child.child_by_field_name("value") or child
                name = self.property_name(child.child_by_field_name("key"))
            elif child.type == "object_assignment_pattern":
                name = self.field_text(child, "left")
            elif child.type == "rest_pattern":
                self.assign(child, value, declares=declares)
                continue
            part = self.scope.value(ops.ATTR, value, name, self.line(child)) if value >= 0 else ANY
            self.assign(target, part, declares=declares)

    def array_pattern(self, node: "Node", value: int, declares: bool) -> None:
        targets = [c for c in node.named_children if c.type != "comment"]
        star = next((i for i, t in enumerate(targets) if t.type == "rest_pattern"), -1)
        parts = tuple(self.scope.register() for _ in targets)
        self.scope.emit(ops.UNPACK, value, parts, star)
        for target, part in zip(targets, parts, strict=True):
            self.assign(target, part, declares=declares)

    def class_expression(self, node: "Node") -> int:
        raise NotImplementedError


_EXPRESSIONS = {
    "identifier": "identifier", "this": "this", "super": "super_", "string": "string", "number": "number",
    "member_expression": "member", "subscript_expression": "subscript", "call_expression": "call",
    "new_expression": "new",
    "arrow_function": "arrow", "function_expression": "function_expression",
    "generator_function": "function_expression",
    "function": "function_expression", "class": "class_expression", "object": "object", "array": "array",
    "assignment_expression": "assignment", "augmented_assignment_expression": "augmented",
    "binary_expression": "binary",
    "ternary_expression": "ternary", "await_expression": "await_", "yield_expression": "yield_",
    "parenthesized_expression": "first", "sequence_expression": "last", "as_expression": "first",
    "satisfies_expression": "first", "non_null_expression": "first", "type_assertion": "last",
    "jsx_opening_element": "jsx", "jsx_self_closing_element": "jsx", "instantiation_expression": "first",
}  # fmt: skip
_VISITED = frozenset(
    ("template_string", "template_substitution", "unary_expression", "update_expression", "spread_element",
     "jsx_element",
     "jsx_fragment", "jsx_expression", "jsx_attribute", "arguments", "expression_statement", "decorator",
     "statement_block",
     "switch_case", "switch_default", "class_static_block")
)  # fmt: skip
