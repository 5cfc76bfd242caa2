# ruff: noqa: ARG001, ARG005 - the models in a table share one signature
"""What JavaScript's built-ins do with the functions they are given: arrays, promises, timers, Object, Function."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trivium.code.solver import heap as h
from trivium.code.solver.builtins_python import Site
from trivium.code.solver.engine import Frame, Values
from trivium.code.solver.heap import ANY_KEY, EMPTY

if TYPE_CHECKING:
    from trivium.code.solver.run import Interpreter

Args = tuple[Values, ...]
Keywords = tuple[tuple[str, Values], ...]


class JavaScriptSite(Site):
    """Nameless functions handed to a built-in count as part of the code that hands them over."""

    def call(self, callees: Values, *args: Values) -> Values:
        heap, program = self.engine.heap, self.engine.program
        for callee in callees:
            if heap.kind[callee] == h.FUNC:
                number = heap.data[callee][0]
                if program.functions[number].definition < 0:
                    self.engine.inlined.add(number)
        return super().call(callees, *args)


def call(
    engine: "Interpreter", frame: Frame, callee: int, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
) -> Values:
    dotted: str = engine.heap.data[callee]
    site = JavaScriptSite(engine, frame, args, keywords, line, op)
    model = _MODELS.get(dotted)
    if model is not None:
        return model(site)
    if callee in engine.settlers:
        cell = engine.heap.cell(engine.settlers[callee], ANY_KEY)
        engine.add(cell, engine.awaited(frame, site.arg(0)))
        return EMPTY
    last = dotted.rpartition(".")[2]
    if last in _CALLBACK_TAKERS:
        for arg in args:
            site.call(arg)
    return engine.heap.only[callee]


_CALLBACK_TAKERS = frozenset(
    (
        "addEventListener",
        "setTimeout",
        "setInterval",
        "setImmediate",
        "requestAnimationFrame",
        "queueMicrotask",
        "nextTick",
    )
)


def iterate(engine: "Interpreter", frame: Frame, source: Values, line: int, op: Any) -> Values:
    """The iterator protocol: `[Symbol.iterator]()` gives an object whose `next()` gives `{value}`."""
    found = EMPTY
    for name in ("[Symbol.iterator]", "[Symbol.asyncIterator]"):
        method = engine.attribute(frame, source, name, line)
        iterators = EMPTY
        for function in method:
            if engine.heap.kind[function] == h.FUNC:
                iterators |= engine.invoke(frame, function, source, (), (), (), line, ("iterator", function))
        found |= engine.elements(frame, frozenset(i for i in iterators if engine.heap.kind[i] == h.ARRAY))
        for iterator in iterators:
            found |= _next_values(engine, frame, iterator, line)
    return found


def _next_values(engine: "Interpreter", frame: Frame, iterator: int, line: int) -> Values:
    me, found = engine.heap.only[iterator], EMPTY
    for function in engine.attribute(frame, me, "next", line):
        if engine.heap.kind[function] == h.FUNC:
            number = engine.heap.data[function][0]
            before = number in engine.calls[frame.number]
            results = engine.invoke(frame, function, me, (), (), (), line, ("next", function))
            if not before and engine.program.functions[number].definition < 0:
                engine.calls[frame.number].pop(number, None)  # an anonymous step of the iterator, not a call one wrote
            found |= engine.attribute(frame, engine.awaited(frame, results), "value", line)
    return found


# arrays


def array_method(
    engine: "Interpreter", frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, line: int, op: Any
) -> Values | None:
    site, me = JavaScriptSite(engine, frame, args, keywords, line, op), engine.heap.only[receiver]
    model = _ARRAY_METHODS.get(name)
    if model is not None:
        return model(site, receiver, engine.elements(frame, me))
    return engine.own_field(frame, receiver, name, line) and None


def _each(site: Site, receiver: int, elements: Values) -> Values:
    site.call(site.arg(0), elements, EMPTY, site.engine.heap.only[receiver])
    return EMPTY


def _mapped(site: Site, receiver: int, elements: Values) -> Values:
    result = site.call(site.arg(0), elements, EMPTY, site.engine.heap.only[receiver])
    return site.array(result | site.engine.elements(site.frame, result) if site.op[3] == "flatMap" else result)


def _filtered(site: Site, receiver: int, elements: Values) -> Values:
    site.call(site.arg(0), elements, EMPTY, site.engine.heap.only[receiver])
    return site.array(elements)


def _found(site: Site, receiver: int, elements: Values) -> Values:
    site.call(site.arg(0), elements, EMPTY, site.engine.heap.only[receiver])
    return elements


def _reduced(site: Site, receiver: int, elements: Values) -> Values:
    start = site.arg(1) or elements
    result = site.call(site.arg(0), start, elements)
    return result | site.call(site.arg(0), result, elements) | site.arg(1)


def _sorted(site: Site, receiver: int, elements: Values) -> Values:
    site.call(site.arg(0), elements, elements)
    return site.engine.heap.only[receiver]


def _pushed(site: Site, receiver: int, elements: Values) -> Values:
    engine, frame = site.engine, site.frame
    length = engine.heap.data[receiver]
    for values in site.args:
        if engine.exact and not frame.weak and engine.heap.single[receiver] and 0 <= length < 16:
            engine.write_key(frame, receiver, length, values, True)
            length += 1
        else:
            length = -1
            engine.write_key(frame, receiver, ANY_KEY, values, False)
    engine.heap.data[receiver] = length
    return EMPTY


def _element(site: Site, receiver: int, elements: Values) -> Values:
    return elements


def _same(site: Site, receiver: int, elements: Values) -> Values:
    return site.engine.heap.only[receiver]


def _concatenated(site: Site, receiver: int, elements: Values) -> Values:
    for arg in site.args:
        elements |= site.engine.elements(site.frame, arg)
    return site.array(elements)


def _keys(site: Site, receiver: int, elements: Values) -> Values:
    return site.array(EMPTY)


def _entries(site: Site, receiver: int, elements: Values) -> Values:
    return site.array(site.array(EMPTY, EMPTY, elements))


def _popped(site: Site, receiver: int, elements: Values) -> Values:
    engine = site.engine
    length = engine.heap.data[receiver]
    if length > 0 and engine.exact and not site.frame.weak and site.op[3] == "pop":
        last = engine.keyed_at(site.frame, receiver, length - 1)
        engine.heap.data[receiver] = length - 1
        engine.heap.fields[receiver].pop(length - 1, None)
        return last
    return elements


_ARRAY_METHODS: dict[str, Callable[[Site, int, Values], Values]] = {
    "forEach": _each, "some": _each, "every": _each, "findIndex": _each, "findLastIndex": _each,
    "map": _mapped, "flatMap": _mapped, "filter": _filtered, "find": _found, "findLast": _found,
    "reduce": _reduced, "reduceRight": _reduced, "sort": _sorted, "toSorted": _sorted,
    "push": _pushed, "unshift": _concatenated, "pop": _popped, "shift": _element, "at": _element,
    "slice": _concatenated, "concat": _concatenated, "splice": _concatenated, "flat": _concatenated,
    "reverse": _same, "fill": _same, "values": _same, "keys": _keys, "entries": _entries,
    "next": lambda site, receiver, elements: _iterator_result(site, elements), "return": _element,
}  # fmt: skip


def _iterator_result(site: Site, elements: Values) -> Values:
    engine = site.engine
    made = engine.heap.make(h.TABLE, 1, ("result", id(site.op), site.frame.context))
    engine.write_key(site.frame, made, "value", elements, False)
    return site.engine.heap.only[made]


# functions and promises


def function_method(
    engine: "Interpreter", frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, line: int, op: Any
) -> Values | None:
    """`call`, `apply` and `bind`; None for anything a user may have put on the function."""
    if engine.heap.kind[receiver] == h.FUNC and not engine.is_javascript(receiver):
        return None
    function = engine.heap.data[receiver][0] if engine.heap.kind[receiver] == h.BOUND else receiver
    this = args[0] if args else EMPTY
    if name == "call":
        return engine.invoke(frame, function, this, args[1:], (), (), line, op)
    if name == "apply":
        return engine.invoke(frame, function, this, (), (), args[1:2], line, op)
    if name == "bind":
        callees = frozenset(engine.heap.bound(function, t) for t in this) or engine.heap.only[function]
        data = (callees, args[1:], ())
        return frozenset((engine.heap.make(h.PARTIAL, data, ("bind", data)),)) if args[1:] else callees
    return None


def promise_method(
    engine: "Interpreter", frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, line: int, op: Any
) -> Values | None:
    site = JavaScriptSite(engine, frame, args, keywords, line, op)
    value = engine.read(frame, engine.heap.cell(receiver, ANY_KEY))
    if name == "then":
        return promise(site, site.call(site.arg(0), value) | site.call(site.arg(1), EMPTY))
    if name in ("catch", "finally"):
        return promise(site, value | site.call(site.arg(0), EMPTY))
    return EMPTY


def promise(site: Site, values: Values) -> Values:
    engine = site.engine
    made = engine.heap.make(h.PROMISE, None, ("promise", id(site.op), site.frame.context))
    engine.add(engine.heap.cell(made, ANY_KEY), engine.awaited(site.frame, values))
    return site.engine.heap.only[made]


def _new_promise(site: Site) -> Values:
    """`new Promise(f)` calls f with functions that settle it."""
    engine = site.engine
    made = promise(site, EMPTY)
    settle = frozenset(engine.heap.make(h.EXTERNAL, "<settle>", ("settle", p)) for p in made)
    for function in settle:
        engine.settlers[function] = min(made)
    site.call(site.arg(0), settle, settle)
    return made


def _all(site: Site) -> Values:
    settled = site.engine.awaited(site.frame, site.engine.elements(site.frame, site.arg(0)))
    return promise(site, site.array(settled))


def _race(site: Site) -> Values:
    return promise(site, site.engine.elements(site.frame, site.arg(0)))


# Object, Array, Map


def _assign(site: Site) -> Values:
    engine = site.engine
    for target in site.arg(0):
        if engine.heap.kind[target] in (h.TABLE, h.INSTANCE, h.FUNC, h.CLASS):
            for source in site.args[1:]:
                engine.copy_fields(site.frame, source, target)
    return site.arg(0)


def _create(site: Site) -> Values:
    engine = site.engine
    made = engine.heap.make(
        h.TABLE, 1, ("create", id(site.op), site.frame.context), engine.exact and not site.frame.weak
    )
    engine.write_key(site.frame, made, "__proto__", site.arg(0), True)
    return site.engine.heap.only[made]


def _set_prototype(site: Site) -> Values:
    for target in site.arg(0):
        site.engine.write_attribute(site.frame, target, "__proto__", site.arg(1), True)
    return site.arg(0)


def _values(site: Site) -> Values:
    return site.array(site.engine.elements(site.frame, site.arg(0)))


def _object_entries(site: Site) -> Values:
    return site.array(site.array(EMPTY, EMPTY, site.engine.elements(site.frame, site.arg(0))))


def _object_keys(site: Site) -> Values:
    heap, names = site.engine.heap, []
    for source in site.arg(0):
        names += [n for n in heap.fields[source] if isinstance(n, str) and n not in (ANY_KEY, "__proto__")]
    return site.array(frozenset(heap.constant(n) for n in names) if len(names) <= h.MAX_CONSTANTS else EMPTY)


def _define(site: Site) -> Values:
    engine = site.engine
    values = engine.attribute(site.frame, site.arg(2), "value", site.line)
    getters = engine.attribute(site.frame, site.arg(2), "get", site.line)
    if getters:
        values |= {engine.heap.make(h.PROPERTY, [getters, EMPTY], ("p", getters))}
    for target in site.arg(0):
        for name in site.constant_names(site.arg(1)):
            engine.write_attribute(site.frame, target, name, values, True)
    return site.arg(0)


def _array_from(site: Site) -> Values:
    elements = site.iterated(site.arg(0))
    if site.arg(1):
        return site.array(site.call(site.arg(1), elements))
    return site.array(elements)


def _array_of(site: Site) -> Values:
    return site.array(EMPTY, *site.args) if site.args else site.array(EMPTY)


def _map(site: Site) -> Values:
    engine = site.engine
    made = engine.heap.make(h.TABLE, 2, ("map", id(site.op), site.frame.context))
    pairs = engine.elements(site.frame, site.arg(0))
    engine.write_key(site.frame, made, ANY_KEY, engine.elements(site.frame, pairs) or pairs, False)
    return site.engine.heap.only[made]


def table_method(
    engine: "Interpreter", frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, line: int, op: Any
) -> Values | None:
    """Methods of Map and Set (flag 2); a plain object's are the user's own."""
    if engine.heap.data[receiver] != 2:
        return None
    site, me = JavaScriptSite(engine, frame, args, keywords, line, op), engine.heap.only[receiver]
    if name in ("set", "add"):
        key = site.arg(0) if name == "set" else EMPTY
        engine.write_item(frame, receiver, key, args[-1] if args else EMPTY, False)
        return me
    if name == "get":
        return engine.keyed(frame, receiver, site.arg(0))
    if name == "forEach":
        site.call(site.arg(0), engine.elements(frame, me))
        return EMPTY
    if name == "entries":
        return site.array(site.array(EMPTY, EMPTY, engine.elements(frame, me)))
    return site.array(engine.elements(frame, me)) if name == "values" else EMPTY


def _run_first(site: Site) -> Values:
    site.call(site.arg(0), *site.args[2:])
    return EMPTY


def _accessor(is_getter: bool) -> Callable[[Site], Values]:
    def model(site: Site) -> Values:
        data = [site.arg(0), EMPTY] if is_getter else [EMPTY, site.arg(0)]
        return frozenset((site.engine.heap.make(h.PROPERTY, data, ("accessor", is_getter, site.arg(0))),))

    return model


_MODELS: dict[str, Callable[[Site], Values]] = {
    "<builtin>.<getter>": _accessor(True),
    "<builtin>.<setter>": _accessor(False),
    "<builtin>.Promise": _new_promise,
    "<builtin>.Promise.resolve": lambda site: promise(site, site.arg(0)),
    "<builtin>.Promise.reject": lambda site: promise(site, EMPTY),
    "<builtin>.Promise.all": _all,
    "<builtin>.Promise.allSettled": _all,
    "<builtin>.Promise.race": _race,
    "<builtin>.Promise.any": _race,
    "<builtin>.Object.assign": _assign,
    "<builtin>.Object.create": _create,
    "<builtin>.Object.setPrototypeOf": _set_prototype,
    "<builtin>.Object.values": _values,
    "<builtin>.Object.entries": _object_entries,
    "<builtin>.Object.keys": _object_keys,
    "<builtin>.Object.freeze": lambda site: site.arg(0),
    "<builtin>.Object.seal": lambda site: site.arg(0),
    "<builtin>.Object.defineProperty": _define,
    "<builtin>.Reflect.get": lambda site: site.engine.item(site.frame, site.arg(0), site.arg(1), site.line),
    "<builtin>.Reflect.apply": lambda site: site.call(site.arg(0), site.engine.elements(site.frame, site.arg(2))),
    "<builtin>.Array": _array_of,
    "<builtin>.Array.of": _array_of,
    "<builtin>.Array.from": _array_from,
    "<builtin>.Map": _map,
    "<builtin>.Set": _map,
    "<builtin>.WeakMap": _map,
    "<builtin>.setTimeout": _run_first,
    "<builtin>.setInterval": _run_first,
    "<builtin>.setImmediate": _run_first,
    "<builtin>.queueMicrotask": _run_first,
    "<builtin>.requestAnimationFrame": _run_first,
    "<builtin>.process.nextTick": _run_first,
}
