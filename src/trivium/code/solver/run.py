"""The ops that call, make functions and classes, and join modules; and how a body is run."""

from typing import Any

from trivium.code.lowering import ops
from trivium.code.solver import builtins_javascript, builtins_python
from trivium.code.solver import heap as h
from trivium.code.solver.calls import Args, Keywords
from trivium.code.solver.engine import Frame, Summary, Values
from trivium.code.solver.flat import MAKES, FlatBody
from trivium.code.solver.heap import ANY_KEY, EMPTY, Cell, ClassRecord
from trivium.code.solver.program import Target
from trivium.code.solver.values import ValueOps


class Interpreter(ValueOps):
    def run_again(self, summary: Summary, frame: Frame, flat: FlatBody) -> None:
        """Only the ops that have something new to see, and then those that use what these produce."""
        handlers, regs, uses, body = _HANDLERS, frame.regs, flat.uses(), flat.ops
        steps = 3 * len(body) + 40
        while steps and (waiting := summary.dirty | summary.grown):
            steps -= 1
            bit = frame.bit = waiting & -waiting
            frame.delta = not summary.dirty & bit
            summary.dirty &= ~bit
            summary.grown &= ~bit
            op = body[bit.bit_length() - 1]
            code = op[0]
            if code == ops.UNPACK:
                summary.grown |= self.unpack_again(frame, op, uses)
                continue
            if code not in MAKES:
                handlers[code](self, frame, op)
                continue
            register = op[1]
            before = regs[register]
            handlers[code](self, frame, op)
            # Values only ever join, or two ops could chase one another for ever.
            if regs[register] <= before:
                regs[register] = before
            else:
                grown = regs[register] | before
                regs[register] = grown if len(grown) <= h.MAX_REGISTER else h.NOBODY_KNOWS | before
                summary.grown |= uses[register]
        self.budget -= 3 * len(body) + 40 - steps
        frame.delta = False

    def unpack_again(self, frame: Frame, op: Any, uses: list[int]) -> int:
        regs, grown = frame.regs, 0
        before = [regs[r] for r in op[2]]
        self.unpack(frame, op)
        for register, old in zip(op[2], before, strict=True):
            if not regs[register] <= old:
                grown |= uses[register]
            regs[register] |= old
        return grown

    def run_first(self, frame: Frame, flat: FlatBody) -> None:
        handlers, bit = _HANDLERS, 1
        for op in flat.ops:
            frame.bit = bit
            handlers[op[0]](self, frame, op)
            bit <<= 1

    def run(self, frame: Frame, body: Any) -> None:
        handlers = _HANDLERS
        for op in body:
            handlers[op[0]](self, frame, op)

    def operands(self, frame: Frame, op: Any, at: int) -> tuple[Args, Keywords, Args]:
        regs = frame.regs
        args = tuple([regs[r] for r in op[at]])
        keywords = tuple([(n, regs[r]) for n, r in op[at + 1]]) if op[at + 1] else ()
        spreads = tuple([regs[r] for r in op[at + 2]]) if op[at + 2] else ()
        return args, keywords, spreads

    def call_value(self, frame: Frame, op: Any) -> None:
        callees = frame.regs[op[2]]
        if not callees:
            self.missed(frame, op[6], "")
            return
        args, keywords, spreads = self.operands(frame, op, 3)
        frame.regs[op[1]] = self.call(frame, callees, args, keywords, spreads, op[6], op)

    def missed(self, frame: Frame, line: int, name: str) -> None:
        self.unresolved.setdefault((frame.number, line), name)

    def call_method(self, frame: Frame, op: Any) -> None:
        _, dst, source, name, _, _, _, line = op
        receivers = frame.regs[source]
        if not receivers:
            self.missed(frame, line, name)
            return
        if h.UNKNOWN in receivers:
            self.many.setdefault((frame.number, line), name)
        given = args, keywords, spreads = self.operands(frame, op, 4)
        found = EMPTY
        if len(receivers) == 1:
            (receiver,) = receivers
            frame.regs[dst] = self.call_on(frame, receiver, name, args, keywords, spreads, line, op)
            return
        if len(receivers) > 2:
            receivers = self.unseen(frame, op, receivers, given)
        several = len(frame.regs[source]) > 1
        self.alternatives += several
        for receiver in receivers:
            found |= self.call_on(frame, receiver, name, args, keywords, spreads, line, op)
        self.alternatives -= several
        frame.regs[dst] = found

    def unseen(self, frame: Frame, op: Any, values: Values, given: Any) -> Values:
        """Those of a large set that this op has not dealt with yet, if all else is as it was then."""
        if self.exact or frame.reader is None or frame.depth:
            return values
        known = frame.memo.get(id(op))
        frame.memo[id(op)] = (values, given)
        return values - known[0] if frame.delta and known is not None and known[1] == given else values

    def call_on(
        self, frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        heap = self.heap
        kind = heap.kind[receiver]
        if kind == h.INSTANCE and not self.exact:
            return self.call_instance(frame, receiver, name, args, keywords, spreads, line, op)
        models = _METHODS.get(kind)
        if models is not None:
            modelled: Values | None = models(self, frame, receiver, name, args, keywords, spreads, line, op)
            if modelled is not None:
                return modelled
        return self.call_found(frame, receiver, name, args, keywords, spreads, line, op)

    def call_found(
        self, frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        heap = self.heap
        callees = self.attribute(frame, self.heap.only[receiver], name, line)
        if not callees:
            if heap.kind[receiver] not in (h.CONSTANT, h.ARRAY):
                self.missed(frame, line, name)
            return EMPTY
        found = EMPTY
        for callee in callees:
            if heap.kind[callee] == h.FUNC and self.is_javascript(callee):
                found |= self.invoke(frame, callee, self.receiver(receiver), args, (), spreads, line, op)
            else:
                found |= self.call_one(frame, callee, args, keywords, spreads, line, op)
        return found

    def call_instance(
        self, frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        """The commonest call of all, without making bound methods on the way."""
        heap = self.heap
        cls = heap.data[receiver]
        if heap.kind[cls] != h.CLASS or heap.data[cls].javascript:
            return self.call_found(frame, receiver, name, args, keywords, spreads, line, op)
        own = self.own_field(frame, receiver, name, line)
        found = self.call(frame, own, args, keywords, spreads, line, op) if own else EMPTY
        cells = self.find(frame, cls, name)
        for cell, owner in cells:
            for value in self.read(frame, cell):
                if heap.kind[value] == h.FUNC:
                    given = (self.heap.only[receiver], *args)
                    found |= self.invoke(frame, value, EMPTY, given, keywords, spreads, line, op)
                else:
                    bound = self.bind(frame, self.heap.only[value], receiver, owner, line)
                    found |= self.call(frame, bound, args, keywords, spreads, line, op)
        if not own and not cells:
            return self.call_found(frame, receiver, name, args, keywords, spreads, line, op)
        return found

    def receiver(self, source: int) -> Values:
        return frozenset((self.heap.data[source][1] if self.heap.kind[source] == h.SUPER else source,))

    def new(self, frame: Frame, op: Any) -> None:
        callees = frame.regs[op[2]]
        if not callees:
            self.missed(frame, op[6], "")
            return
        args, keywords, spreads = self.operands(frame, op, 3)
        found = EMPTY
        for callee in callees:
            if self.heap.kind[callee] == h.FUNC:
                found |= self.new_object(frame, callee, args, spreads, op)
            elif self.heap.kind[callee] == h.EXTERNAL:
                found |= self.call_external(frame, callee, args, keywords, spreads, op[6], op)
            else:
                found |= self.call_one(frame, callee, args, keywords, spreads, op[6], op)
        frame.regs[op[1]] = found

    def new_object(self, frame: Frame, function: int, args: Args, spreads: Args, op: Any) -> Values:
        context = self.context(frame, op) if self.exact else 0
        made = frozenset(
            (self.heap.make(h.INSTANCE, function, ("i", function, context), self.exact and not frame.weak),)
        )
        result = self.invoke(frame, function, made, args, (), spreads, op[6], op)
        objects = frozenset(v for v in result if self.heap.kind[v] in (h.INSTANCE, h.TABLE))
        return made | objects

    def call_external(
        self, frame: Frame, callee: int, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        self.resolved.add((frame.number, line))
        call = builtins_javascript.call if self.language(frame) else builtins_python.call
        return call(self, frame, callee, args, keywords, spreads, line, op)

    def make_function(self, frame: Frame, op: Any) -> None:
        _, dst, index, defaults, types, owner = op
        number = self.program.first[frame.unit] + index
        env = frame.env
        made = self.heap.make(h.FUNC, (number, env), ("f", number, env.number))
        if defaults:
            cells = self.defaults.setdefault(made, {})
            for parameter, register in defaults:
                self.add(cells.setdefault(parameter, Cell()), frame.regs[register])
        if types:
            self.declared[made] = tuple((p, self.instances(frame.regs[r])) for p, r in types if p != ops.NAMED)
            for _, register in types:
                self.note_named(number, frame.regs[register], self.program.functions[number].line)
        if owner >= 0 and frame.regs[owner]:
            self.owners.setdefault(made, (h.FUNC, min(frame.regs[owner])))
            self.class_of_function[number] = frame.regs[owner]
        elif frame.number in self.class_of_function:
            self.class_of_function.setdefault(number, self.class_of_function[frame.number])
        self.made.setdefault(made)
        if not self.exact:
            self.introduce(made)
        frame.regs[dst] = self.heap.only[made]

    def note_method(self, function: int, how: int) -> None:
        """A decorator has changed how this method is bound."""
        if function in self.owners:
            self.owners[function] = (how, self.owners[function][1])

    def introduce(self, made: int) -> None:
        """A function exists: it will run at least once, on what its declaration says."""
        summary = self.summary(made)
        for parameter, values in self.declared.get(made, ()):
            if parameter >= 0:
                self.add(summary.params[parameter], values)
        if summary.frame is None:
            self.enqueue(summary)

    def make_class(self, frame: Frame, op: Any) -> None:
        _, dst, index, bases, line, interfaces = op
        unit = self.program.units[frame.unit]
        javascript = unit.language != "python"
        context = frame.context if self.exact else 0
        record = ClassRecord((frame.unit, index), unit.classes[index].qualified_name, javascript)
        made = self.heap.make(h.CLASS, record, ("k", frame.unit, index, context))
        record = self.heap.data[made]
        found = [frame.regs[b] for b in bases]
        if not record.bases:
            record.bases = found
        elif not all(new <= old for new, old in zip(found, record.bases, strict=True)):
            record.bases = [new | old for new, old in zip(found, record.bases, strict=True)]
            self.new_bases(made)
        if javascript and record.prototype == h.UNKNOWN:
            record.prototype = self.heap.make(h.TABLE, 1, ("proto", made), True)
        self.inherit(made, found, line, self.extends)
        self.inherit(made, [frame.regs[i] for i in interfaces], line, self.implements)
        frame.regs[dst] = self.heap.only[made]

    def inherit(self, cls: int, bases: list[Values], line: int, kept: dict[tuple[int, int], int]) -> None:
        for base in bases:
            for value in base:
                if self.heap.kind[value] in (h.CLASS, h.FUNC):
                    kept.setdefault((cls, value), line)

    def iterate(self, frame: Frame, op: Any) -> None:
        _, dst, source, line = op
        sources = frame.regs[source]
        found = self.elements(frame, sources)
        for value in sources:
            if self.heap.kind[value] == h.INSTANCE:
                found |= self.iterate_instance(frame, value, line, op)
        frame.regs[dst] = found

    def iterate_instance(self, frame: Frame, source: int, line: int, op: Any) -> Values:
        me = self.heap.only[source]
        if self.language(frame):
            return builtins_javascript.iterate(self, frame, me, line, op)
        iterators = self.call(frame, self.attribute(frame, me, "__iter__", line), (), (), (), line, ("iter", source))
        iterators |= self.call(frame, self.attribute(frame, me, "__aiter__", line), (), (), (), line, ("aiter", source))
        found = self.elements(frame, iterators)
        for iterator in iterators:
            for name in ("__next__", "__anext__"):
                if self.heap.kind[iterator] == h.INSTANCE:
                    method = self.attribute(frame, self.heap.only[iterator], name, line)
                    found |= self.call(frame, method, (), (), (), line, (name, iterator))
        if not iterators:
            method = self.attribute(frame, me, "__getitem__", line)
            found |= self.call(frame, method, (EMPTY,), (), (), line, ("getitem", source))
        return found

    def enter_context(self, frame: Frame, op: Any) -> None:
        _, dst, source, line = op
        found = EMPTY
        for value in frame.regs[source]:
            me = self.heap.only[value]
            if self.heap.kind[value] == h.INSTANCE:
                for names in (("__enter__", "__exit__"), ("__aenter__", "__aexit__")):
                    found |= self.call(
                        frame, self.attribute(frame, me, names[0], line), (), (), (), line, (names[0], value)
                    )
                    self.call(frame, self.attribute(frame, me, names[1], line), (), (), (), line, (names[1], value))
            elif self.heap.kind[value] == h.ARRAY:
                found |= self.elements(frame, me)  # a generator made into a context manager
            else:
                found |= me
        frame.regs[dst] = found

    def operator(self, frame: Frame, op: Any) -> None:
        _, dst, left, right, name, line = op
        lefts, rights = frame.regs[left], frame.regs[right]
        found = self.operator_method(frame, lefts, rights, name, line)
        if name.startswith("__i"):
            found |= self.operator_method(frame, lefts, rights, "__" + name[3:], line) if not found else EMPTY
        arrays = frozenset(v for v in lefts | rights if self.heap.kind[v] == h.ARRAY)
        if arrays and name in ("__add__", "__iadd__", "__mul__"):
            made = self.heap.make(h.ARRAY, -1, ("sum", id(op), frame.context))
            self.write_key(frame, made, ANY_KEY, self.elements(frame, arrays), False)
            found |= {made}
        frame.regs[dst] = found

    def operator_method(self, frame: Frame, lefts: Values, rights: Values, name: str, line: int) -> Values:
        found = EMPTY
        for value in lefts:
            if self.heap.kind[value] == h.INSTANCE:
                method = self.attribute(frame, self.heap.only[value], name, line)
                found |= self.call(frame, method, (rights,), (), (), line, (name, value))
        if not found and name[2] != "i":
            for value in rights:
                if self.heap.kind[value] == h.INSTANCE:
                    method = self.attribute(frame, self.heap.only[value], "__r" + name[2:], line)
                    found |= self.call(frame, method, (lefts,), (), (), line, (name, value))
        return found

    def raise_value(self, frame: Frame, op: Any) -> None:
        classes = frozenset(v for v in frame.regs[op[1]] if self.heap.kind[v] == h.CLASS)
        if classes and not self.language(frame):
            self.call(frame, classes, (), (), (), op[2], op)

    def import_module(self, frame: Frame, op: Any) -> None:
        target = self.program.targets[frame.unit][op[2]]
        written = self.program.units[frame.unit].imports[op[2]]
        frame.regs[op[1]] = self.target(frame, target)
        if written.kind in ("require", "dynamic") and target.unit >= 0:
            frame.regs[op[1]] = self.exported(frame, target.unit)
        if written.kind == "import" and "." in written.module and not written.alias:
            frame.regs[op[1]] = self.top_package(frame, target, written.module)

    def target(self, frame: Frame, target: Target) -> Values:
        if target.unit >= 0:
            return self.module(frame, target.unit)
        return frozenset((self.heap.external(target.external),)) if target.external else EMPTY

    def top_package(self, frame: Frame, target: Target, written: str) -> Values:
        """`import a.b.c` binds `a`."""
        if target.unit < 0:
            return frozenset((self.heap.external(written.partition(".")[0]),))
        top = written.partition(".")[0]
        unit = self.tops.get(top)  # a namespace package has no file of its own
        return self.module(frame, unit) if unit is not None else frozenset((self.heap.external(top),))

    def import_name(self, frame: Frame, op: Any) -> None:
        _, dst, index, name = op
        target = self.program.targets[frame.unit][index]
        if target.unit >= 0:
            source = min(self.module(frame, target.unit))
            frame.regs[dst] = self.attribute(frame, self.heap.only[source], name, 0)
        elif target.external:
            frame.regs[dst] = self.attribute(frame, self.target(frame, target), name, 0)

    def import_star(self, frame: Frame, op: Any) -> None:
        target = self.program.targets[frame.unit][op[1]]
        if target.unit < 0 or target.unit == frame.unit:
            return
        source = min(self.module(frame, target.unit))
        if self.language(frame):
            for table in self.exported(frame, frame.unit):
                self.write_attribute(frame, table, "__proto__", self.exported(frame, target.unit), False)
            return
        if frame.reader is not None:
            self.read(frame, self.heap.cell(source, ANY_KEY))
        for name, cell in list(self.heap.fields[source].items()):
            if isinstance(name, str) and name[:1] not in ("_", "*"):
                self.put(frame, self.heap.cell(self.modules[frame.unit], name), self.read(frame, cell))

    def loop(self, frame: Frame, op: Any) -> None:
        frame.weak += 1
        self.run(frame, op[1])
        if self.exact or self.comes_round(frame, op):
            self.run(frame, op[1])
        frame.weak -= 1

    def comes_round(self, frame: Frame, op: Any) -> bool:
        """Whether a variable brings a new value into the second round (what cells bring, queued summaries will see)."""
        regs = frame.regs
        return any(not regs[r] <= regs[phi[1]] for phi in op[1][: op[2]] for r in phi[2])

    def super_value(self, frame: Frame, op: Any) -> None:
        owners = frame.regs[op[2]] if op[2] >= 0 else self.enclosing_class(frame)
        receivers = frame.regs[op[3]] if op[3] >= 0 else frame.this
        heap = self.heap
        frame.regs[op[1]] = frozenset(
            heap.make(h.SUPER, (o, r), ("super", o, r))
            for o in owners
            for r in receivers
            if heap.kind[o] == h.CLASS and self.is_a(r, o)
        )

    def is_a(self, receiver: int, cls: int) -> bool:
        kind = self.heap.kind[receiver]
        if kind not in (h.INSTANCE, h.CLASS):
            return False
        return cls in self.heap.mro(self.heap.data[receiver] if kind == h.INSTANCE else receiver)

    def enclosing_class(self, frame: Frame) -> Values:
        """The class whose body this function (or one around it) was defined in."""
        return self.class_of_function.get(frame.number, EMPTY)

    def export(self, frame: Frame, op: Any) -> None:
        for table in self.exported(frame, frame.unit):
            self.write_attribute(frame, table, op[1], frame.regs[op[2]], True)


I = Interpreter  # noqa: E741 - a table of forty lines reads better so
_HANDLERS: list[Any] = [None] * 37
for _code, _handler in {
    ops.CONST: I.constant, ops.UNION: I.union, ops.BUILTIN: I.builtin, ops.LOADG: I.load_global,
    ops.SETG: I.store_global,
    ops.LOADCELL: I.load_cell, ops.SETCELL: I.store_cell, ops.ATTR: I.load_attribute, ops.SETATTR: I.store_attribute,
    ops.ITEM: I.load_item, ops.SETITEM: I.store_item, ops.CALL: I.call_value, ops.CALLM: I.call_method, ops.NEW: I.new,
    ops.FUNC: I.make_function, ops.CLASS: I.make_class, ops.ARRAY: I.make_array, ops.TABLE: I.make_table,
    ops.RETURN: I.return_value, ops.YIELD: I.yield_value, ops.ITER: I.iterate, ops.UNPACK: I.unpack, ops.SLICE: I.slice,
    ops.ENTER: I.enter_context, ops.AWAIT: I.await_value, ops.OPERATOR: I.operator, ops.RAISE: I.raise_value,
    ops.IMPORT: I.import_module, ops.FROM: I.import_name, ops.STAR: I.import_star, ops.LOOP: I.loop,
    ops.SUPER: I.super_value,
    ops.THIS: I.this, ops.EXPORT: I.export, ops.REFER: I.refer, ops.INSTANCE: I.declared_instance, ops.WEAK: I.weak,
}.items():  # fmt: skip
    _HANDLERS[_code] = _handler


def _container_method(python: Any, javascript: Any) -> Any:
    def model(
        self: Interpreter,
        frame: Frame,
        receiver: int,
        name: str,
        args: Args,
        keywords: Keywords,
        spreads: Args,
        line: int,
        op: Any,
    ) -> Values | None:
        models = javascript if self.language(frame) else python
        found: Values | None = (
            models(self, frame, receiver, name, args + spreads, keywords, line, op) if models else None
        )
        return found

    return model


_METHODS = {
    h.ARRAY: _container_method(builtins_python.array_method, builtins_javascript.array_method),
    h.TABLE: _container_method(builtins_python.table_method, builtins_javascript.table_method),
    h.FUNC: _container_method(None, builtins_javascript.function_method),
    h.BOUND: _container_method(None, builtins_javascript.function_method),
    h.PROMISE: _container_method(None, builtins_javascript.promise_method),
}
