"""Which definition an imported name means, in Python and JavaScript: through re-exports and star imports."""

from collections.abc import Iterator

from trivium.code.lowering import ops
from trivium.code.solver.program import Program

MAX_STEPS = 8  # from one file that passes a name on to the next


class ImportedNames:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._tops: dict[int, dict[str, int]] = {}

    def all(self) -> Iterator[tuple[int, int, int, int]]:
        """(importing unit, line, unit, definition) of every name that is imported by name."""
        for unit, facts in enumerate(self._program.units):
            for index, written in enumerate(facts.imports):
                target = self._program.targets[unit][index].unit
                for name in written.names if target >= 0 and target != unit else ():
                    found = self._find(target, name)
                    if found is not None and found[0] != unit:
                        yield unit, written.line, *found

    def _find(self, unit: int, name: str, steps: int = 0) -> tuple[int, int] | None:
        own = self._top(unit).get(name)
        if own is not None or steps == MAX_STEPS:
            return (unit, own) if own is not None else None
        for index, written in enumerate(self._program.units[unit].imports):
            target = self._program.targets[unit][index].unit
            if target >= 0 and target != unit and (name in written.names or _passes_all(written)):
                found = self._find(target, name, steps + 1)
                if found is not None:
                    return found
        return None

    def _top(self, unit: int) -> dict[str, int]:
        if unit not in self._tops:
            definitions = self._program.units[unit].definitions
            self._tops[unit] = {one.name: index for index, one in enumerate(definitions) if one.parent < 0}
        return self._tops[unit]


def _passes_all(written: ops.Import) -> bool:
    """`from x import *`, `export * from "x"`."""
    return written.kind == "star" or (written.kind == "from" and not written.names)
