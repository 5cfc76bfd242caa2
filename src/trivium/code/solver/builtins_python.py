# ruff: noqa: ARG001 - the models in a table share one signature
"""What Python's built-ins and a little of its library do with the functions they are given.

Everything that is not modelled here returns an opaque external value; a decorator from outside (one argument, a
function or a class) is taken to give back what it got.
"""

from collections.abc import Callable
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from trivium.code.solver import heap as h
from trivium.code.solver.engine import Frame, Values
from trivium.code.solver.heap import ANY_KEY, EMPTY

if TYPE_CHECKING:
    from trivium.code.solver.run import Interpreter

Args = tuple[Values, ...]
Keywords = tuple[tuple[str, Values], ...]
CALLABLE = (h.FUNC, h.BOUND, h.CLASS, h.PARTIAL, h.IDENTITY)


class Site:
    """One call of a built-in: where, by whom, with what."""

    __slots__ = ("args", "engine", "frame", "keywords", "line", "op")

    def __init__(self, engine: "Interpreter", frame: Frame, args: Args, keywords: Keywords, line: int, op: Any) -> None:
        self.engine = engine
        self.frame = frame
        self.args = args
        self.keywords = keywords
        self.line = line
        self.op = op

    def arg(self, index: int) -> Values:
        return self.args[index] if index < len(self.args) else EMPTY

    def keyword(self, name: str) -> Values:
        return next((v for k, v in self.keywords if k == name), EMPTY)

    def iterated(self, values: Values) -> Values:
        found = self.engine.elements(self.frame, values)
        for value in values:
            if self.engine.heap.kind[value] == h.INSTANCE:
                found |= self.engine.iterate_instance(self.frame, value, self.line, ("iterated", value))
        return found

    def call(self, callees: Values, *args: Values) -> Values:
        kind = self.engine.heap.kind
        wanted = frozenset(c for c in callees if kind[c] in CALLABLE or kind[c] == h.INSTANCE)
        return self.engine.call(self.frame, wanted, args, (), (), self.line, self.op)

    def array(self, elements: Values, *parts: Values) -> Values:
        """A new sequence of known parts, or of unknown length holding `elements`."""
        engine, frame = self.engine, self.frame
        key = ("built", id(self.op) if isinstance(self.op, (tuple, list)) else self.op, frame.context, len(parts))
        if parts:
            return frozenset((engine.array(frame, parts, key),))
        made = engine.heap.make(h.ARRAY, -1, key)
        engine.write_key(frame, made, ANY_KEY, elements, False)
        return engine.heap.only[made]

    def constant_names(self, values: Values) -> list[str]:
        heap = self.engine.heap
        return [heap.data[v] for v in values if heap.kind[v] == h.CONSTANT and isinstance(heap.data[v], str)]


def call(
    engine: "Interpreter", frame: Frame, callee: int, args: Args, keywords: Keywords, spreads: Args, line: int, op: Any
) -> Values:
    model = _MODELS.get(engine.heap.data[callee])
    if model is not None:
        return model(Site(engine, frame, args, keywords, line, op))
    result = engine.heap.only[callee]
    if len(args) == 1 and args[0]:
        kind = engine.heap.kind
        result |= frozenset([v for v in args[0] if kind[v] in (h.FUNC, h.CLASS)])
    return result


def _map(site: Site) -> Values:
    kind = site.engine.heap.kind
    functions = frozenset(v for a in site.args for v in a if kind[v] in CALLABLE)
    sources = [site.iterated(a) for a in site.args if not a & functions]
    return site.array(site.call(functions, *sources))


def _filter(site: Site) -> Values:
    elements = site.iterated(site.arg(1)) | site.iterated(site.arg(0))
    site.call(site.arg(0), elements)
    return site.array(elements)


def _sorted(site: Site) -> Values:
    elements = site.iterated(site.arg(0))
    site.call(site.keyword("key"), elements)
    return site.array(elements)


def _best(site: Site) -> Values:
    elements = site.iterated(site.arg(0)) if len(site.args) == 1 else EMPTY.union(*site.args)
    site.call(site.keyword("key"), elements)
    return elements


def _reduce(site: Site) -> Values:
    elements = site.iterated(site.arg(1)) | site.arg(2)
    result = site.call(site.arg(0), elements, elements)
    return result | site.call(site.arg(0), result, elements) | site.arg(2)


