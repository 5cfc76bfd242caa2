"""Runs lowered code over sets of abstract values until nothing new is learned.

Two ways of calling share everything else. A *small* program is run as written: each call enters the callee with the
values of that call, writes replace what was there, and so order and context are known (`exact`). A *large* one is
solved by summaries: each function runs on the union of what its callers pass, and looks again at the ops that read
something which has grown; only short functions that make closures are still entered per call. Neither keeps more than
a few dozen values a variable, and both visit everything in a fixed order.
"""

from collections import deque
from typing import Any

from trivium.code.lowering import ops
from trivium.code.solver import heap as h
from trivium.code.solver.heap import ANY_KEY, EMPTY, Cell, Env, Heap
from trivium.code.solver.program import Program

Values = frozenset[int]


class OutOfBudget(Exception):
    """The exact way costs too much here."""


class Summary:
    """One function in one closure: what flows in, what flows out, and which of its ops have something new to see.

    `dirty` is a bit mask over the flattened ops: those that read a cell which has changed. `grown` are those that use a
    register which has grown. Registers keep their values between runs, so that a second look costs what has changed.
    """

    __slots__ = (
        "dirty",
        "env",
        "frame",
        "function",
        "grown",
        "number",
        "outer",
        "params",
        "queued",
        "result",
        "this",
        "yields",
    )

    def __init__(self, number: int, function: ops.Function, outer: Env, env: Env) -> None:
        self.number = number
        self.function = function
        self.outer = outer
        self.env = env
        self.params = [Cell() for _ in function.params]
        self.result = Cell()
        self.yields = Cell()
        self.this = Cell()
        self.queued = False
        self.dirty = 0
        self.grown = 0
        self.frame: Frame | None = None


class Lookup:
    """A remembered search for an attribute of a class, and who relied on it."""

    __slots__ = ("found", "order", "readers")

    def __init__(self, found: tuple[tuple[Cell, int], ...], order: tuple[int, ...]) -> None:
        self.found = found
        self.order = order
        self.readers: dict[Summary, int] = {}


class Frame:
    """One activation of a function body."""

    __slots__ = (
        "bit",
        "context",
        "delta",
        "depth",
        "env",
        "memo",
        "number",
        "outer",
        "reader",
        "regs",
        "result",
        "this",
        "unit",
        "weak",
        "yields",
    )

    def __init__(self, number: int, unit: int, registers: int, outer: Env, env: Env, reader: Summary | None) -> None:
        self.number = number
        self.unit = unit
        self.regs: list[Values] = [EMPTY] * (registers + 1)  # the last one is for register -1: untracked
        self.outer = outer
        self.env = env
        self.reader = reader
        self.bit = 0  # the op of the reader that is running
        self.delta = False  # it runs again only because a register has grown: what it saw before need not be seen again
        self.memo: dict[int, tuple[Values, Any]] = {}
        self.this: Values = EMPTY
        self.result: Values = EMPTY
        self.yields: Values = EMPTY
        self.weak = 1
        self.depth = 0
        self.context = 0


