"""Names in the statically typed languages: which type, which function, which file a name means.

One class serves all of them; what differs (packages by folder or by declaration, crates, includes) is in small
functions by language.
"""

import posixpath
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from trivium.code.lowering import ops
from trivium.code.lowering.typed import FunctionFacts, TypedFacts, TypeFacts
from trivium.code.modules.javascript import read_json

TypeId = tuple[int, int]
FunctionId = tuple[int, int]
_FAMILY = {"cpp": "c"}
_SHARED_NAMES = ("c", "ruby")  # one name space for the whole program


class TypedNames:
    def __init__(self, units: Sequence[ops.FileFacts], configs: Mapping[str, bytes]) -> None:
        self.units = units
        self.facts: list[TypedFacts] = [_typed_facts(u) for u in units]
        self.family = [_FAMILY.get(u.language, u.language) for u in units]
        self.configs = configs
        self._crates = rust_crates(configs)
        self.packages = [self._package(n) for n in range(len(units))]
        self.types: dict[tuple[str, str], list[TypeId]] = {}
        self.simple: dict[tuple[str, str], list[TypeId]] = {}
        self.functions: dict[tuple[str, str], list[FunctionId]] = {}
        self.by_name: dict[tuple[str, str], list[FunctionId]] = {}
        self.paths = {u.path: n for n, u in enumerate(units)}
        self.used: dict[tuple[int, int], dict[int, None]] = {}
        self._rust_modules = {p for p, f in zip(self.packages, self.family, strict=True) if f == "rust"}
        self._module_units: dict[str, list[int]] = {}
        for unit, package in enumerate(self.packages):
            if self.family[unit] == "rust":
                self._module_units.setdefault(package, []).append(unit)
        self._go_module = go_modules(configs)
        self._psr4 = _psr4(configs)
        for unit in range(len(units)):
            self._index(unit)
        self._aliases = [self._alias_table(n) for n in range(len(units))]

    def _index(self, unit: int) -> None:
        family, package = self.family[unit], self.packages[unit]
        for number, type_ in enumerate(self.facts[unit].types):
            if type_.definition >= 0:
                self.types.setdefault((family, join(package, type_.name)), []).append((unit, number))
                self.simple.setdefault((family, type_.name.rpartition(".")[2]), []).append((unit, number))
        for number, function in enumerate(self.facts[unit].functions):
            if function.definition >= 0 and function.name:
                self.by_name.setdefault((family, function.name), []).append((unit, number))
                if not function.owner:
                    full = self.units[unit].definitions[function.definition].qualified_name
                    self.functions.setdefault((family, join(package, full)), []).append((unit, number))

    def _package(self, unit: int) -> str:
        family, path = self.family[unit], self.units[unit].path
        if family == "go":
            return "/" + posixpath.dirname(path)
        if family == "rust":
            return rust_module(path, self._crates)
        return "" if family in _SHARED_NAMES else self.facts[unit].package

    def _alias_table(self, unit: int) -> dict[str, tuple[str, int]]:
        """What a first word may stand for through an import: its full name and the import's index."""
        table: dict[str, tuple[str, int]] = {}
        for index, written in enumerate(self.units[unit].imports):
            full = self.full_name(unit, written)
            if written.kind in ("import", "use", "name", "mod"):
                last = re.split(r"[./]", full)[-1]
                table[written.alias or last] = (full, index)
            elif written.kind in ("static", "function"):
                for name in written.names:
                    table[name] = (join(written.module, name), index)
        return table

    def full_name(self, unit: int, written: ops.Import) -> str:
        family = self.family[unit]
        if family == "go":
            return self._go_folder(written.module)
        if family == "rust":
            return self._rust_path(unit, written)
        return written.module

    def _go_folder(self, path: str) -> str:
        for folder, module in self._go_module:
            if path == module or path.startswith(module + "/"):
                return "/" + posixpath.join(folder, path[len(module) + 1 :]).rstrip("/")
        return path

    def _rust_path(self, unit: int, written: ops.Import) -> str:
        here = self.packages[unit].split(".") if self.packages[unit] else []
        if written.kind == "mod":
            return ".".join([*here, written.module])
        local = ".".join([*here, written.module.partition("::")[0]])
        if local in self._rust_modules:  # a module of our own, named without `self::`
            return ".".join([*here, *written.module.split("::")])
        return rust_name(written.module, here)

    # looking up

    def type_named(self, unit: int, owner: str, written: str) -> tuple[TypeId, bool] | None:
        """The type a name means here, and whether that is certain."""
        name = _bare(written)
        if self.family[unit] == "rust":
            here = self.packages[unit].split(".") if self.packages[unit] else []
            name = rust_name(name, here) if "::" in name else name
        if not name:
            return None
        family = self.family[unit]
        for full, index in self._readings(unit, owner, name):
            found = self.types.get((family, full)) or self.types.get((family, self._reexported(unit, full)))
            if found:
                best = self._nearest(unit, found)
                if index >= 0:
                    self.used.setdefault((unit, index), {})[best[0]] = None
                return best, True
        return self._by_simple_name(unit, name)

    def _readings(self, unit: int, owner: str, name: str) -> list[tuple[str, int]]:
        package, imports = self.packages[unit], self.units[unit].imports
        first, _, rest = name.partition(".")
        found: list[tuple[str, int]] = []
        scope = owner
        while scope:
            found.append((join(package, f"{scope}.{name}"), -1))
            if scope.rpartition(".")[2] == name:
                found.append((join(package, scope), -1))
            scope = scope.rpartition(".")[0]
        if first in self._aliases[unit]:
            full, index = self._aliases[unit][first]
            found.append((f"{full}.{rest}" if rest else full, index))
        found.append((join(package, name), -1))
        for index, written in enumerate(imports):
            if written.kind in ("star", "namespace"):
                found.append((join(self.full_name(unit, written), name), index))
        if self.family[unit] in ("csharp", "rust"):
            outer = package.rpartition(".")[0]
            while outer:
                found.append((join(outer, name), -1))
                outer = outer.rpartition(".")[0]
        found.append((name, -1))
        return found

    def _reexported(self, unit: int, full: str) -> str:
        """Rust: what a `pub use` in a module passes on under the module's name."""
        seen: set[str] = set()
        while self.family[unit] == "rust" and full not in seen:
            seen.add(full)
            module, _, name = full.rpartition(".")
            passed = (self._aliases[n][name][0] for n in self._module_units.get(module, ()) if name in self._aliases[n])
            full = next(passed, full)
        return full

    def _nearest(self, unit: int, found: list[tuple[int, int]]) -> tuple[int, int]:
        """The same name in several files (a header and a source, two programs): ours first, then what we include."""
        if len(found) == 1:
            return found[0]
        folder = posixpath.dirname(self.units[unit].path)
        return min(found, key=lambda t: (t[0] != unit, posixpath.dirname(self.units[t[0]].path) != folder, t))

    def _by_simple_name(self, unit: int, name: str) -> tuple[TypeId, bool] | None:
        candidates = self.simple.get((self.family[unit], name.rpartition(".")[2]), [])
        if len(candidates) != 1 or self.family[unit] in ("go", "rust"):
            return None
        return candidates[0], self.family[unit] in _SHARED_NAMES

    def functions_named(self, unit: int, scope: str, name: str) -> list[FunctionId]:
        """Free functions that a bare (or package-qualified) name means here."""
        family, package = self.family[unit], self.packages[unit]
        if family == "rust" and "::" in name:
            name = rust_name(name, package.split(".") if package else [])
        first, _, rest = name.partition(".")
        readings = []
        while scope:
            readings.append((join(package, f"{scope}.{name}"), -1))
            scope = scope.rpartition(".")[0]
        readings.append((join(package, name), -1))
        if first in self._aliases[unit]:
            full, index = self._aliases[unit][first]
            readings.append((f"{full}.{rest}" if rest else full, index))
        for index, written in enumerate(self.units[unit].imports):
            if written.kind in ("star", "namespace"):
                readings.append((join(self.full_name(unit, written), name), index))
        readings.append((name, -1))
        for full, index in readings:
            found = self.functions.get((family, full)) or self.functions.get((family, self._reexported(unit, full)))
            if found:
                best = self._nearest(unit, found)
                if index >= 0:
                    self.used.setdefault((unit, index), {})[best[0]] = None
                return [best]
        return []

    # files

    def import_files(self, unit: int, index: int) -> list[int]:
        """The files an import needs; call it after every name has been looked up."""
        written, family = self.units[unit].imports[index], self.family[unit]
        used = list(self.used.get((unit, index), ()))
        if family == "c":
            return self._included(unit, written)
        if family == "ruby":
            return self._required(unit, written)
        if family == "php" and written.kind == "include":
            return self._relative(unit, written.module)
        full = self.full_name(unit, written)
        if family == "rust":
            return self._rust_files(full) or used
        if family == "go":
            return used or [n for n, p in enumerate(self.packages) if p == full and self.family[n] == "go"]
        named = self.types.get((family, full)) or self.functions.get((family, full))
        if named:
            return [named[0][0]]
        return sorted(used) or self._autoloaded(unit, full)

    def _autoloaded(self, unit: int, full: str) -> list[int]:
        for prefix, folder in self._psr4 if self.family[unit] == "php" else ():
            if full.startswith(prefix):
                path = posixpath.join(folder, full[len(prefix) :].strip(".").replace(".", "/") + ".php")
                if path in self.paths:
                    return [self.paths[path]]
        return []

    def _rust_files(self, full: str) -> list[int]:
        while full:
            found = [n for n, p in enumerate(self.packages) if p == full and self.family[n] == "rust"]
            if found:
                return found[:1]
            full = full.rpartition(".")[0]
        return []

    def _included(self, unit: int, written: ops.Import) -> list[int]:
        if written.kind not in ("include", "system"):
            return []
        return self._relative(unit, written.module) if written.kind == "include" else self._by_tail(written.module)

    def _relative(self, unit: int, path: str) -> list[int]:
        folder = posixpath.dirname(self.units[unit].path)
        found = self.paths.get(posixpath.normpath(posixpath.join(folder, path)))
        return [found] if found is not None else self._by_tail(path)

    def _by_tail(self, path: str) -> list[int]:
        found = [n for p, n in self.paths.items() if p == path or p.endswith("/" + path.lstrip("./"))]
        return found if len(found) == 1 else []

    def _required(self, unit: int, written: ops.Import) -> list[int]:
        path = written.module if written.module.endswith(".rb") else written.module + ".rb"
        if written.kind == "require_relative":
            folder = posixpath.dirname(self.units[unit].path)
            found = self.paths.get(posixpath.normpath(posixpath.join(folder, path)))
            return [found] if found is not None else []
        for root in ("lib", "app", "."):
            found = self.paths.get(posixpath.normpath(posixpath.join(root, path)))
            if found is not None:
                return [found]
        return self._by_tail(path)

    def external(self, unit: int, index: int) -> str:
        """The package behind an import that leads out of the repository; empty for none."""
        written, family = self.units[unit].imports[index], self.family[unit]
        if family == "rust":
            head = written.module.partition("::")[0]
            return (
                ""
                if join(self.packages[unit], head) in self._rust_modules
                or head in ("crate", "self", "super")
                or written.kind == "mod"
                else head
            )
        if family == "java" and written.kind in ("import", "static"):
            return ".".join(p for p in written.module.split(".") if p[:1].islower())
        if family == "php":
            return "" if written.kind == "include" else written.module.rpartition(".")[0] or written.module
        return "" if written.kind in ("include", "name", "namespace", "require_relative") else written.module


