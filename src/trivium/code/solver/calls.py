"""Calling: which function a value leads to, how arguments meet parameters, what comes back."""

from typing import Any

from trivium.code.lowering import ops
from trivium.code.solver import heap as h
from trivium.code.solver.attributes import Attributes
from trivium.code.solver.engine import Frame, OutOfBudget, Summary, Values
from trivium.code.solver.heap import ANY_KEY, EMPTY, Cell, Env

Args = tuple[Values, ...]
Keywords = tuple[tuple[str, Values], ...]

SMALL = 16  # ops: functions up to this length are entered per call even in a large program
MAX_DEPTH = 60
MAX_SMALL_DEPTH = 3
MAX_RECURSION = 2
MAX_CONTEXTS = 48


class Calls(Attributes):
    def call(
        self, frame: Frame, callees: Values, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        if len(callees) == 1:
            (callee,) = callees
            return self.call_one(frame, callee, args, keywords, spreads, line, op)
        found = EMPTY
        self.alternatives += 1
        for callee in callees:
            found |= self.call_one(frame, callee, args, keywords, spreads, line, op)
        self.alternatives -= 1
        return found

    def call_one(
        self, frame: Frame, callee: int, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        heap = self.heap
        kind, data = heap.kind[callee], heap.data[callee]
        if kind == h.FUNC:
            return self.invoke(frame, callee, EMPTY, args, keywords, spreads, line, op)
        if kind == h.BOUND:
            return self.invoke_bound(frame, data[0], data[1], args, keywords, spreads, line, op)
        if kind == h.CLASS:
            return self.construct(frame, callee, args, keywords, spreads, line, op)
        if kind == h.EXTERNAL:
            return self.call_external(frame, callee, args, keywords, spreads, line, op)
        if kind == h.INSTANCE:
            method = self.attribute(frame, self.heap.only[callee], "__call__", line)
            return self.call(frame, method - {callee}, args, keywords, spreads, line, op)
        if kind in (h.STATICMETHOD, h.CLASSMETHOD):
            return self.call(frame, data, args, keywords, spreads, line, op)
        if kind == h.PARTIAL:
            return self.call(frame, data[0], data[1] + args, data[2] + keywords, spreads, line, op)
        if kind == h.IDENTITY:
            return args[0] if args else EMPTY
        if kind == h.SETTER:
            return self.complete_property(data[0], data[1], args)
        return EMPTY

    def complete_property(self, source: int, name: str, args: Args) -> Values:
        getter, setter = self.heap.data[source]
        given = args[0] if args else EMPTY
        data = [given, setter] if name == "getter" else [getter, given if name == "setter" else setter]
        return frozenset((self.heap.make(h.PROPERTY, data, ("property", source, name, given)),))

    def invoke_bound(
        self,
        frame: Frame,
        function: int,
        receiver: int,
        args: Args,
        keywords: Keywords,
        spreads: Args,
        line: int,
        op: Any,
    ) -> Values:
        """Python passes the receiver as the first argument, JavaScript as `this`."""
        me = self.heap.only[receiver]
        if self.program.units[self.program.unit_of[self.heap.data[function][0]]].language == "python":
            return self.invoke(frame, function, EMPTY, (me, *args), keywords, spreads, line, op)
        return self.invoke(frame, function, me, args, keywords, spreads, line, op)

    def construct(
        self, frame: Frame, cls: int, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        heap = self.heap
        self.creates[frame.number].setdefault(cls, line)
        self.resolved.add((frame.number, line))
        if self.exact:
            context = self.context(frame, op)
            instance = heap.make(h.INSTANCE, cls, ("i", cls, context), not frame.weak)
        else:
            instance = heap.instance(cls)
        me = self.heap.only[instance]
        if heap.data[cls].javascript:
            self.construct_javascript(frame, cls, instance, args, spreads, line, op)
            return me
        made, is_written = EMPTY, False
        for name in ("__new__", "__init__"):
            for cell, _ in self.find(frame, cls, name):
                for function in self.read(frame, cell):
                    first = self.heap.only[cls] if name == "__new__" else me
                    if heap.kind[function] == h.STATICMETHOD:
                        function = min(heap.data[function], default=h.UNKNOWN)
                    if heap.kind[function] == h.FUNC:
                        is_written = is_written or name == "__init__"
                        result = self.invoke(frame, function, EMPTY, (first, *args), keywords, spreads, line, op)
                        made |= result if name == "__new__" else EMPTY
        if not is_written:
            self.fill_fields(frame, cls, instance, args, keywords, line)
        return me | frozenset(v for v in made if heap.kind[v] == h.INSTANCE)

    def fill_fields(self, frame: Frame, cls: int, instance: int, args: Args, keywords: Keywords, line: int) -> None:
        """A constructor that nobody wrote (a dataclass's, a named tuple's) takes the declared fields in order."""
        heap, units = self.heap, self.program.units
        classes = [heap.data[c].key for c in reversed(heap.mro(cls)) if heap.kind[c] == h.CLASS]
        fields = dict.fromkeys(name for unit, index in classes for name in units[unit].classes[index].fields)
        if not fields:
            return
        for name, values in (*zip(fields, args, strict=False), *keywords):
            if name in fields and values:
                self.write_attribute(frame, instance, name, values, True)
        after = self.attribute(frame, heap.only[instance], "__post_init__", line)
        self.call(frame, after, (), (), (), line, ("post_init", instance))

    def construct_javascript(
        self, frame: Frame, cls: int, instance: int, args: Args, spreads: Args, line: int, op: Any
    ) -> None:
        """The nearest constructor up the chain, then the field initialisers of every class on it."""
        me, todo, seen = self.heap.only[instance], [cls], set()
        constructed = False
        while todo:
            current = todo.pop(0)
            seen.add(current)
            if self.heap.kind[current] == h.FUNC and not constructed:
                self.invoke(frame, current, me, args, (), spreads, line, op)
                constructed = True
            if self.heap.kind[current] != h.CLASS:
                continue
            record = self.heap.data[current]
            for initialiser in self.own_field(frame, current, "<fields>", line):
                self.invoke_silently(frame, initialiser, me, line, op)
            own = self.own_field(frame, record.prototype, "constructor", line)
            if own and not constructed:
                constructed = True
                for constructor in own:
                    self.invoke(frame, constructor, me, args, (), spreads, line, op)
            todo.extend(b for values in record.bases for b in sorted(values) if b not in seen)

    def invoke_silently(self, frame: Frame, function: int, this: Values, line: int, op: Any) -> None:
        """Runs code that has no name of its own: its edges are drawn from whoever owns it."""
        known = dict(self.calls[frame.number])
        self.invoke(frame, function, this, (), (), (), line, op)
        if self.heap.kind[function] == h.FUNC:
            number = self.heap.data[function][0]
            if number not in known:
                self.calls[frame.number].pop(number, None)

    # entering a function

    def invoke(
        self, frame: Frame, callee: int, this: Values, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        number, outer = self.heap.data[callee]
        function = self.program.functions[number]
        self.call_edge(frame, number, line)
        self.tick()
        small = function.has_cells and not self.exact and self.is_small(frame, number, function)
        context = self.context(frame, op) if small or self.exact else 0
        given = self.bind_arguments(frame, callee, function, args, keywords, spreads, context)
        if self.exact:
            return self.enter_exactly(frame, callee, number, function, outer, this, given, op)
        if small:
            return self.enter_small(frame, callee, number, function, outer, this, given, op)
        return self.join_summary(frame, callee, this, given)

    def is_small(self, frame: Frame, number: int, function: ops.Function) -> bool:
        return (
            len(function.ops) <= SMALL
            and frame.depth < MAX_SMALL_DEPTH
            and not function.flags & (ops.GENERATOR | ops.ASYNC)
            and number not in self.stack
        )

    def enter_exactly(
        self,
        frame: Frame,
        callee: int,
        number: int,
        function: ops.Function,
        outer: Env,
        this: Values,
        given: list[Values],
        op: Any,
    ) -> Values:
        summary = self.summary(callee)
        if self.stack.count(number) >= MAX_RECURSION or len(self.stack) >= MAX_DEPTH:
            return summary.result.values
        self.reached.add(number)
        inner = self.frame(number, function, outer, None)
        inner.weak = frame.weak
        inner.context = self.context(frame, op)
        self.run_frame(inner, function, given, this)
        result = inner.result | self.passed(function, given)
        self.add(summary.result, result)
        return self.outcome(result, Cell(inner.yields), function, (number, inner.context))

    def enter_small(
        self,
        frame: Frame,
        callee: int,
        number: int,
        function: ops.Function,
        outer: Env,
        this: Values,
        given: list[Values],
        op: Any,
    ) -> Values:
        summary = self.summary(callee)
        env = summary.env
        context = self.context(frame, op)
        if function.has_cells:
            env = self.small_environment(number, outer, context, env)
        inner = Frame(number, self.program.unit_of[number], function.registers, outer, env, frame.reader)
        inner.bit = frame.bit
        inner.depth = frame.depth + 1
        inner.context = context
        self.run_frame(inner, function, given, this)
        return inner.result | self.passed(function, given)

    def small_environment(self, number: int, outer: Env, context: int, shared: Env) -> Env:
        known = self.small_environments.setdefault(number, {})
        key = (context, outer.number)
        if key not in known and len(known) >= MAX_CONTEXTS:
            return shared
        if key not in known:
            known[key] = self.environment(outer)
        return known[key]

    def run_frame(self, inner: Frame, function: ops.Function, given: list[Values], this: Values) -> None:
        for (_, register, _), values in zip(function.params, given, strict=True):
            inner.regs[register] = values
        inner.this = this
        self.stack.append(inner.number)
        outside, self.alternatives = self.alternatives, 0
        self.run(inner, function.ops)
        self.alternatives = outside
        self.stack.pop()

    def join_summary(self, frame: Frame, callee: int, this: Values, given: list[Values]) -> Values:
        summary = self._summary_of.get(callee) or self.summary(callee)
        plain = self.heap.plain
        for cell, values in zip(summary.params, given, strict=True):
            if values and not values <= cell.values:
                self.add(cell, values - plain)
        if this:
            self.add(summary.this, this)
        function, result = summary.function, self.read(frame, summary.result)
        if function.passes:
            passed = self.passed(function, given)
            result = result | passed if result else passed
        if not function.flags:
            return result
        return self.outcome(result, summary.yields, function, (summary.number, summary.env.number))

    def passed(self, function: ops.Function, given: list[Values]) -> Values:
        found = EMPTY
        for index in function.passes:
            found = found | given[index] if found else given[index]
        return found

    def outcome(self, result: Values, yields: Cell, function: ops.Function, key: Any) -> Values:
        if function.flags & ops.GENERATOR:
            return self.generator(("g", key), yields)
        return self.settled(result, function, ("a", key))

    def generator(self, key: Any, yields: Cell) -> Values:
        made = self.heap.make(h.ARRAY, -1, key)
        self.heap.fields[made].setdefault(ANY_KEY, yields)
        return self.heap.only[made]

    def settled(self, result: Values, function: ops.Function, key: Any) -> Values:
        """A JavaScript async function gives a promise; Python's await is read through."""
        if not function.flags & ops.ASYNC or not function.flags & ops.JAVASCRIPT:
            return result
        promise = self.heap.make(h.PROMISE, None, key)
        self.add(self.heap.cell(promise, ANY_KEY), result)
        return frozenset((promise,))

    def summary(self, callee: int) -> Summary:
        number, outer = self.heap.data[callee]
        key = (number, outer.number)
        found = self.summaries.get(key)
        if found is None:
            function = self.program.functions[number]
            env = self.environment(outer) if function.has_cells else outer
            found = self.summaries[key] = Summary(number, function, outer, env)
        self._summary_of[callee] = found
        return found

    def frame(self, number: int, function: ops.Function, outer: Env, reader: Summary | None) -> Frame:
        env = self.environment(outer) if function.has_cells else outer
        return Frame(number, self.program.unit_of[number], function.registers, outer, env, reader)

    def run(self, frame: Frame, body: Any) -> None:
        raise NotImplementedError

    def call_external(
        self, frame: Frame, callee: int, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        raise NotImplementedError

    # arguments

    def bind_arguments(
        self,
        frame: Frame,
        callee: int,
        function: ops.Function,
        args: Args,
        keywords: Keywords,
        spreads: Args,
        context: int,
    ) -> list[Values]:
        params = function.params
        defaults = self.defaults.get(callee)
        if len(args) == len(params) == function.positional and not keywords and not spreads:
            return list(args)
        given: list[Values] = [EMPTY] * len(params)
        bound = [False] * len(params)
        position = self.bind_positions(frame, params, args, given, bound, context)
        if spreads:
            self.bind_spreads(frame, params, spreads, given, bound, position, context)
        for name, values in keywords:
            self.bind_keyword(frame, params, name, values, given, bound, context)
        if defaults:
            for index, cell in defaults.items():
                if index < len(given) and (not bound[index] or (spreads and not self.exact)):
                    given[index] |= self.read(frame, cell)
        return given

    def bind_positions(
        self, frame: Frame, params: Any, args: Args, given: list[Values], bound: list[bool], context: int
    ) -> int:
        for position, values in enumerate(args):
            if position < len(params) and params[position][2] == ops.POSITIONAL:
                given[position] = values
                bound[position] = True
            else:
                self.bind_rest(frame, params, args[position:], given, context)
                return len(args)
        return len(args)

    def bind_rest(self, frame: Frame, params: Any, rest: Args, given: list[Values], context: int) -> None:
        for index, (_, _, how) in enumerate(params):
            if how == ops.VARARGS:
                array = self.array(frame, rest, ("rest", id(params), context))
                given[index] = frozenset((array,))

    def bind_spreads(
        self, frame: Frame, params: Any, spreads: Args, given: list[Values], bound: list[bool], start: int, context: int
    ) -> None:
        elements = EMPTY
        for spread in spreads:
            elements |= self.elements(frame, spread)
        lone = min(spreads[0]) if len(spreads) == 1 and len(spreads[0]) == 1 else h.UNKNOWN
        known = self.heap.kind[lone] == h.ARRAY and self.heap.data[lone] >= 0 and ANY_KEY not in self.heap.fields[lone]
        for index in range(start, len(params)):
            if params[index][2] == ops.POSITIONAL and not bound[index]:
                cell = self.heap.fields[lone].get(index - start) if known else None
                if known and self.exact:
                    given[index] |= cell.values if cell is not None else EMPTY
                    bound[index] = cell is not None
                else:
                    given[index] |= elements
            elif params[index][2] == ops.VARARGS:
                self.bind_rest(frame, params, (elements,), given, context)

    def bind_keyword(
        self, frame: Frame, params: Any, name: str, values: Values, given: list[Values], bound: list[bool], context: int
    ) -> None:
        for index, (param, _, how) in enumerate(params):
            if name == "**":
                if how in (ops.POSITIONAL, ops.KEYWORD_ONLY) and not bound[index]:
                    key = frozenset((self.heap.constant(param),))
                    for value in values:
                        if self.heap.kind[value] == h.TABLE:
                            found = self.keyed(frame, value, key)
                            given[index] |= found
                            bound[index] = bound[index] or bool(found)
                elif how == ops.KEYWORDS:
                    given[index] |= values
            elif param == name and how in (ops.POSITIONAL, ops.KEYWORD_ONLY):
                given[index] = given[index] | values if bound[index] else values
                bound[index] = True
                return
        if name != "**":
            self.bind_extra(frame, params, name, values, given, context)

    def bind_extra(
        self, frame: Frame, params: Any, name: str, values: Values, given: list[Values], context: int
    ) -> None:
        for index, (_, _, how) in enumerate(params):
            if how == ops.KEYWORDS:
                table = self.heap.make(h.TABLE, 0, ("kwargs", id(params), context), not frame.weak)
                self.write_key(frame, table, "[" + name, values, True)
                given[index] |= {table}

    def array(self, frame: Frame, items: Args, key: Any) -> int:
        made = self.heap.make(h.ARRAY, len(items), key, not frame.weak and self.exact)
        for index, values in enumerate(items):
            if values:
                self.write_key(frame, made, index if index < 16 else ANY_KEY, values, index < 16)
        return made

    def tick(self) -> None:
        self.budget -= 1
        if self.budget < 0 and self.exact:
            raise OutOfBudget
