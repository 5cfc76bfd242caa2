"""Links the facts of many files into one program: numbered functions, classes, modules, resolved imports."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trivium.code.lowering import ops


class Target(NamedTuple):
    """Where an import leads: a unit of this program, or a name outside it."""

    unit: int  # -1 for outside
    external: str = ""


class Program:
    """`modules[unit]` is the dotted module name that edges and externals are named by."""

    def __init__(
        self,
        units: Sequence[ops.FileFacts],
        modules: Sequence[str],
        targets: Sequence[Sequence[Target]],
        submodules: Mapping[tuple[int, str], int],
    ) -> None:
        self.units = units
        self.modules = modules
        self.targets = targets
        self.submodules = submodules
        self.functions: list[ops.Function] = []
        self.unit_of: list[int] = []
        self.first: list[int] = []
        for number, unit in enumerate(units):
            self.first.append(len(self.functions))
            self.functions.extend(unit.functions)
            self.unit_of.extend([number] * len(unit.functions))
        self.weight = sum(len(f.ops) for f in self.functions)

    def name(self, function: int) -> str:
        """`module.Class.method`, as call-graph files write it."""
        module, inner = self.modules[self.unit_of[function]], self.functions[function].qualified_name
        return f"{module}.{inner}" if inner else module