def join(package: str, name: str) -> str:
    return f"{package}.{name}" if package else name


def _bare(written: str) -> str:
    """A type's name without generics, pointers, arrays and nullability."""
    text = re.sub(r"<.*>", "", written, flags=re.DOTALL)
    return text.strip().lstrip("*&").removeprefix("const ").strip("?[]& *").strip()


def rust_module(path: str, crates: Sequence[tuple[str, str]] = ()) -> str:
    """The module a file is, from its crate's name on; `crate` where no manifest names it."""
    folder, crate = next(((f, c) for f, c in crates if not f or path.startswith(f + "/")), ("", "crate"))
    parts = path[len(folder) :].strip("/").removesuffix(".rs").split("/")
    if "src" in parts:
        parts = parts[parts.index("src") + 1 :]
    if parts and parts[-1] in ("mod", "lib", "main"):
        parts = parts[:-1]
    return ".".join([crate, *parts])


def rust_crates(configs: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """(folder, name as code writes it) of every crate, inner folders first."""
    found = []
    for path, raw in sorted(configs.items()):
        if posixpath.basename(path) == "Cargo.toml":
            manifest = read_toml(raw)
            name = table(manifest, "lib").get("name") or table(manifest, "package").get("name")
            if isinstance(name, str):
                found.append((posixpath.dirname(path), name.replace("-", "_")))
    return sorted(found, key=lambda f: (-len(f[0]), f))


def read_toml(raw: bytes) -> dict[str, Any]:
    """Unreadable is empty."""
    try:
        return tomllib.loads(raw.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}


def table(within: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A table of a manifest, empty where it is missing or something else."""
    found: Any = within
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def rust_name(path: str, here: list[str]) -> str:
    parts = path.split("::")
    base: list[str] = []
    if parts[0] == "crate":
        base, parts = here[:1] or ["crate"], parts[1:]
    elif parts[0] == "self":
        base, parts = here, parts[1:]
    elif parts[0] == "super":
        base = here
        while parts and parts[0] == "super":
            base, parts = base[:-1], parts[1:]
    return ".".join([*base, *parts])


def go_modules(configs: Mapping[str, bytes]) -> list[tuple[str, str]]:
    found = []
    for path, raw in sorted(configs.items()):
        if posixpath.basename(path) == "go.mod":
            match = re.search(rb"^module\s+(\S+)", raw, flags=re.MULTILINE)
            if match:
                found.append((posixpath.dirname(path), match.group(1).decode()))
    return sorted(found, key=lambda f: -len(f[1]))


def _psr4(configs: Mapping[str, bytes]) -> list[tuple[str, str]]:
    found = []
    for path, raw in sorted(configs.items()):
        if posixpath.basename(path) == "composer.json":
            for section in ("autoload", "autoload-dev"):
                rules = read_json(raw).get(section, {}).get("psr-4", {})
                for prefix, folders in rules.items():
                    for folder in folders if isinstance(folders, list) else [folders]:
                        root = posixpath.normpath(posixpath.join(posixpath.dirname(path), folder))
                        found.append((prefix.strip("\\").replace("\\", ".") + ".", root))
    return found


def _typed_facts(unit: ops.FileFacts) -> TypedFacts:
    package, types, functions, mentions = unit.calls[0]
    return TypedFacts(package, [TypeFacts(*t) for t in types], [FunctionFacts(*f) for f in functions], mentions)
