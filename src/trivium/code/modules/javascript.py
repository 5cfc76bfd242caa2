"""Which file a JavaScript or TypeScript import means: relative paths, index files, tsconfig paths, packages."""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trivium.code.lowering import ops
from trivium.code.solver.program import Target

SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_WRITTEN_AS = {".js": (".ts", ".tsx", ".d.ts", ".jsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_CONDITIONS = ("types", "import", "module", "browser", "node", "require", "default")


def module_name(path: str) -> str:
    """`nested/index.js` -> `nested`, `src/a.ts` -> `src.a`."""
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if path.endswith(suffix):
            path = path[: -len(suffix)]
            break
    if path.endswith("/index"):
        path = path.removesuffix("/index")
    return path.replace("/", ".")


class JavaScriptModules:
    """`configs` holds the text of `tsconfig.json`, `jsconfig.json` and `package.json` files by path."""

    def __init__(self, paths: Sequence[str], configs: Mapping[str, bytes]) -> None:
        self.paths = paths
        self.units = {path: unit for unit, path in enumerate(paths)}
        self._aliases = sorted(_aliases(configs), key=lambda a: -len(a[0]))
        self._packages = dict(_packages(configs))

    def target(self, unit: int, written: ops.Import) -> Target:
        found = self.find(unit, written.module)
        return Target(found) if found >= 0 else Target(-1, package_of(written.module))

    def find(self, unit: int, module: str) -> int:
        folder = posixpath.dirname(self.paths[unit])
        if module.startswith((".", "/")):
            return self._file(posixpath.normpath(posixpath.join(folder, module)))
        for root, pattern, targets, base in self._aliases:
            if folder == root or folder.startswith(root + "/") or not root:
                found = self._aliased(module, pattern, targets, base)
                if found >= 0:
                    return found
        return self.package(module)

    def files(self, unit: int, written: ops.Import) -> list[int]:
        found = self.find(unit, written.module)
        return [found] if found >= 0 else []

    def _file(self, path: str) -> int:
        path = path.removeprefix("./").rstrip("/")
        for candidate in _candidates(path):
            found = self.units.get(candidate)
            if found is not None:
                return found
        package = self._packages.get("/" + path)
        return self._entry(package, ".") if package is not None else -1

    def _aliased(self, module: str, pattern: str, targets: Sequence[str], base: str) -> int:
        head, star, tail = pattern.partition("*")
        if not (module.startswith(head) and module.endswith(tail) if star else module == pattern):
            return -1
        middle = module[len(head) : len(module) - len(tail)] if star else ""
        for target in targets:
            found = self._file(posixpath.normpath(posixpath.join(base, target.replace("*", middle, 1))))
            if found >= 0:
                return found
        return -1

    def package(self, module: str) -> int:
        """The file behind a package of this very repository (a workspace), or a part of one."""
        name = package_of(module)
        package = self._packages.get(name)
        if package is None:
            return -1
        return self._entry(package, "." + module[len(name) :])

    def _entry(self, package: tuple[str, Any], wanted: str) -> int:
        folder, manifest = package
        options = list(_exported(manifest.get("exports"), wanted))
        if wanted == ".":
            options += [str(manifest[k]) for k in ("types", "module", "main") if isinstance(manifest.get(k), str)]
            options += ["index", "src/index"]
        else:
            options += [wanted, "src/" + wanted[2:]]
        for option in options:
            for path in _sources(option):
                found = self._file(posixpath.normpath(posixpath.join(folder, path)))
                if found >= 0:
                    return found
        return -1


def package_of(module: str) -> str:
    """`@scope/name/deep` -> `@scope/name`; Node's own modules lose their prefix."""
    parts = module.removeprefix("node:").split("/")
    return "/".join(parts[:2]) if module.startswith("@") else parts[0]


def _candidates(path: str) -> Iterator[str]:
    yield path
    stem, dot, suffix = path.rpartition(".")
    for other in _WRITTEN_AS.get(dot + suffix, ()):
        yield stem + other
    for other in SUFFIXES:
        yield path + other
    for other in SUFFIXES:
        yield posixpath.join(path, "index" + other)


def _sources(path: str) -> Iterator[str]:
    """A manifest names what is built; the repository holds what it is built from."""
    yield path
    for built in ("dist/", "lib/", "build/", "out/"):
        plain = path.removeprefix("./")
        if plain.startswith(built):
            yield "src/" + plain[len(built) :]
            yield plain[len(built) :]


def _exported(exports: Any, wanted: str) -> Iterator[str]:
    if isinstance(exports, str):
        if wanted == ".":
            yield exports
    elif isinstance(exports, list):
        for option in exports:
            yield from _exported(option, wanted)
    elif isinstance(exports, dict):
        if not any(str(k).startswith(".") for k in exports):
            for condition in _CONDITIONS:
                yield from _exported(exports.get(condition), wanted)
            return
        for key, value in exports.items():
            head, star, tail = key.partition("*")
            if key == wanted:
                yield from _exported(value, ".")
            elif star and wanted.startswith(head) and wanted.endswith(tail):
                middle = wanted[len(head) : len(wanted) - len(tail)]
                yield from (found.replace("*", middle) for found in _exported(value, "."))


def _aliases(configs: Mapping[str, bytes]) -> Iterator[tuple[str, str, list[str], str]]:
    """(folder it holds in, pattern, targets, folder the targets start from)"""
    for path in sorted(configs):
        if re.fullmatch(r"(.*/)?[jt]sconfig(\.\w+)?\.json", path):
            folder = posixpath.dirname(path)
            options = _options(path, configs)
            base = posixpath.normpath(posixpath.join(folder, str(options.get("baseUrl", "."))))
            base = "" if base == "." else base
            paths = options.get("paths")
            for pattern, targets in paths.items() if isinstance(paths, dict) else ():
                yield folder, pattern, [str(t) for t in targets], base
            if "baseUrl" in options:
                yield folder, "*", ["*"], base


def _options(path: str, configs: Mapping[str, bytes], depth: int = 0) -> dict[str, Any]:
    config = read_json(configs.get(path, b"{}"))
    options: dict[str, Any] = {}
    parent = config.get("extends")
    if isinstance(parent, str) and parent.startswith(".") and depth < 5:
        full = posixpath.normpath(posixpath.join(posixpath.dirname(path), parent))
        full = full if full.endswith(".json") else full + ".json"
        options.update(_options(full, configs, depth + 1))
    own = config.get("compilerOptions")
    return {**options, **own} if isinstance(own, dict) else options


def _packages(configs: Mapping[str, bytes]) -> Iterator[tuple[str, tuple[str, Any]]]:
    for path, raw in sorted(configs.items()):
        if posixpath.basename(path) == "package.json":
            manifest = read_json(raw)
            folder = posixpath.dirname(path)
            if isinstance(manifest.get("name"), str):
                yield manifest["name"], (folder, manifest)
            yield "/" + folder, (folder, manifest)


def read_json(raw: bytes) -> dict[str, Any]:
    """JSON as these tools write it: with comments and trailing commas. Unreadable is empty."""
    text = raw.decode("utf-8", "replace")
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or "", text, flags=re.DOTALL)
    text = re.sub(r",(\s*[}\]])", r"\1", text)
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
