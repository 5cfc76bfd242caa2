"""Joins the facts of a repository's files into one program for the solver."""

from collections.abc import Sequence

from trivium.code.lowering import ops
from trivium.code.modules.python import PythonModules, module_names
from trivium.code.solver.program import Program, Target


def link_python(units: Sequence[ops.FileFacts]) -> tuple[Program, PythonModules]:
    paths = [u.path for u in units]
    names = module_names(paths)
    modules = PythonModules(paths, names)
    targets: list[list[Target]] = [[modules.target(n, i) for i in unit.imports] for n, unit in enumerate(units)]
    return Program(units, names, targets, modules.submodules()), modules
