"""The meaning of each op, and the two ways through a whole program."""

from typing import Any

from trivium.code.lowering import ops
from trivium.code.solver import builtins_javascript, builtins_python
from trivium.code.solver import heap as h
from trivium.code.solver.calls import Args, Calls, Keywords
from trivium.code.solver.engine import Frame, Summary, Values
from trivium.code.solver.flat import FlatBody
from trivium.code.solver.heap import ANY_KEY, EMPTY, Cell, ClassRecord, Env
from trivium.code.solver.program import Target

MAX_COPIED = 24  # fields: larger tables are copied as a heap of values without names


class Interpreter(Calls):
    def run_again(self, summary: Summary, frame: Frame, flat: FlatBody) -> None:
        """Only the ops that have something new to see, and then those that use what these produce."""
        handlers, regs, uses, body = _HANDLERS, frame.regs, flat.uses, flat.ops
        steps = 4 * len(body) + 40
        while summary.dirty and steps:
            steps -= 1
            self.budget -= 1
            frame.bit = summary.dirty & -summary.dirty
            summary.dirty ^= frame.bit
            op = body[frame.bit.bit_length() - 1]
            made = flat.made(op)
            before = [regs[r] for r in made]
            handlers[op[0]](self, frame, op)
            for register, old in zip(made, before, strict=True):
                if not regs[register] <= old:
                    regs[register] |= old  # values only ever join, or two ops could chase one another for ever
                    summary.dirty |= uses[register]

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

    # values and variables

    def constant(self, frame: Frame, op: Any) -> None:
        value = op[2]
        known = self._constants.get(value)
        if known is None:
            known = self._constants[value] = frozenset((self.heap.constant(value),))
        frame.regs[op[1]] = known

    def union(self, frame: Frame, op: Any) -> None:
        found = EMPTY
        for register in op[2]:
            found |= frame.regs[register]
        frame.regs[op[1]] = found

    def load_global(self, frame: Frame, op: Any) -> None:
        name = op[2]
        module = self.modules[frame.unit]
        found = self.own_field(frame, module, name, 0)
        if not found:
            found = self.builtin_value(frame, name)
        frame.regs[op[1]] = found

    def builtin_value(self, frame: Frame, name: str) -> Values:
        if name in self.module_names(frame.unit):
            return EMPTY
        if name in ("module", "exports") and self.language(frame):
            module = self.common_module(frame.unit)
            return module if name == "module" else self.attribute(frame, module, "exports", 0)
        known = self._builtins.get(name)
        if known is None:
            known = self._builtins[name] = frozenset((self.heap.external(f"<builtin>.{name}"),))
        return known

    def module_names(self, unit: int) -> set[str]:
        known = self._module_names.get(unit)
        if known is None:
            known = self._module_names[unit] = set()
            for function in self.program.units[unit].functions:
                _collect_globals(function.ops, known)
        return known

    def store_global(self, frame: Frame, op: Any) -> None:
        self.put(frame, self.heap.cell(self.modules[frame.unit], op[1]), frame.regs[op[2]])

    def load_cell(self, frame: Frame, op: Any) -> None:
        env = self.find_environment(frame, op[2], op[3])
        cell = env.cells.get(op[2])
        if cell is None:
            cell = env.cells[op[2]] = Cell()
        frame.regs[op[1]] = self.read(frame, cell)

    def find_environment(self, frame: Frame, name: str, hops: int) -> Env:
        """Functions without cells of their own share their parent's environment, so the distance is found by name."""
        if hops == 0:
            return frame.env
        env = frame.outer
        while name not in env.cells and env.parent is not None:
            env = env.parent
        return env

    def store_cell(self, frame: Frame, op: Any) -> None:
        env = self.find_environment(frame, op[1], op[3])
        self.put(frame, env.cells.setdefault(op[1], Cell()), frame.regs[op[2]])

    # attributes and items

    def load_attribute(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = self.attribute(frame, frame.regs[op[2]], op[3], op[4])

    def store_attribute(self, frame: Frame, op: Any) -> None:
        targets, values = frame.regs[op[1]], frame.regs[op[3]]
        lone = len(targets) == 1
        for target in targets:
            if self.heap.kind[target] == h.INSTANCE and self.set_property(frame, target, op[2], values):
                continue
            if self.heap.kind[target] not in (h.CONSTANT, h.EXTERNAL, h.NOTHING, h.BOUND):
                self.write_attribute(frame, target, op[2], values, lone)

    def set_property(self, frame: Frame, target: int, name: str, values: Values) -> bool:
        cls = self.heap.data[target]
        if self.heap.kind[cls] != h.CLASS:
            return False
        if self.heap.data[cls].javascript:
            chain = [self.heap.fields[p].get(name) for p in self.prototypes(frame, cls)]
            cells = [c for c in chain if c is not None][:1]
        else:
            cells = [c for c, _ in self.find(frame, cls, name)]
        done = False
        for cell in cells:
            for value in self.read(frame, cell):
                if self.heap.kind[value] == h.PROPERTY:
                    setters = frozenset(self.heap.bound(s, target) for s in self.heap.data[value][1] if self.heap.kind[s] == h.FUNC)
                    self.call(frame, setters, (values,), (), (), 0, ("set", value, target))
                    done = True
        return done

    def load_item(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = self.item(frame, frame.regs[op[2]], frame.regs[op[3]], 0)

    def store_item(self, frame: Frame, op: Any) -> None:
        targets, keys, values = frame.regs[op[1]], frame.regs[op[2]], frame.regs[op[3]]
        lone = len(targets) == 1
        for target in targets:
            kind = self.heap.kind[target]
            if kind in (h.ARRAY, h.TABLE):
                self.write_item(frame, target, keys, values, lone)
            elif kind in (h.INSTANCE, h.CLASS, h.FUNC, h.MODULE):
                self.store_dynamic(frame, target, keys, values, lone)

    def store_dynamic(self, frame: Frame, target: int, keys: Values, values: Values, lone: bool) -> None:
        cls = self.heap.data[target]
        if self.heap.kind[target] == h.INSTANCE and self.heap.kind[cls] == h.CLASS and not self.heap.data[cls].javascript:
            setter = self.attribute(frame, frozenset((target,)), "__setitem__", 0)
            self.call(frame, setter, (keys, values), (), (), 0, ("setitem", target))
            return
        for key in keys:
            if self.heap.kind[key] == h.CONSTANT:
                self.write_attribute(frame, target, str(self.heap.data[key]), values, lone and len(keys) == 1)

    # calls

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
        args, keywords, spreads = self.operands(frame, op, 4)
        found = EMPTY
        for receiver in receivers:
            found |= self.call_on(frame, receiver, name, args, keywords, spreads, line, op)
        frame.regs[dst] = found

    def call_on(
        self, frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        heap = self.heap
        kind = heap.kind[receiver]
        if kind == h.INSTANCE and not self.exact:
            return self.call_instance(frame, receiver, name, args, keywords, spreads, line, op)
        models = _METHODS.get(kind)
        if models is not None:
            modelled = models(self, frame, receiver, name, args, keywords, spreads, line, op)
            if modelled is not None:
                return modelled
        return self.call_found(frame, receiver, name, args, keywords, spreads, line, op)

    def call_found(
        self, frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        heap = self.heap
        callees = self.attribute(frame, frozenset((receiver,)), name, line)
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
                    given = (frozenset((receiver,)), *args)
                    found |= self.invoke(frame, value, EMPTY, given, keywords, spreads, line, op)
                else:
                    bound = self.bind(frame, frozenset((value,)), receiver, owner, line)
                    found |= self.call(frame, bound, args, keywords, spreads, line, op)
        if not own and not cells:
            return self.call_found(frame, receiver, name, args, keywords, spreads, line, op)
        return found

    def receiver(self, source: int) -> Values:
        return frozenset((self.heap.data[source][1] if self.heap.kind[source] == h.SUPER else source,))

    def is_javascript(self, function: int) -> bool:
        return bool(self.program.functions[self.heap.data[function][0]].flags & ops.JAVASCRIPT)

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
        made = frozenset((self.heap.make(h.INSTANCE, function, ("i", function, context), self.exact and not frame.weak),))
        result = self.invoke(frame, function, made, args, (), spreads, op[6], op)
        objects = frozenset(v for v in result if self.heap.kind[v] in (h.INSTANCE, h.TABLE))
        return made | objects

    def call_external(
        self, frame: Frame, callee: int, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values:
        self.resolved.add((frame.number, line))
        models = builtins_javascript if self.language(frame) else builtins_python
        return models.call(self, frame, callee, args, keywords, spreads, line, op)

    def language(self, frame: Frame) -> bool:
        return self.program.units[frame.unit].language != "python"

    # making things

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
            self.declared[made] = tuple((p, self.instances(frame.regs[r])) for p, r in types)
        if owner >= 0 and frame.regs[owner]:
            self.owners.setdefault(made, (h.FUNC, min(frame.regs[owner])))
            self.class_of_function[number] = frame.regs[owner]
        elif frame.number in self.class_of_function:
            self.class_of_function.setdefault(number, self.class_of_function[frame.number])
        self.made.setdefault(made)
        if not self.exact:
            self.introduce(made)
        frame.regs[dst] = frozenset((made,))

    def introduce(self, made: int) -> None:
        """A function exists: it will run at least once, on what its declaration says."""
        summary = self.summary(made)
        for parameter, values in self.declared.get(made, ()):
            if parameter >= 0:
                self.add(summary.params[parameter], values)
        if summary.frame is None:
            self.enqueue(summary)

    def instances(self, values: Values) -> Values:
        heap = self.heap
        return frozenset(heap.instance(v) for v in values if heap.kind[v] == h.CLASS)

    def declared_instance(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = self.instances(frame.regs[op[2]])

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
        frame.regs[dst] = frozenset((made,))

    def inherit(self, cls: int, bases: list[Values], line: int, kept: dict[tuple[int, int], int]) -> None:
        for base in bases:
            for value in base:
                if self.heap.kind[value] in (h.CLASS, h.FUNC):
                    kept.setdefault((cls, value), line)

    def make_array(self, frame: Frame, op: Any) -> None:
        _, dst, _, items, spreads, _ = op
        key = ("l", id(op), frame.context)
        made = self.heap.make(h.ARRAY, -1 if spreads else len(items), key, self.exact and not frame.weak)
        for index, register in enumerate(items):
            values = frame.regs[register]
            if values:
                self.write_key(frame, made, index if index < 16 and not spreads else ANY_KEY, values, not spreads)
        for register in spreads:
            self.write_key(frame, made, ANY_KEY, self.elements(frame, frame.regs[register]), False)
        frame.regs[dst] = frozenset((made,))

    def make_table(self, frame: Frame, op: Any) -> None:
        _, dst, pairs, spreads, _ = op
        javascript = int(self.language(frame))
        made = self.heap.make(h.TABLE, javascript, ("t", id(op), frame.context), self.exact and not frame.weak)
        for register in spreads:
            self.copy_fields(frame, frame.regs[register], made)
        for key, register in pairs:
            values = frame.regs[register]
            if isinstance(key, str):
                self.write_key(frame, made, key, values, True)
            elif values:
                self.write_item(frame, made, frame.regs[key], values, True)
        frame.regs[dst] = frozenset((made,))

    def copy_fields(self, frame: Frame, sources: Values, target: int) -> None:
        fields = self.heap.fields
        known = [v for v in sources if v != target and self.heap.kind[v] in (h.TABLE, h.ARRAY, h.INSTANCE)]
        if not self.exact and (len(known) > 1 or any(len(fields[v]) > MAX_COPIED for v in known)):
            self.write_key(frame, target, ANY_KEY, self.elements(frame, frozenset(known)), False)
            return
        for source in known:
            for name, cell in list(fields[source].items()):
                self.write_key(frame, target, name, self.read(frame, cell), len(known) == 1 and name != ANY_KEY)
            if frame.reader is not None:
                self.read(frame, self.heap.cell(source, ANY_KEY))

    # leaving values behind

    def return_value(self, frame: Frame, op: Any) -> None:
        frame.result |= frame.regs[op[1]]

    def yield_value(self, frame: Frame, op: Any) -> None:
        values = frame.regs[op[2]]
        frame.yields |= self.elements(frame, values) if op[3] else values

    def iterate(self, frame: Frame, op: Any) -> None:
        _, dst, source, line = op
        sources = frame.regs[source]
        found = self.elements(frame, sources)
        for value in sources:
            if self.heap.kind[value] == h.INSTANCE:
                found |= self.iterate_instance(frame, value, line, op)
        frame.regs[dst] = found

    def iterate_instance(self, frame: Frame, source: int, line: int, op: Any) -> Values:
        me = frozenset((source,))
        if self.language(frame):
            return builtins_javascript.iterate(self, frame, me, line, op)
        iterators = self.call(frame, self.attribute(frame, me, "__iter__", line), (), (), (), line, ("iter", source))
        iterators |= self.call(frame, self.attribute(frame, me, "__aiter__", line), (), (), (), line, ("aiter", source))
        found = self.elements(frame, iterators)
        for iterator in iterators:
            for name in ("__next__", "__anext__"):
                if self.heap.kind[iterator] == h.INSTANCE:
                    method = self.attribute(frame, frozenset((iterator,)), name, line)
                    found |= self.call(frame, method, (), (), (), line, (name, iterator))
        if not iterators:
            method = self.attribute(frame, me, "__getitem__", line)
            found |= self.call(frame, method, (EMPTY,), (), (), line, ("getitem", source))
        return found

    def unpack(self, frame: Frame, op: Any) -> None:
        _, source, parts, star = op
        sources = frame.regs[source]
        for part in parts:
            frame.regs[part] = EMPTY
        for value in sources:
            self.unpack_one(frame, value, parts, star)

    def unpack_one(self, frame: Frame, value: int, parts: tuple[int, ...], star: int) -> None:
        heap, me = self.heap, frozenset((value,))
        exact = heap.kind[value] == h.ARRAY and heap.data[value] >= 0 and ANY_KEY not in heap.fields[value]
        length = heap.data[value] if exact else -1
        everything = self.elements(frame, me) if not exact else EMPTY
        if heap.kind[value] == h.INSTANCE:
            everything |= self.iterate_instance(frame, value, 0, ("unpack", value))
        for position, part in enumerate(parts):
            if position == star:
                rest = [self.keyed_at(frame, value, i) for i in range(star, length - (len(parts) - star - 1))]
                items = tuple(rest) if exact else ()
                made = self.array(frame, items, ("star", value, position, frame.context))
                if not exact:
                    self.write_key(frame, made, ANY_KEY, everything, False)
                frame.regs[part] |= {made}
            elif exact:
                index = position if star < 0 or position < star else length - (len(parts) - position)
                frame.regs[part] |= self.keyed_at(frame, value, index)
            else:
                frame.regs[part] |= everything

    def keyed_at(self, frame: Frame, source: int, index: int) -> Values:
        return self.keyed(frame, source, frozenset((self.heap.constant(index),)))

    def slice(self, frame: Frame, op: Any) -> None:
        _, dst, source, start, stop, _ = op
        found: list[int] = []
        for value in frame.regs[source]:
            if self.heap.kind[value] != h.ARRAY:
                continue
            length = self.heap.data[value]
            if length >= 0 and start != -1 and stop != -1 and ANY_KEY not in self.heap.fields[value]:
                wanted = range(length)[slice(start, stop)]
                items = tuple(self.keyed_at(frame, value, i) for i in wanted)
                found.append(self.array(frame, items, ("slice", id(op), value, frame.context)))
            else:
                made = self.heap.make(h.ARRAY, -1, ("slice", id(op), value, frame.context))
                self.write_key(frame, made, ANY_KEY, self.elements(frame, frozenset((value,))), False)
                found.append(made)
        frame.regs[dst] = frozenset(found)

    def enter_context(self, frame: Frame, op: Any) -> None:
        _, dst, source, line = op
        found = EMPTY
        for value in frame.regs[source]:
            me = frozenset((value,))
            if self.heap.kind[value] == h.INSTANCE:
                for names in (("__enter__", "__exit__"), ("__aenter__", "__aexit__")):
                    found |= self.call(frame, self.attribute(frame, me, names[0], line), (), (), (), line, (names[0], value))
                    self.call(frame, self.attribute(frame, me, names[1], line), (), (), (), line, (names[1], value))
            elif self.heap.kind[value] == h.ARRAY:
                found |= self.elements(frame, me)  # a generator made into a context manager
            else:
                found |= me
        frame.regs[dst] = found

    def await_value(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = self.awaited(frame, frame.regs[op[2]])

    def awaited(self, frame: Frame, values: Values) -> Values:
        found = EMPTY
        for value in values:
            is_promise = self.heap.kind[value] == h.PROMISE
            found |= self.read(frame, self.heap.cell(value, ANY_KEY)) if is_promise else frozenset((value,))
        return found

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
                method = self.attribute(frame, frozenset((value,)), name, line)
                found |= self.call(frame, method, (rights,), (), (), line, (name, value))
        if not found and name[2] != "i":
            for value in rights:
                if self.heap.kind[value] == h.INSTANCE:
                    method = self.attribute(frame, frozenset((value,)), "__r" + name[2:], line)
                    found |= self.call(frame, method, (lefts,), (), (), line, (name, value))
        return found

    def raise_value(self, frame: Frame, op: Any) -> None:
        classes = frozenset(v for v in frame.regs[op[1]] if self.heap.kind[v] == h.CLASS)
        if classes and not self.language(frame):
            self.call(frame, classes, (), (), (), op[2], op)

    # modules

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
        unit = self.tops.get(written.partition(".")[0])
        return self.module(frame, unit) if unit is not None else EMPTY

    def import_name(self, frame: Frame, op: Any) -> None:
        _, dst, index, name = op
        target = self.program.targets[frame.unit][index]
        if target.unit >= 0:
            source = min(self.module(frame, target.unit))
            frame.regs[dst] = self.attribute(frame, frozenset((source,)), name, 0)
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

    def weak(self, frame: Frame, op: Any) -> None:
        frame.weak += op[1]

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

    def this(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = frame.this

    def export(self, frame: Frame, op: Any) -> None:
        for table in self.exported(frame, frame.unit):
            self.write_attribute(frame, table, op[1], frame.regs[op[2]], True)

    def refer(self, frame: Frame, op: Any) -> None:
        for value in frame.regs[op[1]]:
            kind = self.heap.kind[value]
            if kind == h.FUNC:
                self.refers[frame.number].setdefault(("f", self.heap.data[value][0]), op[2])
            elif kind == h.BOUND:
                self.refers[frame.number].setdefault(("f", self.heap.data[self.heap.data[value][0]][0]), op[2])
            elif kind == h.CLASS:
                self.refers[frame.number].setdefault(("c", value), op[2])

    def builtin(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = frozenset((self.heap.external(f"<builtin>.{op[2]}"),))


I = Interpreter  # noqa: E741 - a table of forty lines reads better so
_HANDLERS: list[Any] = [None] * 37
for _code, _handler in {
    ops.CONST: I.constant, ops.UNION: I.union, ops.BUILTIN: I.builtin, ops.LOADG: I.load_global, ops.SETG: I.store_global,
    ops.LOADCELL: I.load_cell, ops.SETCELL: I.store_cell, ops.ATTR: I.load_attribute, ops.SETATTR: I.store_attribute,
    ops.ITEM: I.load_item, ops.SETITEM: I.store_item, ops.CALL: I.call_value, ops.CALLM: I.call_method, ops.NEW: I.new,
    ops.FUNC: I.make_function, ops.CLASS: I.make_class, ops.ARRAY: I.make_array, ops.TABLE: I.make_table,
    ops.RETURN: I.return_value, ops.YIELD: I.yield_value, ops.ITER: I.iterate, ops.UNPACK: I.unpack, ops.SLICE: I.slice,
    ops.ENTER: I.enter_context, ops.AWAIT: I.await_value, ops.OPERATOR: I.operator, ops.RAISE: I.raise_value,
    ops.IMPORT: I.import_module, ops.FROM: I.import_name, ops.STAR: I.import_star, ops.LOOP: I.loop, ops.SUPER: I.super_value,
    ops.THIS: I.this, ops.EXPORT: I.export, ops.REFER: I.refer, ops.INSTANCE: I.declared_instance, ops.WEAK: I.weak,
}.items():  # fmt: skip
    _HANDLERS[_code] = _handler


def _container_method(python: Any, javascript: Any) -> Any:
    def model(
        self: Interpreter, frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
    ) -> Values | None:
        models = javascript if self.language(frame) else python
        found: Values | None = models(self, frame, receiver, name, args + spreads, keywords, line, op) if models else None
        return found

    return model


_METHODS = {
    h.ARRAY: _container_method(builtins_python.array_method, builtins_javascript.array_method),
    h.TABLE: _container_method(builtins_python.table_method, builtins_javascript.table_method),
    h.FUNC: _container_method(None, builtins_javascript.function_method),
    h.BOUND: _container_method(None, builtins_javascript.function_method),
    h.PROMISE: _container_method(None, builtins_javascript.promise_method),
}


def _collect_globals(body: Any, names: set[str]) -> None:
    for op in body:
        if op[0] == ops.SETG:
            names.add(op[1])
        elif op[0] == ops.LOOP:
            _collect_globals(op[1], names)
