"""The two ways through a whole program, and the edges that come out."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from trivium.code.solver import heap as h
from trivium.code.solver.engine import Frame, OutOfBudget, Summary
from trivium.code.solver.flat import FlatBody
from trivium.code.solver.heap import EMPTY
from trivium.code.solver.program import Program
from trivium.code.solver.run import Interpreter

EXACT_WEIGHT = 20_000  # ops: programs up to this size are run as written …
EXACT_BUDGET = 2_500  # … unless that takes more calls than this: most packages of 10 kLOC would take millions
MAX_ENTRY_ROUNDS = 3
WORK_PER_OP = 3  # calls bound and ops run again, for each op of the program: Django needs 0.7
MAX_RUNS = 12  # of one summary: beyond it, values circle without telling us more


class Solution(NamedTuple):
    """Edges between numbered functions and classes; every mapping leads to the first line it was seen on."""

    calls: list[dict[int, int]]
    creates: list[dict[tuple[int, int], int]]  # function -> (unit, class index)
    refers: list[dict[tuple[str, int, int], int]]
    extends: dict[tuple[tuple[int, int], tuple[int, int]], int]
    extends_functions: dict[tuple[tuple[int, int], int], int]  # JavaScript: a function can be a base
    implements: dict[tuple[tuple[int, int], tuple[int, int]], int]
    inlined: frozenset[int]
    uncertain: frozenset[tuple[int, int]]  # calls that are one of several possibilities
    unresolved: dict[tuple[int, int], str]  # (function, line) -> method name
    many: dict[tuple[int, int], str]  # likewise: calls on more kinds of receivers than are followed
    exact: bool
    is_complete: bool  # False: the budget ran out before nothing new was learned


def solve(program: Program, may_be_exact: bool = True) -> Solution:
    """Deterministic: the same program gives the same solution, in the same order. `may_be_exact=False`: the way of
    large programs, for a part of one."""
    with without_collector():
        solver = run(program, may_be_exact)
        solution = _solution(solver)
        solver.dispose()
        return solution


@contextmanager
def without_collector() -> Iterator[None]:
    """Millions of small tuples and no garbage cycles worth finding while it lasts."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def run(program: Program, may_be_exact: bool = True) -> "Solver":
    if may_be_exact and program.weight <= EXACT_WEIGHT:
        try:
            return _run_as_written(program)
        except OutOfBudget:
            pass
    return _run_by_summaries(program)


def _run_as_written(program: Program) -> "Solver":
    solver = Solver(program, exact=True, budget=EXACT_BUDGET)
    for unit in range(len(program.units)):
        solver.run_module(unit)
    solver.run_unreached()
    return solver


def _run_by_summaries(program: Program) -> "Solver":
    solver = Solver(program, exact=False, budget=WORK_PER_OP * program.weight + 50_000)
    for unit in program.import_order():
        solver.start_unit(unit)
    solver.drain()
    return solver