def _sequence(site: Site) -> Values:
    return site.array(site.iterated(site.arg(0)))


def _enumerate(site: Site) -> Values:
    pair = site.array(EMPTY, EMPTY, site.iterated(site.arg(0)))
    return site.array(pair)


def _zip(site: Site) -> Values:
    return site.array(site.array(EMPTY, *(site.iterated(a) for a in site.args))) if site.args else EMPTY


def _iter(site: Site) -> Values:
    engine = site.engine
    found = site.arg(0)
    for value in site.arg(0):
        if engine.heap.kind[value] == h.INSTANCE:
            method = engine.attribute(site.frame, engine.heap.only[value], "__iter__", site.line)
            found = engine.call(site.frame, method, (), (), (), site.line, ("iter", value))
    return found


def _next(site: Site) -> Values:
    engine = site.engine
    found = engine.elements(site.frame, site.arg(0)) | site.arg(1)
    for value in site.arg(0):
        if engine.heap.kind[value] == h.INSTANCE:
            method = engine.attribute(site.frame, engine.heap.only[value], "__next__", site.line)
            found |= engine.call(site.frame, method, (), (), (), site.line, ("next", value))
    return found


def _dict(site: Site) -> Values:
    engine, frame = site.engine, site.frame
    made = engine.heap.make(h.TABLE, 0, ("dict", id(site.op), frame.context), engine.exact and not frame.weak)
    for source in site.args:
        engine.copy_fields(frame, frozenset(v for v in source if engine.heap.kind[v] == h.TABLE), made)
        arrays = frozenset(v for v in source if engine.heap.kind[v] == h.ARRAY)
        engine.write_key(frame, made, ANY_KEY, engine.elements(frame, engine.elements(frame, arrays)), False)
    for name, values in site.keywords:
        if name != "**":
            engine.write_key(frame, made, "[" + name, values, True)
    return engine.heap.only[made]


def _defaultdict(site: Site) -> Values:
    made = _dict(Site(site.engine, site.frame, site.args[1:], site.keywords, site.line, site.op))
    for table in made:
        site.engine.write_key(site.frame, table, ANY_KEY, site.call(site.arg(0)), False)
    return made


def _getattr(site: Site) -> Values:
    found = site.arg(2)
    for name in site.constant_names(site.arg(1)):
        found |= site.engine.attribute(site.frame, site.arg(0), name, site.line)
    return found


def _setattr(site: Site) -> Values:
    names = site.constant_names(site.arg(1))
    for target in site.arg(0):
        if site.engine.heap.kind[target] in (h.INSTANCE, h.CLASS, h.MODULE, h.FUNC):
            for name in names:
                lone = len(names) == 1 == len(site.arg(0))
                site.engine.write_attribute(site.frame, target, name, site.arg(2), lone)
    return EMPTY


def _type(site: Site) -> Values:
    heap = site.engine.heap
    return frozenset(heap.data[v] for v in site.arg(0) if heap.kind[v] == h.INSTANCE)


def _partial(site: Site) -> Values:
    kind = site.engine.heap.kind
    callees = frozenset(v for v in site.arg(0) if kind[v] in CALLABLE or kind[v] == h.EXTERNAL)
    return _bound_later(site, callees, site.args[1:], site.keywords)


def _bound_later(site: Site, callees: Values, args: Args, keywords: Keywords) -> Values:
    """One object for each place that makes it: a partial of a partial of a partial … has no end otherwise."""
    heap = site.engine.heap
    made = heap.make(h.PARTIAL, (callees, args, keywords), ("partial", id(site.op), site.frame.context))
    known = heap.data[made]
    args = tuple(a | b for a, b in zip_longest(known[1], args, fillvalue=EMPTY))
    heap.data[made] = (known[0] | callees, args, keywords or known[2])
    return heap.only[made]


def _first(site: Site) -> Values:
    return site.arg(0)


def _second(site: Site) -> Values:
    return site.arg(1)


def _decorator(site: Site) -> Values:
    """`@cache` and `@cache(…)` both give back the function."""
    kind = site.engine.heap.kind
    functions = frozenset(v for v in site.arg(0) if kind[v] in (*CALLABLE, h.STATICMETHOD, h.CLASSMETHOD, h.PROPERTY))
    return functions or _decorator_maker(site)


