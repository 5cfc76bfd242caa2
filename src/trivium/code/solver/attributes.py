# ruff: noqa: ARG002 - the loaders in a table share one signature
"""Reading attributes and items: inheritance, binding, properties, prototypes, keys."""

from typing import Any

from trivium.code.solver import heap as h
from trivium.code.solver.engine import EngineState, Frame, Values
from trivium.code.solver.heap import ANY_KEY, EMPTY, Cell

MAX_EXTERNAL_DOTS = 6
METACLASS = "<metaclass>"


class Attributes(EngineState):
    def attribute(self, frame: Frame, sources: Values, name: str, line: int) -> Values:
        kind = self.heap.kind
        if len(sources) == 1:
            (source,) = sources
            return _LOADERS[kind[source]](self, frame, source, name, line)
        found = EMPTY
        for source in sources:
            found |= _LOADERS[kind[source]](self, frame, source, name, line)
        return found

    def no_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        return EMPTY

    def own_field(self, frame: Frame, source: int, name: str, line: int) -> Values:
        fields = self.heap.fields[source]
        cell = fields.get(name)
        reader = frame.reader
        if reader is None:
            return cell.values if cell is not None else EMPTY
        if cell is None:
            cell = fields[name] = Cell()
        readers = cell.readers
        readers[reader] = readers.get(reader, 0) | frame.bit
        return cell.values

    def module_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        unit = self.heap.data[source]
        if self.program.units[unit].language != "python":
            exported = self.exported(frame, unit)
            return self.attribute(frame, exported, name, line) or (exported if name == "default" else EMPTY)
        found = self.own_field(frame, source, name, line)
        if not found:
            submodule = self.program.submodules.get((unit, name))
            if submodule is not None:
                return self.module(frame, submodule)
        return found

    def common_module(self, unit: int) -> Values:
        """JavaScript's `module`, whose `exports` every import of the file ends at."""
        made = self.heap.make(h.TABLE, 1, ("module", unit), True)
        if "exports" not in self.heap.fields[made]:
            empty = self.heap.make(h.TABLE, 1, ("exports", unit), True)
            self.heap.cell(made, "exports").values = frozenset((empty,))
        return self.heap.only[made]

    def exported(self, frame: Frame, unit: int) -> Values:
        return self.own_field(frame, min(self.common_module(unit)), "exports", 0)

    def module(self, frame: Frame, unit: int) -> Values:
        """Importing a module runs it; the exact way does so at this very moment."""
        if self.exact:
            self.run_module(unit)
        return frozenset((self.modules[unit],))

    def run_module(self, unit: int) -> None:
        raise NotImplementedError

    def external_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        dotted: str = self.heap.data[source]
        unit = self.tops.get(f"{dotted}.{name}")  # a namespace package has no file of its own
        if unit is not None and self.program.units[unit].language == "python":
            return self.module(frame, unit)
        if dotted.count(".") >= MAX_EXTERNAL_DOTS:
            return self.heap.only[source]
        return frozenset((self.heap.external(f"{dotted}.{name}"),))

    def instance_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        own = self.own_field(frame, source, name, line)
        if own and self.exact:
            return own
        cls = self.heap.data[source]
        if self.heap.kind[cls] != h.CLASS or self.heap.data[cls].javascript:
            return own | self.prototype_attribute(frame, self.prototypes(frame, cls), source, name, line)
        found = own
        for cell, owner in self.find(frame, cls, name):
            bound = self.bind(frame, self.read(frame, cell), source, owner, line)
            found = found | bound if found else bound
        if not found and name[:2] != "__":
            for cell, _ in self.find(frame, cls, "__getattr__"):
                given = frozenset((self.heap.constant(name),))
                getter = self.bind(frame, self.read(frame, cell), source, cls, line)
                found |= self.call(frame, getter, (given,), (), (), line, ("getattr", source, name))
        return found

    def bind(self, frame: Frame, values: Values, receiver: int, owner: int, line: int) -> Values:
        """What a class attribute becomes when it is read through an instance."""
        heap = self.heap
        if len(values) == 1:
            (value,) = values
            if heap.kind[value] == h.FUNC:
                return frozenset((heap.bound(value, receiver),))
        found: list[int] = []
        for value in values:
            kind = heap.kind[value]
            if kind == h.FUNC:
                found.append(heap.bound(value, receiver))
            elif kind == h.STATICMETHOD:
                found.extend(heap.data[value])
            elif kind == h.CLASSMETHOD:
                cls = heap.data[receiver] if heap.kind[receiver] == h.INSTANCE else receiver
                found.extend(heap.bound(f, cls) if heap.kind[f] == h.FUNC else f for f in heap.data[value])
            elif kind == h.PROPERTY:
                getters = frozenset(heap.bound(g, receiver) for g in heap.data[value][0] if heap.kind[g] == h.FUNC)
                found.extend(self.call(frame, getters, (), (), (), line, ("property", value, receiver)))
            elif kind == h.INSTANCE:
                found.extend(self.descriptor(frame, value, receiver, owner, line))
            else:
                found.append(value)
        return frozenset(found)

    def descriptor(self, frame: Frame, value: int, receiver: int, owner: int, line: int) -> Values:
        cls = self.heap.data[value]
        if self.heap.kind[cls] != h.CLASS or not self.find(frame, cls, "__get__"):
            return self.heap.only[value]
        getter = self.attribute(frame, self.heap.only[value], "__get__", line)
        args = (self.heap.only[receiver], self.heap.only[owner])
        return self.call(frame, getter, args, (), (), line, ("get", value, receiver))

    def class_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        if self.heap.data[source].javascript:
            return self.javascript_static(frame, source, name, line)
        found: Values = EMPTY
        for cell, _ in self.find(frame, source, name):
            for value in self.read(frame, cell):
                kind = self.heap.kind[value]
                if kind == h.STATICMETHOD:
                    found |= self.heap.data[value]
                elif kind == h.CLASSMETHOD:
                    bound = (self.heap.bound(f, source) for f in self.heap.data[value] if self.heap.kind[f] == h.FUNC)
                    found |= frozenset(bound)
                else:
                    found |= {value}
        return found if found or name == METACLASS else self.metaclass_attribute(frame, source, name)

    def metaclass_attribute(self, frame: Frame, source: int, name: str) -> Values:
        found: Values = EMPTY
        for cell, _ in self.find(frame, source, METACLASS):
            for meta in self.read(frame, cell):
                if self.heap.kind[meta] == h.CLASS:
                    for method, owner in self.find(frame, meta, name):
                        found |= self.bind(frame, self.read(frame, method), source, owner, 0)
        return found

    def super_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        cls, receiver = self.heap.data[source]
        found = EMPTY
        if self.heap.data[cls].javascript:
            for base in self.heap.data[cls].bases:
                static = self.heap.kind[receiver] == h.CLASS
                for b in base:
                    if static:
                        found |= self.attribute(frame, frozenset((b,)), name, line)
                    else:
                        found |= self.prototype_attribute(frame, self.prototypes(frame, b), receiver, name, line)
            return found
        if frame.reader is not None:
            self.find(frame, cls, name)  # so as to hear of new bases
        for cell, owner in self.superclass_search(cls, receiver, name):
            found |= self.bind(frame, self.read(frame, cell), receiver, owner, line)
        return found

    def property_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        return frozenset((self.heap.make(h.SETTER, (source, name), ("setter", source, name)),))

    def function_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        if name == "prototype":
            return frozenset((self.prototype_of(source),))
        return self.own_field(frame, source, name, line)

    # JavaScript

    def prototype_of(self, source: int) -> int:
        heap = self.heap
        return (
            heap.data[source].prototype
            if heap.kind[source] == h.CLASS
            else heap.make(h.TABLE, 1, ("proto", source), True)
        )

    def prototypes(self, frame: Frame, source: int) -> list[int]:
        """The chain of objects in which methods of `source`'s instances are looked up."""
        heap, todo = self.heap, [source]
        chain: list[int] = []
        while todo and len(chain) < 40:
            current = todo.pop(0)
            if heap.kind[current] == h.CLASS and heap.data[current].javascript:
                chain.append(heap.data[current].prototype)
                todo.extend(b for values in heap.data[current].bases for b in sorted(values))
            elif heap.kind[current] in (h.FUNC, h.BOUND):
                chain.append(self.prototype_of(current))
            elif heap.kind[current] == h.TABLE:
                chain.append(current)
            for parent in self.parents(frame, chain[-1]) if chain else ():
                if parent not in chain:
                    chain.append(parent)
        return chain

    def parents(self, frame: Frame, source: int) -> Values:
        cell = self.heap.fields[source].get("__proto__")
        return self.read(frame, cell) if cell is not None else EMPTY

    def prototype_attribute(self, frame: Frame, chain: list[int], receiver: int, name: str, line: int) -> Values:
        for prototype in chain:
            found = self.own_field(frame, prototype, name, line)
            if found:
                return self.bind_getter(frame, found, receiver, line)
        return EMPTY

    def bind_getter(self, frame: Frame, values: Values, receiver: int, line: int) -> Values:
        heap = self.heap
        found = EMPTY
        for value in values:
            if heap.kind[value] == h.PROPERTY:
                getters = frozenset(heap.bound(g, receiver) for g in heap.data[value][0] if heap.kind[g] == h.FUNC)
                found |= self.call(frame, getters, (), (), (), line, ("property", value, receiver))
            else:
                found |= {value}
        return found

    def javascript_static(self, frame: Frame, source: int, name: str, line: int) -> Values:
        if name == "prototype":
            return frozenset((self.heap.data[source].prototype,))
        todo, seen = [source], set()
        while todo:
            current = todo.pop(0)
            seen.add(current)
            if self.heap.kind[current] == h.EXTERNAL:
                return self.external_attribute(frame, current, name, line)
            own = self.own_field(frame, current, name, line)
            if own:
                return self.bind_getter(frame, own, source, line)
            if self.heap.kind[current] == h.CLASS:
                todo.extend(b for v in self.heap.data[current].bases for b in sorted(v) if b not in seen)
        return EMPTY

    def table_attribute(self, frame: Frame, source: int, name: str, line: int) -> Values:
        if not self.heap.data[source]:
            return EMPTY  # a Python dict: its items are no attributes
        own = self.bind_getter(frame, self.own_field(frame, source, name, line), source, line)
        any_key = self.heap.fields[source].get(ANY_KEY)
        if any_key is not None:
            own |= self.read(frame, any_key)
        if not own:
            for parent in self.parents(frame, source):
                own |= self.prototype_attribute(frame, self.prototypes(frame, parent), source, name, line)
        return own

    # items

    def item(self, frame: Frame, sources: Values, keys: Values, line: int) -> Values:
        heap, found = self.heap, EMPTY
        for source in sources:
            kind = heap.kind[source]
            if kind in (h.ARRAY, h.TABLE):
                found |= self.keyed(frame, source, keys)
            elif (
                kind == h.INSTANCE
                and heap.kind[heap.data[source]] == h.CLASS
                and not heap.data[heap.data[source]].javascript
            ):
                getter = self.attribute(frame, self.heap.only[source], "__getitem__", line)
                found |= self.call(frame, getter, (keys,), (), (), line, ("item", source))
            elif kind in (h.INSTANCE, h.CLASS, h.FUNC, h.MODULE, h.EXTERNAL):
                for key in keys:
                    if heap.kind[key] == h.CONSTANT and isinstance(heap.data[key], str):
                        found |= self.attribute(frame, self.heap.only[source], heap.data[key], line)
        return found

    def keyed(self, frame: Frame, source: int, keys: Values) -> Values:
        heap = self.heap
        constants = [heap.data[k] for k in keys if heap.kind[k] == h.CONSTANT]
        if not constants or len(constants) < len(keys):
            return self.elements(frame, self.heap.only[source])
        found = EMPTY
        for constant in [*(self.key(source, c) for c in constants), ANY_KEY]:
            if frame.reader is not None:
                found |= self.read(frame, heap.cell(source, constant))
            elif constant in heap.fields[source]:
                found |= heap.fields[source][constant].values
        return self.bind_getter(frame, found, source, 0) if found else found

    def key(self, source: int, constant: Any) -> Any:
        """JavaScript's keys are strings (and a string key is an attribute); Python tells 1 from "1"."""
        if self.heap.kind[source] == h.TABLE and self.heap.data[source]:
            return str(constant)
        return constant if isinstance(constant, int) else "[" + constant

    def write_item(self, frame: Frame, target: int, keys: Values, values: Values, lone: bool) -> None:
        heap = self.heap
        constants = [heap.data[k] for k in keys if heap.kind[k] == h.CONSTANT]
        if not constants or len(constants) < len(keys):
            self.write_key(frame, target, ANY_KEY, values, False)
            return
        for constant in constants:
            self.write_key(frame, target, self.key(target, constant), values, lone and len(constants) == 1)

    def write_key(self, frame: Frame, target: int, key: Any, values: Values, lone: bool) -> None:
        fields = self.heap.fields[target]
        if key not in fields and ANY_KEY in fields:
            self.wake(fields[ANY_KEY].readers)
        self.write_attribute(frame, target, key, values, lone)

    def call(
        self,
        frame: Frame,
        callees: Values,
        args: tuple[Values, ...],
        keywords: tuple[tuple[str, Values], ...],
        spreads: tuple[Values, ...],
        line: int,
        op: Any,
    ) -> Values:
        raise NotImplementedError


A = Attributes
_LOADERS = {
    h.NOTHING: A.no_attribute,
    h.FUNC: A.function_attribute,
    h.BOUND: A.no_attribute,
    h.CLASS: A.class_attribute,
    h.INSTANCE: A.instance_attribute,
    h.MODULE: A.module_attribute,
    h.ARRAY: A.own_field,
    h.TABLE: A.table_attribute,
    h.CONSTANT: A.no_attribute,
    h.EXTERNAL: A.external_attribute,
    h.STATICMETHOD: A.no_attribute,
    h.CLASSMETHOD: A.no_attribute,
    h.PROPERTY: A.property_attribute,
    h.SETTER: A.no_attribute,
    h.SUPER: A.super_attribute,
    h.PARTIAL: A.no_attribute,
    h.IDENTITY: A.no_attribute,
    h.PROMISE: A.no_attribute,
}
