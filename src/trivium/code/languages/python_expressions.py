"""Python: expressions, assignment targets, parameters, arguments."""

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from trivium.code.lowering import ops
from trivium.code.lowering.scope import ANY
from trivium.code.lowering.walker import MAX_DEPTH, Walker

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASS_NAME = re.compile(r"\b[A-Z]\w*")
REFLECTION = frozenset(
    ("eval", "exec", "__import__", "globals", "locals", "vars", "setattr", "getattr", "import_module")
)
_DUNDER = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
    "**": "__pow__", "@": "__matmul__", "&": "__and__", "|": "__or__", "^": "__xor__", "<<": "__lshift__",
    ">>": "__rshift__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__", "==": "__eq__", "!=": "__ne__",
}  # fmt: skip
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


class PythonExpressions(Walker):
    language = "python"

    def field(self, node: "Node", name: str) -> int:
        child = node.child_by_field_name(name)
        return self.expression(child) if child is not None else ANY

    def field_text(self, node: "Node", name: str) -> str:
        child = node.child_by_field_name(name)
        return self.text(child) if child is not None else ""

    def expression(self, node: "Node") -> int:
        kind = node.type
        if kind == "identifier":  # two in five nodes
            name = self.text(node)
            return self.class_name(node, name) if "A" <= name[:1] <= "Z" else self.scope.read(name)
        method = _EXPRESSIONS.get(kind)
        if method is None:
            return ANY
        self.depth += 1
        value = method(self, node) if self.depth < MAX_DEPTH else ANY
        self.depth -= 1
        return value

    # names and constants

    def identifier(self, node: "Node") -> int:
        return self.scope.read(self.text(node))

    def class_name(self, node: "Node", name: str) -> int:
        """A name that is written like a class's: whoever names it depends on it, called or not."""
        value = self.scope.read(name)
        if value in self.scope.loaded or self.scope.kind == ops.MODULE:
            self.scope.mention(name, value, self.line(node))
        return value

    def string(self, node: "Node") -> int:
        raw = self.text(node)
        if raw[0] in "\"'" and "\\" not in raw:
            content = raw.strip(raw[0])
            return self.scope.value(ops.CONST, content) if len(content) <= 60 else ANY
        parts = node.named_children
        if any(p.type == "interpolation" for p in parts):
            for part in parts:
                self.unknown(part)
            return ANY
        content = "".join(self.text(p) for p in parts if p.type == "string_content")
        return self.scope.value(ops.CONST, content) if len(content) <= 60 else ANY

    def integer(self, node: "Node") -> int:
        digits = self.text(node)
        return self.scope.value(ops.CONST, int(digits)) if digits.isdecimal() and len(digits) < 10 else ANY

    def first(self, node: "Node") -> int:
        inner = node.named_children
        return self.expression(inner[0]) if inner else ANY

    # reading

    def attribute(self, node: "Node") -> int:
        parts = node.named_children
        if len(parts) != 2:
            return self.unknown(node)
        source, name = self.expression(parts[0]), self.text(parts[1])
        if source < 0:
            return ANY
        value = self.scope.value(ops.ATTR, source, name, self.line(node))
        if "A" <= name[:1] <= "Z":
            self.scope.mention(self.text(node), value, self.line(node))
        return value

    def subscript(self, node: "Node") -> int:
        source = self.field(node, "value")
        keys = node.children_by_field_name("subscript")
        if len(keys) == 1 and keys[0].type == "slice":
            return self.slice(source, keys[0])
        key = [self.expression(k) for k in keys][-1] if keys else ANY
        return self.scope.value(ops.ITEM, source, key) if source >= 0 else ANY

    def slice(self, source: int, node: "Node") -> int:
        bounds: list[int | None] = [None]
        for child in node.children:
            if child.type == ":":
                bounds.append(None)
            else:
                self.expression(child)
                digits = self.text(child)
                bounds[-1] = int(digits) if digits.isdecimal() and len(digits) < 6 else -1
        start, stop = bounds[0], bounds[1] if len(bounds) > 1 else None
        if len(bounds) > 2:
            start = -1
        return self.scope.value(ops.SLICE, source, start, stop, self.site()) if source >= 0 else ANY

    # calls

    def call(self, node: "Node") -> int:
        parts = node.named_children
        if len(parts) != 2:
            return self.unknown(node)
        function, arguments = parts
        line = self.line(node)
        if function.type == "attribute":
            inner = function.named_children
            source, name = self.expression(inner[0]), self.text(inner[-1])
            if name in REFLECTION:
                self.note("reflection", node, name)
            args, keywords, spreads = self.arguments(arguments)
            if source < 0:
                self.notes.append(("unresolved_call", line, name))
                return ANY
            return self.scope.value(ops.CALLM, source, name, args, keywords, spreads, line)
        if function.type == "identifier":
            special = self.special_call(node, self.text(function), arguments)
            if special is not None:
                return special
        callee = self.expression(function)
        args, keywords, spreads = self.arguments(arguments)
        return self.scope.value(ops.CALL, callee, args, keywords, spreads, line) if callee >= 0 else ANY

    def special_call(self, node: "Node", name: str, arguments: "Node") -> int | None:
        if name == "super":
            given = [self.expression(a) for a in arguments.named_children]
            owner = given[0] if given else -1
            receiver = given[1] if len(given) > 1 else self.scope.params[0][1] if self.scope.params else -1
            return self.scope.value(ops.SUPER, owner, receiver)
        if name in ("eval", "exec") and [a.type for a in arguments.named_children[:1]] == ["string"]:
            self.evaluated(arguments.named_children[0])
        if name in REFLECTION:
            literal = [a.type for a in arguments.named_children][1:2] == ["string"]
            if not (literal and name in ("getattr", "setattr")):
                self.note("reflection", node, name)
        return None

    def evaluated(self, node: "Node") -> None:
        """Code in a literal is code: read it here, as `eval` would."""
        import tree_sitter_python
        from tree_sitter import Language, Parser

        content = "".join(self.text(p) for p in node.named_children if p.type == "string_content")
        root = Parser(Language(tree_sitter_python.language())).parse(content.encode()).root_node
        for child in root.named_children if not root.has_error else ():
            self.unknown(child)

    def arguments(self, node: "Node") -> tuple[tuple[int, ...], tuple[tuple[str, int], ...], tuple[int, ...]]:
        args: list[int] = []
        keywords: list[tuple[str, int]] = []
        spreads: list[int] = []
        if node.type == "generator_expression":
            return (self.expression(node),), (), ()
        for child in node.named_children:
            kind = child.type
            if kind == "keyword_argument":
                keywords.append((self.field_text(child, "name"), self.argument(child.named_children[-1])))
            elif kind == "list_splat":
                spreads.append(self.first(child))
            elif kind == "dictionary_splat":
                keywords.append(("**", self.first(child)))
            elif kind != "comment":
                args.append(self.argument(child))
        return tuple(args), tuple(keywords), tuple(spreads)

    def argument(self, node: "Node") -> int:
        value = self.expression(node)
        kind = node.type
        outside = value in self.scope.loaded or (kind == "identifier" and self.scope.kind == ops.MODULE)
        if value >= 0 and (outside or kind == "attribute"):
            self.scope.emit(ops.REFER, value, self.line(node))
        return value

    # functions

    def lambda_(self, node: "Node") -> int:
        name = f"<lambda{self.scope.count('lambda')}>"
        body = node.child_by_field_name("body")
        return self.make_function(node, name, ops.LAMBDA, -1, partial(self.lambda_body, body))

    def lambda_body(self, body: "Node | None") -> None:
        if body is not None:
            self.scope.give_back(self.expression(body))

    def make_function(self, node: "Node", name: str, kind: int, definition: int, body: Callable[[], None]) -> int:
        parameters = node.child_by_field_name("parameters")
        children = [c for c in parameters.named_children if c.type != "comment"] if parameters is not None else []
        kept, self.also_named = self.also_named, []
        described = [self.parameter(c) for c in children]
        index, _ = self.function(name, kind, definition, self.line(node), partial(self.enter, described, body))
        takes = [d for d in described if d[0]]
        defaults = tuple((i, d[2]) for i, d in enumerate(takes) if d[2] >= 0)
        types = tuple((i, d[3]) for i, d in enumerate(takes) if d[3] >= 0)
        result = node.child_by_field_name("return_type")
        declared = self.annotation(result) if result is not None else ANY
        if declared >= 0:
            types = (*types, (-1, declared))
        types = (*types, *((ops.NAMED, register) for register in self.also_named if register >= 0))
        self.also_named = kept
        owner = self.scope.classes[-1][0] if kind == ops.METHOD and self.scope.classes else ANY
        return self.scope.value(ops.FUNC, index, defaults, types, owner)

    def enter(self, described: list[tuple[str, int, int, int]], body: Callable[[], None]) -> None:
        keyword_only = False
        for name, how, _, _ in described:
            if not name:
                keyword_only = keyword_only or how == ops.KEYWORD_ONLY
                continue
            how = ops.KEYWORD_ONLY if keyword_only and how == ops.POSITIONAL else how
            keyword_only = keyword_only or how == ops.VARARGS
            register = self.scope.register()
            self.scope.params.append((name, register, how))
            self.scope.names.add(name)
            self.scope.env[name] = register
            if name in self.shared:
                self.scope.write(name, register)
        body()

    def parameter(self, node: "Node") -> tuple[str, int, int, int]:
        """Name (empty for a bare `*` or `/`), how it takes arguments, default, declared type."""
        kind = node.type
        if kind == "keyword_separator":
            return "", ops.KEYWORD_ONLY, ANY, ANY
        if kind == "positional_separator":
            return "", ops.POSITIONAL, ANY, ANY
        declared = node.child_by_field_name("type")
        type_ = self.annotation(declared) if declared is not None else ANY
        default = self.field(node, "value") if kind in ("default_parameter", "typed_default_parameter") else ANY
        target = node.child_by_field_name("name") or (node.named_children[0] if node.named_children else node)
        return self.name_of(target), self.taken(target if kind == "typed_parameter" else node), default, type_

    def name_of(self, node: "Node") -> str:
        inner = node.named_children
        return self.text(inner[0] if inner else node)

    def taken(self, node: "Node") -> int:
        return {"list_splat_pattern": ops.VARARGS, "dictionary_splat_pattern": ops.KEYWORDS}.get(
            node.type, ops.POSITIONAL
        )

    def annotation(self, node: "Node") -> int:
        """A register holding the classes a declared type names; ANY for what tells us nothing. Classes that stand
        deeper in it (`list[User]`) are added to `also_named`."""
        inner = node.named_children[0] if node.type == "type" and node.named_children else node
        if inner.type == "identifier":
            return self.scope.read(self.text(inner))
        if inner.type == "attribute":
            return self.expression(inner)
        if inner.type == "string":
            written = self.text(inner).strip("\"'")
            if written.isidentifier():
                return self.scope.read(written)
            self.also_named += [self.scope.read(name) for name in _CLASS_NAME.findall(written)]
            return ANY
        if inner.type == "binary_operator":
            return self.scope.union([self.annotation(c) for c in inner.named_children])
        if inner.type == "generic_type" and self.text(inner.named_children[0]) in ("Optional", "Union", "Annotated"):
            return self.scope.union([self.annotation(c) for c in inner.named_children[1].named_children])
        self.also_named += [self.annotation(c) for c in inner.named_children if c.type not in ("comment", "integer")]
        return ANY

    # containers

    def array(self, node: "Node") -> int:
        items: list[int] = []
        spreads: list[int] = []
        for child in node.named_children:
            if child.type == "list_splat":
                spreads.append(self.first(child))
            elif child.type != "comment":
                items.append(self.argument(child))
        return self.scope.value(ops.ARRAY, node.type, tuple(items), tuple(spreads), self.site())

    def dictionary(self, node: "Node") -> int:
        pairs: list[tuple[int, int]] = []
        spreads: list[int] = []
        for child in node.named_children:
            if child.type == "pair":
                pairs.append((self.field(child, "key"), self.argument(child.named_children[-1])))
            elif child.type == "dictionary_splat":
                spreads.append(self.first(child))
        return self.scope.value(ops.TABLE, tuple(pairs), tuple(spreads), self.site())

    def comprehension(self, node: "Node") -> int:
        result: list[int] = []
        shadowed = dict(self.scope.env)
        kind = node.type

        def body() -> None:
            for clause in node.named_children[1:]:
                if clause.type == "for_in_clause":
                    self.comprehension_for(clause)
                else:
                    self.first(clause)
            element = node.child_by_field_name("body")
            if element is not None and element.type == "pair":
                result.extend(self.expression(c) for c in element.named_children)
            elif element is not None:
                result.append(self.expression(element))

        classes, self.scope.classes = self.scope.classes, []
        inner_names, has_inner = self.scope.names, self.scope.has_inner
        self.scope.names = set(inner_names)
        self.scope.loop(body)
        self.scope.names = inner_names | (self.scope.names if self.scope.has_inner and not has_inner else set())
        self.scope.classes = classes
        self.scope.env = {k: v for k, v in self.scope.env.items() if k in shadowed} | {
            k: v for k, v in shadowed.items() if k not in self.scope.env
        }
        if kind == "dictionary_comprehension" and len(result) == 2:
            return self.scope.value(ops.TABLE, ((ANY, result[1]),), (), self.site())
        return self.scope.value(ops.ARRAY, "comprehension", (), (self.wrap(result),), self.site())

    def wrap(self, result: list[int]) -> int:
        return self.scope.value(ops.ARRAY, "any", tuple(result[:1]), (), self.site())

    def comprehension_for(self, node: "Node") -> None:
        source = self.field(node, "right")
        left = node.child_by_field_name("left")
        if left is not None:
            self.assign_local(left, self.scope.value(ops.ITER, source, self.line(node)))

    def assign_local(self, node: "Node", value: int) -> None:
        """A comprehension's variable: bound in the register map only, so that it leaks nowhere."""
        if node.type == "identifier":
            self.scope.env[self.text(node)] = value
            if self.scope.kind != ops.MODULE:
                self.scope.names.add(self.text(node))
                if self.scope.has_inner:
                    self.scope.write(self.text(node), value)
        else:
            parts = [self.scope.register() for _ in node.named_children]
            self.scope.emit(ops.UNPACK, value, tuple(parts), -1)
            for child, part in zip(node.named_children, parts, strict=True):
                self.assign_local(child, part)

    # operators

    def binary(self, node: "Node") -> int:
        chain = []
        current: Node | None = node
        while current is not None and current.type == "binary_operator":
            chain.append(current)
            current = current.child_by_field_name("left")
        left = self.expression(current) if current is not None else ANY
        for link in reversed(chain):
            operator = link.child_by_field_name("operator")
            left = self.operator(link, left, self.field(link, "right"), operator)
        return left

    def operator(self, node: "Node", left: int, right: int, operator: "Node | None") -> int:
        name = _DUNDER.get(operator.type if operator is not None else "", "")
        if not name or (left < 0 and right < 0):
            return ANY
        return self.scope.value(ops.OPERATOR, left, right, name, self.line(node))

    def unary(self, node: "Node") -> int:
        value = self.field(node, "argument")
        name = _UNARY.get(self.field_text(node, "operator"), "")
        return self.scope.value(ops.OPERATOR, value, ANY, name, self.line(node)) if value >= 0 and name else ANY

    def comparison(self, node: "Node") -> int:
        inner = node.children
        if len(inner) == 3 and inner[1].type in _DUNDER:
            return self.operator(node, self.expression(inner[0]), self.expression(inner[2]), inner[1])
        if len(inner) == 3 and inner[1].type in ("in", "not in"):
            left, right = self.expression(inner[0]), self.expression(inner[2])
            if right >= 0:
                self.scope.value(ops.OPERATOR, right, left, "__contains__", self.line(node))
            return ANY
        return self.unknown(node)

    def boolean(self, node: "Node") -> int:
        left = self.field(node, "left")
        self.scope.weaken()
        right = self.field(node, "right")
        self.scope.strengthen()
        return self.scope.union((left, right))

    def conditional(self, node: "Node") -> int:
        parts = [self.expression(c) for c in node.named_children]
        return self.scope.union(parts[:1] + parts[2:])

    def await_(self, node: "Node") -> int:
        value = self.first(node)
        return self.scope.value(ops.AWAIT, value) if value >= 0 else ANY

    def yield_(self, node: "Node") -> int:
        self.scope.flags |= ops.GENERATOR
        delegates = any(c.type == "from" for c in node.children)
        return self.scope.value(ops.YIELD, self.first(node), int(delegates))

    # assignment

    def assignment(self, node: "Node") -> int:
        right = node.child_by_field_name("right")
        value = self.argument(right) if right is not None else ANY
        left = node.child_by_field_name("left")
        declared = node.child_by_field_name("type")
        if declared is not None:
            type_ = self.declared_type(declared)
            if node.child_by_field_name("right") is None:
                value = self.scope.value(ops.INSTANCE, type_) if type_ >= 0 else ANY
        if left is not None:
            self.assign(left, value)
        return value

    def declared_type(self, node: "Node") -> int:
        """Of a variable: whoever declares it depends on every class the type names."""
        kept, self.also_named = self.also_named, []
        type_ = self.annotation(node)
        for register in (type_, *self.also_named):
            self.scope.mention(f"{register}", register, self.line(node))
        self.also_named = kept
        return type_

    def augmented(self, node: "Node") -> int:
        left = node.child_by_field_name("left")
        right = self.field(node, "right")
        if left is None:
            return ANY
        operator = node.child_by_field_name("operator")
        name = _DUNDER.get(operator.type.removesuffix("="), "") if operator is not None else ""
        before = self.expression(left)
        if name and before >= 0:
            value = self.scope.value(ops.OPERATOR, before, right, "__i" + name[2:], self.line(node))
            self.assign(left, value)
        return ANY

    def named(self, node: "Node") -> int:
        value = self.field(node, "value")
        self.scope.write(self.field_text(node, "name"), value)
        return value

    def assign(self, node: "Node", value: int) -> None:
        kind = node.type
        if kind == "identifier":
            self.scope.write(self.text(node), value)
        elif kind == "attribute":
            source = self.field(node, "object")
            if source >= 0:
                self.scope.emit(ops.SETATTR, source, self.field_text(node, "attribute"), value)
        elif kind == "subscript":
            source = self.field(node, "value")
            keys = [self.expression(k) for k in node.children_by_field_name("subscript")]
            if source >= 0:
                self.scope.emit(ops.SETITEM, source, keys[-1] if keys else ANY, value)
        elif node.named_children:
            self.unpack(node, value)

    def unpack(self, node: "Node", value: int) -> None:
        targets = [c for c in node.named_children if c.type != "comment"]
        if node.type in ("as_pattern_target", "parenthesized_expression", "list_splat_pattern"):
            self.assign(targets[0], value)
            return
        star = next((i for i, t in enumerate(targets) if t.type in ("list_splat_pattern", "list_splat")), -1)
        parts = tuple(self.scope.register() for _ in targets)
        self.scope.emit(ops.UNPACK, value, parts, star)
        for target, part in zip(targets, parts, strict=True):
            self.assign(target, part)


