"""Which file a Python import means: packages, relative imports, src layouts, namespace packages."""

from collections.abc import Mapping, Sequence

from trivium.code.lowering import ops
from trivium.code.solver.program import Target

ROOTS = ("src", "lib", "python")


def module_name(path: str, packages: frozenset[str] = frozenset()) -> str:
    """`nested/mod.py` -> `nested.mod`; a source root in front (`src/`) is no part of the name.

    `packages` holds the folders that have an `__init__.py`.
    """
    parts = path.rsplit(".", 1)[0].split("/")
    while len(parts) > 1 and parts[0] in ROOTS and parts[0] not in packages:
        parts = parts[1:]
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)


def module_names(paths: Sequence[str]) -> list[str]:
    packages = frozenset(p.rsplit("/", 1)[0] for p in paths if p.endswith(("/__init__.py", "/__init__.pyi")))
    return [module_name(p, packages) for p in paths]


class PythonModules:
    """Resolves imports among the given files. An absolute name is looked up from the root, then beside the importing
    file (scripts put their own folder on the path), then from every folder that is not a package (several roots)."""

    def __init__(self, paths: Sequence[str], names: Sequence[str]) -> None:
        self.paths = paths
        self.names = names
        self.units: dict[str, int] = {}
        for unit, name in enumerate(names):
            if paths[unit].endswith(".py") or name not in self.units:
                self.units[name] = unit
        self.packages = {name for name, path in zip(names, paths, strict=True) if "__init__." in path}
        self.tails: dict[str, list[int]] = {}
        for name, unit in self.units.items():
            parts = name.split(".")
            for cut in range(1, len(parts)):
                if ".".join(parts[:cut]) not in self.packages:
                    self.tails.setdefault(".".join(parts[cut:]), []).append(unit)
        self.folders = {name.rpartition(".")[0] for name in self.units if "." in name}

    def submodules(self) -> Mapping[tuple[int, str], int]:
        found = {}
        for name, unit in self.units.items():
            parent, _, last = name.rpartition(".")
            if parent in self.units:
                found[self.units[parent], last] = unit
        return found

    def absolute(self, unit: int, written: ops.Import) -> str:
        if written.level == 0:
            return written.module
        parts = self.names[unit].split(".")
        drop = written.level - (1 if "__init__." in self.paths[unit] else 0)
        base = parts[: len(parts) - drop] if drop else parts
        return ".".join([*base, written.module] if written.module else base)

    def find(self, unit: int, name: str) -> int:
        """The unit for an absolute name, or -1."""
        found = self.units.get(name)
        if found is not None:
            return found
        parent = self.names[unit].rpartition(".")[0]
        beside = self.units.get(f"{parent}.{name}") if parent and parent not in self.packages else None
        if beside is not None:
            return beside
        candidates = self.tails.get(name, ())
        return candidates[0] if len(candidates) == 1 else -1

    def outside(self, name: str) -> int:
        """The unit that code outside these files means by an absolute name, or -1."""
        found = self.units.get(name, -1) if name else -1
        candidates = self.tails.get(name, ()) if found < 0 else ()
        return candidates[0] if len(candidates) == 1 else found

    def target(self, unit: int, written: ops.Import) -> Target:
        name = self.absolute(unit, written)
        found = self.find(unit, name)
        if found >= 0:
            return Target(found)
        return Target(-1, name)

    def files(self, unit: int, written: ops.Import) -> list[int]:
        """Every file that this import statement needs: the module, or the submodules it takes by name."""
        name = self.absolute(unit, written)
        found = self.find(unit, name)
        if written.kind != "from":
            return [found] if found >= 0 else []
        wanted: list[int] = []
        for taken in written.names:
            inner = self.find_exact(found, name, taken)
            wanted.append(inner if inner >= 0 else found)
        return [u for u in dict.fromkeys(wanted) if u >= 0]

    def find_exact(self, package: int, name: str, taken: str) -> int:
        full = f"{self.names[package]}.{taken}" if package >= 0 else f"{name}.{taken}"
        return self.units.get(full, -1)