def _field(site: Site) -> Values:
    """What a declared field holds where nothing is passed for it."""
    return site.call(site.keyword("default_factory")) | site.keyword("default")


def _decorator_maker(site: Site) -> Values:
    return frozenset((site.engine.heap.make(h.IDENTITY, None, "identity"),))


def _wrapper(kind: int) -> Callable[[Site], Values]:
    def model(site: Site) -> Values:
        heap = site.engine.heap
        for value in site.arg(0):
            site.engine.note_method(value, kind)
        return frozenset((heap.make(kind, site.arg(0), ("w", kind, site.arg(0))),)) if site.arg(0) else EMPTY

    return model


def _property(site: Site) -> Values:
    data = [site.arg(0) | site.keyword("fget"), site.arg(1) | site.keyword("fset")]
    return frozenset((site.engine.heap.make(h.PROPERTY, data, ("p", data[0], data[1])),))


def _all_results(site: Site) -> Values:
    return site.array(EMPTY, *site.args) if site.args else EMPTY


def _thread(site: Site) -> Values:
    site.call(site.keyword("target"), site.iterated(site.keyword("args")))
    return EMPTY


def _protocol(method: str, fallback: str = "") -> Callable[[Site], Values]:
    """`len(x)` calls `x.__len__()`; `str(x)` makes do with `__repr__`."""

    def model(site: Site) -> Values:
        engine = site.engine
        for value in site.arg(0):
            if engine.heap.kind[value] == h.INSTANCE:
                me = engine.heap.only[value]
                found = engine.attribute(site.frame, me, method, site.line)
                if not found and fallback:
                    found = engine.attribute(site.frame, me, fallback, site.line)
                engine.call(site.frame, found, (), (), (), site.line, (method, value))
        return EMPTY

    return model


def _run_argument(index: int) -> Callable[[Site], Values]:
    def model(site: Site) -> Values:
        return site.call(site.arg(index), *site.args[index + 1 :])

    return model


_MODELS: dict[str, Callable[[Site], Values]] = {
    "<builtin>.map": _map,
    "<builtin>.filter": _filter,
    "<builtin>.sorted": _sorted,
    "<builtin>.min": _best,
    "<builtin>.max": _best,
    "<builtin>.list": _sequence,
    "<builtin>.tuple": _sequence,
    "<builtin>.set": _sequence,
    "<builtin>.frozenset": _sequence,
    "<builtin>.reversed": _sequence,
    "<builtin>.enumerate": _enumerate,
    "<builtin>.zip": _zip,
    "<builtin>.iter": _iter,
    "<builtin>.next": _next,
    "<builtin>.anext": _next,
    "<builtin>.dict": _dict,
    "<builtin>.len": _protocol("__len__"),
    "<builtin>.str": _protocol("__str__", "__repr__"),
    "<builtin>.repr": _protocol("__repr__"),
    "<builtin>.format": _protocol("__format__"),
    "<builtin>.bool": _protocol("__bool__", "__len__"),
    "<builtin>.int": _protocol("__int__"),
    "<builtin>.hash": _protocol("__hash__"),
    "<builtin>.abs": _protocol("__abs__"),
    "<builtin>.print": _protocol("__str__", "__repr__"),
    "<builtin>.getattr": _getattr,
    "<builtin>.setattr": _setattr,
    "<builtin>.type": _type,
    "<builtin>.staticmethod": _wrapper(h.STATICMETHOD),
    "<builtin>.classmethod": _wrapper(h.CLASSMETHOD),
    "<builtin>.property": _property,
    "functools.cached_property": _property,
    "functools.partial": _partial,
    "functools.partialmethod": _partial,
    "functools.reduce": _reduce,
    "functools.wraps": _decorator_maker,
    "functools.update_wrapper": _first,
    "functools.lru_cache": _decorator,
    "functools.cache": _decorator,
    "functools.total_ordering": _decorator,
    "functools.singledispatch": _decorator,
    "contextlib.contextmanager": _decorator,
    "contextlib.asynccontextmanager": _decorator,
    "abc.abstractmethod": _decorator,
    "dataclasses.dataclass": _decorator,
    "dataclasses.field": _field,
    "typing.overload": _decorator,
    "typing.final": _decorator,
    "typing.runtime_checkable": _decorator,
    "typing.cast": _second,
    "copy.copy": _first,
    "copy.deepcopy": _first,
    "collections.OrderedDict": _dict,
    "collections.defaultdict": _defaultdict,
    "collections.deque": _sequence,
    "itertools.chain": lambda site: site.array(EMPTY.union(*(site.iterated(a) for a in site.args))),
    "itertools.cycle": _sequence,
    "asyncio.run": _first,
    "asyncio.create_task": _first,
    "asyncio.ensure_future": _first,
    "asyncio.wait_for": _first,
    "asyncio.shield": _first,
    "asyncio.gather": _all_results,
    "asyncio.to_thread": _run_argument(0),
    "threading.Thread": _thread,
    "threading.Timer": _run_argument(1),
    "multiprocessing.Process": _thread,
    "atexit.register": _run_argument(0),
}