P = PythonExpressions
_EXPRESSIONS = {
    "identifier": P.identifier,
    "attribute": P.attribute,
    "subscript": P.subscript,
    "call": P.call,
    "string": P.string,
    "concatenated_string": P.unknown,
    "integer": P.integer,
    "lambda": P.lambda_,
    "list": P.array,
    "tuple": P.array,
    "set": P.array,
    "expression_list": P.array,
    "pattern_list": P.array,
    "dictionary": P.dictionary,
    "list_comprehension": P.comprehension,
    "set_comprehension": P.comprehension,
    "generator_expression": P.comprehension,
    "dictionary_comprehension": P.comprehension,
    "binary_operator": P.binary,
    "comparison_operator": P.comparison,
    "boolean_operator": P.boolean,
    "not_operator": P.unknown,
    "unary_operator": P.unary,
    "conditional_expression": P.conditional,
    "parenthesized_expression": P.first,
    "await": P.await_,
    "yield": P.yield_,
    "assignment": P.assignment,
    "augmented_assignment": P.augmented,
    "named_expression": P.named,
    "list_splat": P.first,
    "interpolation": P.unknown,
    "expression_statement": P.unknown,
    "print_statement": P.unknown,
    "assert_statement": P.unknown,
    "delete_statement": P.unknown,
    "exec_statement": P.unknown,
    "finally_clause": P.unknown,
    "case_pattern": P.unknown,
    "if_clause": P.unknown,
}
