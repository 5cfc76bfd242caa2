"""The ops that move values about: variables, attributes, items, containers, unpacking."""

import builtins
from typing import Any

from trivium.code.lowering import ops
from trivium.code.solver import heap as h
from trivium.code.solver.calls import Calls
from trivium.code.solver.engine import Frame, Values
from trivium.code.solver.heap import ANY_KEY, EMPTY, Cell, Env

_BUILTINS = frozenset(dir(builtins))
MAX_COPIED = 24  # fields: larger tables are copied as a heap of values without names


class ValueOps(Calls):
    def iterate_instance(self, frame: Frame, source: int, line: int, op: Any) -> Values:
        raise NotImplementedError

    def unseen(self, frame: Frame, op: Any, values: Values, given: Any) -> Values:
        raise NotImplementedError

    def constant(self, frame: Frame, op: Any) -> None:
        value = op[2]
        known = self._constants.get(value)
        if known is None:
            known = self._constants[value] = frozenset((self.heap.constant(value),))
        frame.regs[op[1]] = known

    def union(self, frame: Frame, op: Any) -> None:
        found = EMPTY
        for register in op[2]:
            values = frame.regs[register]
            if values:
                found = found | values if found else values
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
        if not self.language(frame) and name not in _BUILTINS:
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
            known = self._module_names[unit] = set(self.program.units[unit].names)
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

    def load_attribute(self, frame: Frame, op: Any) -> None:
        sources = frame.regs[op[2]]
        if len(sources) > 2:
            sources = self.unseen(frame, op, sources, None)
        frame.regs[op[1]] = self.attribute(frame, sources, op[3], op[4])

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
                    setters = frozenset(
                        self.heap.bound(s, target) for s in self.heap.data[value][1] if self.heap.kind[s] == h.FUNC
                    )
                    self.call(frame, setters, (values,), (), (), 0, ("set", value, target))
                    done = True
                elif self.heap.kind[value] == h.INSTANCE:
                    done = self.set_through(frame, value, target, values) or done
        return done

    def set_through(self, frame: Frame, descriptor: int, target: int, values: Values) -> bool:
        cls = self.heap.data[descriptor]
        if self.heap.kind[cls] != h.CLASS or not self.find(frame, cls, "__set__"):
            return False
        setter = self.attribute(frame, self.heap.only[descriptor], "__set__", 0)
        self.call(frame, setter, (self.heap.only[target], values), (), (), 0, ("set", descriptor, target))
        return True

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
        if (
            self.heap.kind[target] == h.INSTANCE
            and self.heap.kind[cls] == h.CLASS
            and not self.heap.data[cls].javascript
        ):
            setter = self.attribute(frame, frozenset((target,)), "__setitem__", 0)
            self.call(frame, setter, (keys, values), (), (), 0, ("setitem", target))
            return
        for key in keys:
            if self.heap.kind[key] == h.CONSTANT:
                self.write_attribute(frame, target, str(self.heap.data[key]), values, lone and len(keys) == 1)

    def is_javascript(self, function: int) -> bool:
        return bool(self.program.functions[self.heap.data[function][0]].flags & ops.JAVASCRIPT)

    def language(self, frame: Frame) -> bool:
        return self.program.units[frame.unit].language != "python"

    def instances(self, values: Values) -> Values:
        heap = self.heap
        return frozenset(heap.instance(v) for v in values if heap.kind[v] == h.CLASS)

    def declared_instance(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = self.instances(frame.regs[op[2]])

    def make_array(self, frame: Frame, op: Any) -> None:
        _, dst, _, items, spreads, _ = op
        if not self.exact and items and not spreads and self.holds_nothing(frame, items):
            return
        key = ("l", id(op), frame.context)
        made = self.heap.make(h.ARRAY, -1 if spreads else len(items), key, self.exact and not frame.weak)
        for index, register in enumerate(items):
            values = frame.regs[register]
            if values:
                self.write_key(frame, made, index if index < 16 and not spreads else ANY_KEY, values, not spreads)
        for register in spreads:
            self.write_key(frame, made, ANY_KEY, self.elements(frame, frame.regs[register]), False)
        frame.regs[dst] = self.heap.only[made]

    def holds_nothing(self, frame: Frame, items: tuple[int, ...]) -> bool:
        """A written-out list of strings and numbers leads nowhere; there are very many of them."""
        plain = self.heap.plain
        return all(frame.regs[register] <= plain for register in items)

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
        frame.regs[dst] = self.heap.only[made]

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

    def return_value(self, frame: Frame, op: Any) -> None:
        frame.result |= frame.regs[op[1]]

    def yield_value(self, frame: Frame, op: Any) -> None:
        values = frame.regs[op[2]]
        frame.yields |= self.elements(frame, values) if op[3] else values

    def unpack(self, frame: Frame, op: Any) -> None:
        _, source, parts, star = op
        sources = frame.regs[source]
        for part in parts:
            frame.regs[part] = EMPTY
        for value in sources:
            self.unpack_one(frame, value, parts, star)

    def unpack_one(self, frame: Frame, value: int, parts: tuple[int, ...], star: int) -> None:
        heap, me = self.heap, self.heap.only[value]
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
                self.write_key(frame, made, ANY_KEY, self.elements(frame, self.heap.only[value]), False)
                found.append(made)
        frame.regs[dst] = frozenset(found)

    def await_value(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = self.awaited(frame, frame.regs[op[2]])

    def awaited(self, frame: Frame, values: Values) -> Values:
        found = EMPTY
        for value in values:
            is_promise = self.heap.kind[value] == h.PROMISE
            found |= self.read(frame, self.heap.cell(value, ANY_KEY)) if is_promise else self.heap.only[value]
        return found

    def weak(self, frame: Frame, op: Any) -> None:
        frame.weak += op[1]

    def this(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = frame.this

    def refer(self, frame: Frame, op: Any) -> None:
        self.note_named(frame.number, frame.regs[op[1]], op[2])

    def note_named(self, function: int, values: Values, line: int) -> None:
        """A function names these: functions and classes among them are what it refers to."""
        for value in values:
            kind = self.heap.kind[value]
            if kind == h.FUNC:
                self.refers[function].setdefault(("f", self.heap.data[value][0]), line)
            elif kind == h.BOUND:
                self.refers[function].setdefault(("f", self.heap.data[self.heap.data[value][0]][0]), line)
            elif kind == h.CLASS:
                self.refers[function].setdefault(("c", value), line)

    def builtin(self, frame: Frame, op: Any) -> None:
        frame.regs[op[1]] = frozenset((self.heap.external(f"<builtin>.{op[2]}"),))
