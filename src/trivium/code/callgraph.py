"""A call graph by names (`module.Class.method`), for comparison with others; the index itself uses analyse.py."""

from collections.abc import Mapping

from trivium.code.languages import read_file
from trivium.code.link import Linked
from trivium.code.solver.program import Program
from trivium.code.solver.solve import Solution, solve


def call_graph(files: Mapping[str, bytes]) -> tuple[set[tuple[str, str]], frozenset[str]]:
    """The edges, caller to callee, and the names of the modules they lie in."""
    units = [facts for path in sorted(files) if (facts := read_file(path, files[path])) is not None]
    linked = Linked(units, {p: t for p, t in files.items() if p.endswith(".json")})
    solution = solve(linked.program)
    return named_edges(linked.program, solution), frozenset(linked.names)


def named_edges(program: Program, solution: Solution) -> set[tuple[str, str]]:

    return {
        (_caller(program, solution, caller), program.name(callee))
        for caller, found in enumerate(solution.calls)
        for callee in found
        if callee not in solution.inlined
    }


def _caller(program: Program, solution: Solution, number: int) -> str:
    name = program.name(number)
    return name.rpartition(".")[0] if number in solution.inlined else name
