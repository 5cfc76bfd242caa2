"""Runs lowered code over sets of abstract values until nothing new is learned.

Two ways of calling share everything else. A *small* program is run as written: each call enters the callee with the
values of that call, writes replace what was there, and so order and context are known (`exact`). A *large* one is solved
by summaries: each function runs on the union of what its callers pass, again whenever something it has read grows; only
short functions are still entered per call. Neither keeps more than a few dozen values a variable, and both visit
everything in a fixed order.
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
    """One function in one closure: what flows in, what flows out."""

    __slots__ = ("env", "function", "has_run", "number", "outer", "params", "queued", "result", "this", "yields")

    def __init__(self, number: int, function: ops.Function, outer: Env | None, env: Env) -> None:
        self.number = number
        self.function = function
        self.outer = outer
        self.env = env
        self.params = [Cell() for _ in function.params]
        self.result = Cell()
        self.yields = Cell()
        self.this = Cell()
        self.queued = False
        self.has_run = False


class Frame:
    """One activation of a function body."""

    __slots__ = ("context", "depth", "env", "number", "outer", "reader", "regs", "result", "this", "unit", "weak", "yields")

    def __init__(self, number: int, unit: int, registers: int, outer: Env | None, env: Env, reader: Summary | None) -> None:
        self.number = number
        self.unit = unit
        self.regs: list[Values] = [EMPTY] * (registers + 1)  # the last one is for register -1: untracked
        self.outer = outer
        self.env = env
        self.reader = reader
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
        self.unresolved: dict[tuple[int, int], str] = {}
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
        self._module_names: dict[int, set[str]] = {}
        self.declared: dict[int, tuple[tuple[int, Values], ...]] = {}
        self.defaults: dict[int, dict[int, Cell]] = {}
        self.queue: deque[Summary] = deque()
        self.summaries: dict[tuple[int, int], Summary] = {}
        self.stack: list[int] = []
        self._lookups: dict[str, dict[int, tuple[tuple[Cell, int], ...]]] = {}
        self._lookup_readers: dict[str, dict[Summary, None]] = {}
        self._environments = 0
        self.small_environments: dict[int, dict[Any, Env]] = {}
        self._contexts: dict[tuple[int, int], int] = {}

    # cells

    def read(self, frame: Frame, cell: Cell) -> Values:
        if frame.reader is not None:
            cell.readers[frame.reader] = None
        return cell.values

    def add(self, cell: Cell, values: Values) -> None:
        if not values <= cell.values:
            grown = self.heap.limited(cell.values | values)
            if grown != cell.values:
                cell.values = grown
                for reader in cell.readers:
                    self.enqueue(reader)

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

    def environment(self, parent: Env | None) -> Env:
        self._environments += 1
        return Env(parent, self._environments)

    def context(self, frame: Frame, op: Any) -> int:
        key = (frame.context if self.exact else 0, id(op))
        return self._contexts.setdefault(key, len(self._contexts) + 1)

    # attributes

    def write_attribute(self, frame: Frame, target: int, name: Any, values: Values, lone: bool) -> None:
        heap = self.heap
        if heap.kind[target] == h.CLASS and name not in heap.fields[target]:
            self._new_name(name)
        cell = heap.cell(target, name)
        if lone and not frame.weak and (heap.single[target] or heap.kind[target] in (h.CLASS, h.MODULE)):
            cell.values = values
        else:
            self.add(cell, values)

    def _new_name(self, name: Any) -> None:
        """A class has gained a name: whoever looked for it looks again."""
        self._lookups.pop(name, None)
        for reader in self._lookup_readers.pop(name, ()):
            self.enqueue(reader)

    def new_bases(self) -> None:
        self.heap.forget_mro()
        for name in list(self._lookups):
            self._new_name(name)

    def find(self, frame: Frame, cls: int, name: str) -> tuple[tuple[Cell, int], ...]:
        """The cells that may hold attribute `name` of class `cls`, with the class each was found in: the first class
        in resolution order that has the name, or the external one that might."""
        if self.exact:
            return self._search(self.heap.mro(cls), name)
        if frame.reader is not None:
            self._lookup_readers.setdefault(name, {})[frame.reader] = None
        known = self._lookups.setdefault(name, {})
        found = known.get(cls)
        if found is None:
            found = known[cls] = self._search(self.heap.mro(cls), name)
        return found

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
        if callee not in known or line < known[callee]:
            known[callee] = line
        self.resolved.add((frame.number, line))