class EngineState:
    """What is known so far, and the primitive reads and writes on it."""

    def __init__(self, program: Program, exact: bool, budget: int) -> None:
        self.program = program
        self.exact = exact
        self.budget = budget
        self.heap = Heap()
        self.calls: list[dict[int, int]] = [{} for _ in program.functions]
        self.creates: list[dict[int, int]] = [{} for _ in program.functions]
        self.refers: list[dict[tuple[str, int], int]] = [{} for _ in program.functions]
        self.extends: dict[tuple[int, int], int] = {}
        self.implements: dict[tuple[int, int], int] = {}
        self.alternatives = 0  # more than one: the call being made has several possible callees
        self.uncertain: set[tuple[int, int]] = set()
        self.inlined: set[int] = set()  # nameless functions a built-in runs: their edges are those of the code around
        self.unresolved: dict[tuple[int, int], str] = {}
        self.many: dict[tuple[int, int], str] = {}  # calls on more receivers than a set may hold
        self.resolved: set[tuple[int, int]] = set()
        self.class_objects: list[int] = []
        self.modules = [self.heap.make(h.MODULE, u, ("m", u)) for u in range(len(program.units))]
        self.started: set[int] = set()
        self.reached: set[int] = set()
        self.owners: dict[int, tuple[int, int]] = {}  # method -> how it is bound, its class
        self.class_of_function: dict[int, Values] = {}
        self.made: dict[int, None] = {}  # every function object, in the order they came to be
        self.settlers: dict[int, int] = {}
        self.tops: dict[str, int] = {}
        self._constants: dict[str | int, Values] = {}
        self._builtins: dict[str, Values] = {}
        self._module_names: dict[int, set[str]] = {}
        self.declared: dict[int, tuple[tuple[int, Values], ...]] = {}
        self.defaults: dict[int, dict[int, Cell]] = {}
        self.queue: deque[Summary] = deque()
        self.summaries: dict[tuple[int, int], Summary] = {}
        self._summary_of: dict[int, Summary] = {}
        self.stack: list[int] = []
        self._lookups: dict[str, dict[int, Lookup]] = {}
        self._asked: dict[int, dict[str, None]] = {}
        self.root = Env(None, 0)
        self._environments = 0
        self.small_environments: dict[int, dict[Any, Env]] = {}
        self._contexts: dict[tuple[int, int], int] = {}

    # cells

    def read(self, frame: Frame, cell: Cell) -> Values:
        reader = frame.reader
        if reader is not None:
            readers = cell.readers
            readers[reader] = readers.get(reader, 0) | frame.bit
        return cell.values

    def add(self, cell: Cell, values: Values) -> None:
        if not values <= cell.values and self.heap.grow(cell, values):
            self.wake(cell.readers)

    def wake(self, readers: dict[Summary, int]) -> None:
        for reader, bits in readers.items():
            reader.dirty |= bits
            if not reader.queued:
                reader.queued = True
                self.queue.append(reader)

    def put(self, frame: Frame, cell: Cell, values: Values) -> None:
        """Replaces where the write certainly happens, adds where it may."""
        if frame.weak:
            self.add(cell, values)
        else:
            cell.values = values

    def enqueue(self, summary: Summary) -> None:
        if not summary.queued:
            summary.queued = True
            self.queue.append(summary)

    def environment(self, parent: Env) -> Env:
        self._environments += 1
        return Env(parent, self._environments)

    def context(self, frame: Frame, op: Any) -> int:
        key = (frame.context if self.exact else 0, id(op))
        return self._contexts.setdefault(key, len(self._contexts) + 1)

    # attributes

    def write_attribute(self, frame: Frame, target: int, name: Any, values: Values, lone: bool) -> None:
        heap = self.heap
        if heap.kind[target] == h.CLASS and name not in heap.fields[target]:
            self._look_again(name, target)
        cell = heap.cell(target, name)
        if lone and not frame.weak and (heap.single[target] or heap.kind[target] in (h.CLASS, h.MODULE)):
            cell.values = values
        else:
            self.add(cell, values)

    def _look_again(self, name: str, cls: int) -> None:
        """A class has gained a name or a base: whoever looked there before looks again."""
        known = self._lookups.get(name)
        if known:
            for asked in [c for c, lookup in known.items() if cls in lookup.order]:
                self.wake(known.pop(asked).readers)

    def new_bases(self, cls: int) -> None:
        affected = [asked for asked in self._asked if cls in self.heap.mro(asked)]
        self.heap.forget_mro(cls)
        for name in dict.fromkeys(n for asked in affected for n in self._asked[asked]):
            self._look_again(name, cls)

    def find(self, frame: Frame, cls: int, name: str) -> tuple[tuple[Cell, int], ...]:
        """The cells that may hold attribute `name` of class `cls`, with the class each was found in: the first class
        in resolution order that has the name, or the external one that might."""
        if self.exact:
            return self._search(self.heap.mro(cls), name)
        known = self._lookups.get(name)
        if known is None:
            known = self._lookups[name] = {}
        lookup = known.get(cls)
        if lookup is None:
            order = self.heap.mro(cls)
            lookup = known[cls] = Lookup(self._search(order, name), order)
            self._asked.setdefault(cls, {})[name] = None
        if frame.reader is not None:
            lookup.readers[frame.reader] = lookup.readers.get(frame.reader, 0) | frame.bit
        return lookup.found

    def _search(self, order: tuple[int, ...], name: str) -> tuple[tuple[Cell, int], ...]:
        heap = self.heap
        for candidate in order:
            if heap.kind[candidate] == h.EXTERNAL:
                if heap.data[candidate] != "<builtin>.object":
                    return ((Cell(frozenset((heap.external(f"{heap.data[candidate]}.{name}"),))), candidate),)
                continue
            cell = heap.fields[candidate].get(name)
            if cell is not None:
                return ((cell, candidate),)
        return ()

    def superclass_search(self, cls: int, receiver: int, name: str) -> tuple[tuple[Cell, int], ...]:
        order = self.heap.mro(self.heap.data[receiver] if self.heap.kind[receiver] == h.INSTANCE else receiver)
        rest = order[order.index(cls) + 1 :] if cls in order else self.heap.mro(cls)[1:]
        return self._search(rest, name)

    def elements(self, frame: Frame, values: Values) -> Values:
        """What iterating, or indexing with an unknown key, may give."""
        heap, found = self.heap, EMPTY
        for value in values:
            if heap.kind[value] in (h.ARRAY, h.TABLE):
                if frame.reader is not None:
                    heap.cell(value, ANY_KEY)
                for cell in list(heap.fields[value].values()):
                    found |= self.read(frame, cell)
        return found

    # edges

    def call_edge(self, frame: Frame, callee: int, line: int) -> None:
        known = self.calls[frame.number]
        if known.setdefault(callee, line) > line:
            known[callee] = line
        if self.alternatives:
            self.uncertain.add((frame.number, callee))
        self.resolved.add((frame.number, line))
