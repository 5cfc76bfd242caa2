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
        self.units = list(units)
        self.modules = modules
        self.targets = [list(t) for t in targets]
        self.submodules = submodules
        self.functions: list[ops.Function] = []
        self.unit_of: list[int] = []
        self.first: list[int] = []
        for number, unit in enumerate(units):
            self.first.append(len(self.functions))
            self.functions.extend(unit.functions)
            self.unit_of.extend([number] * len(unit.functions))
        self.weight = sum(len(f.ops) for f in self.functions)

    def import_order(self) -> list[int]:
        """Every unit after those it imports, as far as cycles allow."""
        order: list[int] = []
        seen = [False] * len(self.units)
        for root in range(len(self.units)):
            stack = [(root, iter(self.targets[root]))] if not seen[root] else []
            seen[root] = True
            while stack:
                unit, rest = stack[-1]
                target = next((t.unit for t in rest if t.unit >= 0 and not seen[t.unit]), -1)
                if target >= 0:
                    seen[target] = True
                    stack.append((target, iter(self.targets[target])))
                else:
                    order.append(unit)
                    stack.pop()
        return order

    def name(self, function: int) -> str:
        """`module.Class.method`, as call-graph files write it."""
        module, inner = self.modules[self.unit_of[function]], self.functions[function].qualified_name
        return f"{module}.{inner}" if inner else module
