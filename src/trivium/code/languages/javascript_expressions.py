"""JavaScript and TypeScript: expressions, patterns, parameters, functions."""

from functools import partial
from typing import TYPE_CHECKING

from trivium.code.lowering import ops
from trivium.code.lowering.scope import ANY
from trivium.code.lowering.walker import MAX_DEPTH, Walker

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION_TYPES = ("function_expression", "generator_function", "function")

_NAMING_PARENTS = frozenset(
    ("variable_declarator", "pair", "assignment_expression", "field_definition", "public_field_definition", "export_statement")
)


class JavaScriptExpressions(Walker):
    language = "javascript"

    def __init__(self, path: str, source: bytes, shared: frozenset[str] = frozenset()) -> None:
        super().__init__(path, source, shared)
        self.naming: tuple[str, Node] | None = None  # the variable or property a nameless function will be known by
        self.own_class = ANY
        self.late_exports: list[tuple[str, str]] = []
        self.joins_prefix = False

    def field(self, node: "Node", name: str) -> int:
        child = node.child_by_field_name(name)
        return self.expression(child) if child is not None else ANY

    def field_text(self, node: "Node", name: str) -> str:
        child = node.child_by_field_name(name)
        return self.text(child) if child is not None else ""

    def literal(self, node: "Node") -> str:
        return self.text(node).strip("\"'`")

    def comment_before(self, node: "Node") -> str:
        previous = node.prev_named_sibling
        if previous is None or previous.type != "comment":
            return ""
        raw = self.text(previous)
        return " ".join(raw.strip("/*").replace("\n *", "\n").split())[:1000] if raw.startswith("/**") else ""

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

    def statement(self, node: "Node") -> None:
        raise NotImplementedError

    # names and constants

    def identifier(self, node: "Node") -> int:
        name = self.text(node)
        return ANY if name == "undefined" else self.scope.read(name)

    def this(self, node: "Node") -> int:
        return self.scope.read("this")

    def super_(self, node: "Node") -> int:
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

    # reading

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

    # calls

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

    # functions

    def arrow(self, node: "Node") -> int:
        given, self.naming = self.naming, None
        anonymous = f"<arrow{self.scope.count('arrow')}>"
        parent = node.parent
        if given is None or parent is None or parent.type not in _NAMING_PARENTS:
            return self.make_function(node, anonymous, ops.LAMBDA, -1)
        definition = self.define("function", given[0], given[1], node.child_by_field_name("body"), self.comment_before(given[1]))
        in_object = given[1].type == "pair"
        return self.make_function(node, given[0] if in_object else anonymous, ops.LAMBDA, definition)

    def function_expression(self, node: "Node") -> int:
        given, self.naming = self.naming, None
        name = self.field_text(node, "name") or (given[0] if given else "")
        outer = given[1] if given else node
        if not name:
            return self.make_function(node, f"<anonymous{self.scope.count('anonymous')}>", ops.LAMBDA, -1)
        definition = self.define("function", name, outer, node.child_by_field_name("body"), self.comment_before(outer))
        return self.make_function(node, name, ops.FUNCTION, definition)

    def make_function(self, node: "Node", name: str, kind: int, definition: int, owner: int = ANY) -> int:
        before = self.prefix
        if self.joins_prefix:  # `Cls[Symbol.iterator]` is written without a dot
            self.joins_prefix, self.prefix = False, self.prefix.removesuffix(".")
        described: list[tuple[Node, Node | None, int]] = []
        parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        for child in [parameters] if parameters is not None and parameters.type == "identifier" else (
            parameters.named_children if parameters is not None else ()
        ):
            if child.type not in ("comment", "decorator"):
                described.append(self.parameter(child))
        defaults = tuple((i, v) for i, (_, d, _) in enumerate(described) if d is not None and (v := self.expression(d)) >= 0)
        types = tuple((i, t) for i, (_, _, t) in enumerate(described) if t >= 0)
        result = self.annotation(node.child_by_field_name("return_type"))
        types = (*types, (-1, result)) if result >= 0 else types
        body = partial(self.function_body, node, [d[0] for d in described])
        index, _ = self.function(name, kind, definition, self.line(node), body)
        self.prefix = before
        return self.scope.value(ops.FUNC, index, defaults, types, owner)

    def parameter(self, node: "Node") -> tuple["Node", "Node | None", int]:
        """Its pattern, its default, its declared type."""
        kind = node.type
        if kind == "assignment_pattern":
            left = node.child_by_field_name("left")
            return left or node, node.child_by_field_name("right"), ANY
        if kind in ("required_parameter", "optional_parameter"):
            pattern = node.child_by_field_name("pattern") or node
            return pattern, node.child_by_field_name("value"), self.annotation(node.child_by_field_name("type"))
        return node, None, ANY

    def function_body(self, node: "Node", patterns: list["Node"]) -> None:
        scope = self.scope
        scope.flags |= ops.JAVASCRIPT
        words = {c.type for c in node.children if not c.is_named}
        scope.flags |= ops.ASYNC if "async" in words else 0
        scope.flags |= ops.GENERATOR if "*" in words or "generator" in node.type else 0
        registers = [scope.register() for _ in patterns]
        for pattern, register in zip(patterns, registers, strict=True):
            rest = pattern.type == "rest_pattern"
            target = pattern.named_children[0] if rest and pattern.named_children else pattern
            scope.params.append((self.text(target), register, ops.VARARGS if rest else ops.POSITIONAL))
        if node.type != "arrow_function":
            scope.write("this", scope.value(ops.THIS))
        for pattern, register in zip(patterns, registers, strict=True):
            rest = pattern.type == "rest_pattern" and pattern.named_children
            self.assign(pattern.named_children[0] if rest else pattern, register, declares=True)
            self.parameter_property(pattern, register)
        body = node.child_by_field_name("body")
        if body is None:
            return
        if body.type == "statement_block":
            self.statement(body)
        else:
            scope.give_back(self.expression(body))

    def parameter_property(self, pattern: "Node", register: int) -> None:
        """TypeScript's `constructor(private x: X)` also sets a field."""
        parent = pattern.parent
        if parent is not None and parent.type in ("required_parameter", "optional_parameter"):
            if any(c.type in ("accessibility_modifier", "readonly", "override_modifier") for c in parent.children):
                self.scope.emit(ops.SETATTR, self.scope.read("this"), self.text(pattern), register)

    def annotation(self, node: "Node | None") -> int:
        """A register holding the classes a declared type names; ANY for what tells us nothing."""
        if node is None:
            return ANY
        inner = node.named_children[0] if node.type == "type_annotation" and node.named_children else node
        if inner.type in ("type_identifier", "identifier"):
            return self.scope.read(self.text(inner))
        if inner.type == "nested_type_identifier" and len(inner.named_children) == 2:
            source = self.annotation(inner.named_children[0])
            name = self.text(inner.named_children[1])
            return self.scope.value(ops.ATTR, source, name, self.line(inner)) if source >= 0 else ANY
        if inner.type == "generic_type":
            name = inner.named_children[0]
            if self.text(name) in ("Promise", "Readonly", "Partial", "Required"):
                return self.annotation(inner.named_children[1].named_children[0]) if len(inner.named_children) > 1 else ANY
            return self.annotation(name)
        if inner.type in ("union_type", "intersection_type", "parenthesized_type"):
            return self.scope.union([self.annotation(c) for c in inner.named_children])
        return ANY

    # containers

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
        given, self.naming = self.naming, None
        pairs: list[tuple[int | str, int]] = []
        spreads: list[int] = []
        accessors: list[tuple[str, int, set[str], int]] = []
        for child in node.named_children:
            kind = child.type
            if kind == "pair":
                pairs.append(self.pair(child, given))
            elif kind == "shorthand_property_identifier":
                pairs.append((self.text(child), self.scope.read(self.text(child))))
            elif kind == "spread_element":
                spreads.append(self.first(child))
            elif kind == "method_definition":
                name = self.property_name(child.child_by_field_name("name"))
                definition = self.define("function", name, child, child.child_by_field_name("body"), self.comment_before(child))
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

    def pair(self, node: "Node", given: tuple[str, "Node"] | None) -> tuple[int | str, int]:
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

    # operators

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

    # assignment

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
    "member_expression": "member", "subscript_expression": "subscript", "call_expression": "call", "new_expression": "new",
    "arrow_function": "arrow", "function_expression": "function_expression", "generator_function": "function_expression",
    "function": "function_expression", "class": "class_expression", "object": "object", "array": "array",
    "assignment_expression": "assignment", "augmented_assignment_expression": "augmented", "binary_expression": "binary",
    "ternary_expression": "ternary", "await_expression": "await_", "yield_expression": "yield_",
    "parenthesized_expression": "first", "sequence_expression": "last", "as_expression": "first",
    "satisfies_expression": "first", "non_null_expression": "first", "type_assertion": "last",
    "jsx_opening_element": "jsx", "jsx_self_closing_element": "jsx", "instantiation_expression": "first",
}  # fmt: skip
_VISITED = frozenset(
    ("template_string", "template_substitution", "unary_expression", "update_expression", "spread_element", "jsx_element",
     "jsx_fragment", "jsx_expression", "jsx_attribute", "arguments", "expression_statement", "decorator", "statement_block",
     "switch_case", "switch_default", "class_static_block")
)  # fmt: skip