class Solver(Interpreter):
    def __init__(self, program: Program, exact: bool, budget: int) -> None:
        super().__init__(program, exact, budget)
        self.runs: dict[Summary, int] = {}
        self._flat: dict[int, FlatBody] = {}
        for unit, module in enumerate(program.modules):
            self.tops.setdefault(module, unit)

    def start_unit(self, unit: int) -> None:
        number = self.program.first[unit]
        made = self.heap.make(h.FUNC, (number, self.root), ("f", number, 0))
        self.enqueue(self.summary(made))

    def run_module(self, unit: int) -> None:
        if unit in self.started:
            return
        self.started.add(unit)
        number = self.program.first[unit]
        frame = Frame(number, unit, self.program.functions[number].registers, self.root, self.root, None)
        frame.weak = 0
        self.stack.append(number)
        self.run(frame, self.program.functions[number].ops)
        self.stack.pop()

    def run_unreached(self) -> None:
        """Functions nobody called are called from outside, with what their declaration tells."""
        for _ in range(MAX_ENTRY_ROUNDS):
            todo = [f for f in self.made if self.heap.data[f][0] not in self.reached]
            for function in todo:
                self.run_entry(function)
            if not todo:
                break

    def run_entry(self, function: int) -> None:
        number, outer = self.heap.data[function]
        self.reached.add(number)
        body = self.program.functions[number]
        frame = self.frame(number, body, outer, None)
        given = [EMPTY] * len(body.params)
        for index, values in self.entry_values(function).items():
            if index < len(given):
                given[index] = values
        frame.weak = 1
        self.run_frame(frame, body, given, self.entry_this(function))
        self.add(self.summary(function).result, frame.result)

    def entry_values(self, function: int) -> dict[int, frozenset[int]]:
        found = {p: v for p, v in self.declared.get(function, ()) if p >= 0 and v}
        for index, cell in self.defaults.get(function, {}).items():
            found[index] = found.get(index, EMPTY) | cell.values
        how, cls = self.owners.get(function, (h.NOTHING, h.UNKNOWN))
        if how == h.FUNC and not self.is_javascript(function):
            found[0] = self.heap.only[self.heap.instance(cls)]
        elif how == h.CLASSMETHOD:
            found[0] = self.heap.only[cls]
        return found

    def entry_this(self, function: int) -> frozenset[int]:
        how, cls = self.owners.get(function, (h.NOTHING, h.UNKNOWN))
        if how == h.NOTHING or not self.is_javascript(function):
            return EMPTY
        return frozenset((self.heap.instance(cls) if how == h.FUNC else cls,))

    def dispose(self) -> None:
        """Breaks the circles between summaries and the cells they read, so that memory is free at once."""
        for summary in self.summaries.values():
            summary.frame, summary.env, summary.outer = None, self.root, self.root
            summary.params.clear()
        self.queue.clear()

    def drain(self) -> None:
        while self.queue:
            summary = self.queue.popleft()
            summary.queued = False
            runs = self.runs[summary] = self.runs.get(summary, 0) + 1
            if runs <= MAX_RUNS and self.budget > 0:
                self.run_summary(summary)

    def run_summary(self, summary: Summary) -> None:
        flat = self.flat_body(summary.number)
        self.stack.append(summary.number)
        frame = summary.frame
        if frame is None:
            frame = self.first_frame(summary)
            summary.dirty = 0
            self.run_first(frame, flat)
            summary.grown |= flat.rounds(frame.regs)
        self.take_in(summary, frame, flat)
        if summary.dirty or summary.grown:
            self.run_again(summary, frame, flat)
        self.stack.pop()
        if frame.result:
            self.add(summary.result, frame.result - self.heap.plain)
        if frame.yields:
            self.add(summary.yields, frame.yields - self.heap.plain)

    def take_in(self, summary: Summary, frame: Frame, flat: FlatBody) -> None:
        """Arguments that have come since the last run."""
        for (_, register, _), cell in zip(summary.function.params, summary.params, strict=True):
            if frame.regs[register] is not cell.values:
                frame.regs[register] = cell.values
                summary.grown |= flat.uses()[register]
        if frame.this is not summary.this.values:
            frame.this = summary.this.values
            flat.uses()
            summary.dirty |= flat.this

    def flat_body(self, number: int) -> FlatBody:
        found = self._flat.get(number)
        if found is None:
            found = self._flat[number] = FlatBody(self.program.functions[number])
        return found

    def first_frame(self, summary: Summary) -> Frame:
        body = summary.function
        unit = self.program.unit_of[summary.number]
        frame = summary.frame = Frame(summary.number, unit, body.registers, summary.outer, summary.env, summary)
        function = self.heap.known(("f", summary.number, summary.outer.number))
        if function is not None:
            for index, values in self.entry_values(function).items():
                if index < len(summary.params):
                    self.add(summary.params[index], values)
            self.add(summary.this, self.entry_this(function))
        for (_, register, _), cell in zip(body.params, summary.params, strict=True):
            cell.readers[summary] = 0  # no op reads the cell: `take_in` hands its values on
            frame.regs[register] = cell.values
        summary.this.readers[summary] = 0
        frame.this = summary.this.values
        return frame


def _solution(solver: Solver) -> Solution:
    data = solver.heap.data
    creates = [{data[c].key: line for c, line in sorted(found.items())} for found in solver.creates]
    refers = []
    for found in solver.refers:
        named: dict[tuple[str, int, int], int] = {}
        for (what, target), line in found.items():
            key = ("f", target, 0) if what == "f" else ("c", *data[target].key)
            named.setdefault(key, line)
        refers.append(named)
    kind = solver.heap.kind
    extends = {(data[a].key, data[b].key): n for (a, b), n in solver.extends.items() if kind[b] == h.CLASS}
    functions = {(data[a].key, data[b][0]): n for (a, b), n in solver.extends.items() if kind[b] == h.FUNC}
    implements = {(data[a].key, data[b].key): n for (a, b), n in solver.implements.items() if kind[b] == h.CLASS}
    missed = {k: name for k, name in solver.unresolved.items() if k not in solver.resolved}
    return Solution(
        solver.calls,
        creates,
        refers,
        extends,
        functions,
        implements,
        frozenset(solver.inlined),
        frozenset(solver.uncertain),
        missed,
        solver.many,
        solver.exact,
        solver.budget > 0,
    )