# Methods of containers


def array_method(
    engine: "Interpreter", frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, line: int, op: Any
) -> Values | None:
    site, me = Site(engine, frame, args, keywords, line, op), engine.heap.only[receiver]
    if name in ("append", "appendleft", "add", "insert"):
        _append(site, receiver, args[-1] if args else EMPTY)
        return EMPTY
    if name in ("extend", "update", "extendleft"):
        _extend(site, receiver)
        return EMPTY
    if name in ("pop", "popleft", "__getitem__", "__next__", "send"):
        keys = site.arg(0) if name == "__getitem__" else EMPTY
        return engine.keyed(frame, receiver, keys) if keys else engine.elements(frame, me)
    if name in ("copy", "__iter__", "union", "intersection", "difference"):
        return me.union(*args)
    if name == "sort":
        site.call(site.keyword("key"), engine.elements(frame, me))
        return EMPTY
    return EMPTY


def _append(site: Site, receiver: int, values: Values) -> None:
    engine, frame = site.engine, site.frame
    length = engine.heap.data[receiver]
    if engine.exact and not frame.weak and engine.heap.single[receiver] and 0 <= length < 16:
        engine.heap.data[receiver] = length + 1
        engine.write_key(frame, receiver, length, values, True)
    else:
        engine.heap.data[receiver] = -1
        engine.write_key(frame, receiver, ANY_KEY, values, False)


def _extend(site: Site, receiver: int) -> None:
    elements = site.iterated(site.arg(0))
    site.engine.heap.data[receiver] = -1
    site.engine.write_key(site.frame, receiver, ANY_KEY, elements, False)


def table_method(
    engine: "Interpreter", frame: Frame, receiver: int, name: str, args: Args, keywords: Keywords, line: int, op: Any
) -> Values | None:
    site, me = Site(engine, frame, args, keywords, line, op), engine.heap.only[receiver]
    if name in ("get", "pop", "__getitem__"):
        found = engine.keyed(frame, receiver, site.arg(0))
        is_known = engine.exact and found and all(engine.heap.kind[key] == h.CONSTANT for key in site.arg(0))
        return found if is_known else found | site.arg(1)  # run as written, what is there is there
    if name == "setdefault":
        found = engine.keyed(frame, receiver, site.arg(0))
        engine.write_item(frame, receiver, site.arg(0), site.arg(1), False)
        return found | site.arg(1)
    if name == "values":
        return site.array(engine.elements(frame, me))
    if name == "items":
        keys = frozenset(_keys(engine, receiver))
        return site.array(site.array(EMPTY, keys, engine.elements(frame, me)))
    if name == "keys":
        return site.array(frozenset(_keys(engine, receiver)))
    if name == "update":
        for source in args:
            engine.copy_fields(frame, frozenset(v for v in source if engine.heap.kind[v] == h.TABLE), receiver)
        for key, values in keywords:
            engine.write_key(frame, receiver, "[" + key, values, True)
        return EMPTY
    return me if name == "copy" else EMPTY


def _keys(engine: "Interpreter", receiver: int) -> list[int]:
    heap = engine.heap
    named = [n for n in heap.fields[receiver] if n != ANY_KEY]
    if len(named) > h.MAX_CONSTANTS:
        return []
    return [heap.constant(n[1:] if isinstance(n, str) else n) for n in named]
