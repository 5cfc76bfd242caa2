"""Puts a new version of one file in the place of the old one, in a solved program.

What the old version defined is taken out of every set; the new one runs, and whoever read from the old one looks again.
Values that other files got *through* code that is gone may stay until the next full solve: a superset, never less.
"""

from collections.abc import Iterator, Sequence

from trivium.code.lowering import ops
from trivium.code.solver import heap as h
from trivium.code.solver.engine import Frame, Summary
from trivium.code.solver.heap import EMPTY, Cell
from trivium.code.solver.program import Target
from trivium.code.solver.solve import Solver


def swap_unit(solver: Solver, unit: int, facts: ops.FileFacts, targets: Sequence[Target]) -> None:
    program = solver.program
    old = frozenset(range(program.first[unit], program.first[unit] + len(program.units[unit].functions)))
    program.replace(unit, facts, targets)
    gone = _gone(solver, unit, old)
    _retire(solver, old)
    _purge(solver, gone)
    _clear_module(solver, unit)
    _forget_edges(solver, old, gone)
    solver.extend_functions()
    solver.start_unit(unit)


def _gone(solver: Solver, unit: int, old: frozenset[int]) -> frozenset[int]:
    """Objects that the old version made; wrappers around them come after them, so one pass in order finds all."""
    heap = solver.heap
    gone: set[int] = set()
    for number, (kind, data) in enumerate(zip(heap.kind, heap.data, strict=True)):
        if (
            (kind == h.FUNC and data[0] in old)
            or (kind == h.CLASS and data.key[0] == unit)
            or (kind == h.INSTANCE and data in gone)
            or (kind in (h.BOUND, h.SUPER) and (data[0] in gone or data[1] in gone))
            or (kind in (h.STATICMETHOD, h.CLASSMETHOD) and data & gone)
            or (kind == h.PROPERTY and (data[0] | data[1]) & gone)
        ):
            gone.add(number)
    heap.forget(gone)
    return frozenset(gone)


def _retire(solver: Solver, old: frozenset[int]) -> None:
    for key in [k for k in solver.summaries if k[0] in old]:
        summary = solver.summaries.pop(key)
        summary.queued = True  # it is never put into the queue again
        summary.frame = None
    solver.queue.clear()
    solver.forget_summaries()


def _cells(solver: Solver) -> Iterator[Cell]:
    for fields in solver.heap.fields:
        yield from fields.values()
    for summary in solver.summaries.values():
        yield from summary.params
        yield summary.result
        yield summary.yields
        yield summary.this
        if summary.function.has_cells:
            yield from summary.env.cells.values()


def _purge(solver: Solver, gone: frozenset[int]) -> None:
    untouched = gone.isdisjoint
    for cell in _cells(solver):
        if cell.values and not untouched(cell.values):
            cell.values -= gone
    users = [s for s in solver.summaries.values() if s.frame is not None and _saw(s.frame, gone)]
    _start_over(solver, users)
    heap = solver.heap
    for number, kind in enumerate(heap.kind):
        if kind == h.CLASS and number not in gone:
            heap.data[number].bases = [values - gone for values in heap.data[number].bases]
    solver.forget_lookups(gone)


def _saw(frame: Frame, gone: frozenset[int]) -> bool:
    held = [values for values in frame.regs if values]
    return not (all(map(gone.isdisjoint, held)) and gone.isdisjoint(frame.result))


def _start_over(solver: Solver, users: Sequence[Summary]) -> None:
    """Functions that used what is gone run from scratch, as if for the first time."""
    numbers = {summary.number for summary in users}
    for summary in users:
        summary.frame, summary.dirty, summary.grown = None, 0, 0
        summary.result.values, summary.yields.values = EMPTY, EMPTY
        solver.enqueue(summary)
    for number in numbers:
        solver.calls[number].clear()
        solver.creates[number].clear()
        solver.refers[number].clear()
    solver.uncertain = {pair for pair in solver.uncertain if pair[0] not in numbers}
    solver.unresolved = {where: name for where, name in solver.unresolved.items() if where[0] not in numbers}
    solver.many = {where: name for where, name in solver.many.items() if where[0] not in numbers}


def _clear_module(solver: Solver, unit: int) -> None:
    """Its names lose their values and keep their readers."""
    tables = [solver.modules[unit]]
    exported = solver.heap.known(("exports", unit))
    tables += [exported] if exported is not None else []
    for table in tables:
        for cell in solver.heap.fields[table].values():
            cell.values, cell.full = EMPTY, False


def _forget_edges(solver: Solver, old: frozenset[int], gone: frozenset[int]) -> None:
    for number, found in enumerate(solver.calls):
        if number in old:
            found.clear()
            solver.creates[number].clear()
            solver.refers[number].clear()
            continue
        for callee in old.intersection(found):
            del found[callee]
        for cls in gone.intersection(solver.creates[number]):
            del solver.creates[number][cls]
        for key in [k for k in solver.refers[number] if k[1] in (old if k[0] == "f" else gone)]:
            del solver.refers[number][key]
    for kept in (solver.extends, solver.implements):
        for pair in [p for p in kept if not gone.isdisjoint(p)]:
            del kept[pair]
    for missed in (solver.unresolved, solver.many):
        for where in [k for k in missed if k[0] in old]:
            del missed[where]
