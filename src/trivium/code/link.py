"""Joins the facts of a repository's files into one program for the solver."""

from collections.abc import Mapping, Sequence

from trivium.code.lowering import ops
from trivium.code.modules import javascript, python
from trivium.code.solver.program import Program, Target


class Linked:
    """The dynamic languages' files as one program, with every import resolved."""

    def __init__(self, units: Sequence[ops.FileFacts], configs: Mapping[str, bytes]) -> None:
        self.units = list(units)
        paths = [u.path for u in units]
        self.names = module_names(units)
        self._python = python.PythonModules(
            [p if u.language == "python" else "" for p, u in zip(paths, units, strict=True)],
            [n if u.language == "python" else "" for n, u in zip(self.names, units, strict=True)],
        )
        self._javascript = javascript.JavaScriptModules(
            [p if u.language != "python" else "" for p, u in zip(paths, units, strict=True)], configs
        )
        targets: list[list[Target]] = [[self.target(n, i) for i in unit.imports] for n, unit in enumerate(units)]
        self.program = Program(units, self.names, targets, self._python.submodules())

    def target(self, unit: int, written: ops.Import) -> Target:
        return self._modules(unit).target(unit, written)

    def files(self, unit: int, written: ops.Import) -> list[int]:
        """The files an import statement needs."""
        return self._modules(unit).files(unit, written)

    def module(self, name: str) -> int:
        """The file that another repository means by this name; -1 for none."""
        found = self._python.outside(name)
        return found if found >= 0 else self._javascript.package(name)

    def external(self, unit: int, written: ops.Import) -> str:
        """The package an import leads to when it leads out of the repository; empty for a broken relative import."""
        if self.units[unit].language == "python":
            return "" if written.level else written.module.partition(".")[0]
        return "" if written.module.startswith((".", "/")) else javascript.package_of(written.module)

    def _modules(self, unit: int) -> python.PythonModules | javascript.JavaScriptModules:
        return self._python if self.units[unit].language == "python" else self._javascript


def module_names(units: Sequence[ops.FileFacts]) -> list[str]:
    named = iter(python.module_names([u.path for u in units if u.language == "python"]))
    return [next(named) if u.language == "python" else javascript.module_name(u.path) for u in units]
