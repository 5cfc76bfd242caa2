"""A call graph by names (`module.Class.method`), for comparison with others; the index itself uses analyse.py."""

from collections.abc import Mapping

from trivium.code.languages import read_file
from trivium.code.link import link_python
from trivium.code.modules.python import module_names
from trivium.code.solver.solve import solve


def call_graph(files: Mapping[str, bytes]) -> set[tuple[str, str]]:
    units = [facts for path in sorted(files) if (facts := read_file(path, files[path])) is not None]
    program, _ = link_python(units)
    solution = solve(program)
    return {
        (program.name(caller), program.name(callee)) for caller, found in enumerate(solution.calls) for callee in found
    }


def module_names_of(files: Mapping[str, bytes]) -> frozenset[str]:
    return frozenset(module_names(sorted(files)))
