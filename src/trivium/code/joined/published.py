"""The names under which others import what a repository holds: packages, modules, crates, namespaces."""

import configparser
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from trivium.code.lowering import ops
from trivium.code.modules.javascript import read_json
from trivium.code.modules.python import module_name
from trivium.code.modules.typed import go_modules, read_toml, rust_crates, table

# Folders beside the code that no build tool takes for a package to publish (setuptools leaves out the same).
_NOT_PUBLISHED = re.compile(
    r"(ci|bin|debian|docs?|documentation|manpages|news|newsfragments|changelog|(unit_)?tests?|examples?|scripts|tools"
    r"|utils?|python|build|benchmarks?|exercises?|htmlcov|setup|conftest|noxfile|tasks|fabfile|versioneer)"
)
_BY_DECLARATION = ("java", "csharp", "php")


class Published(NamedTuple):
    """`family` is the language (`javascript` for TypeScript, too). `declared`: a manifest says so."""

    family: str
    name: str
    declared: bool

    def provides(self, package: str) -> bool:
        """Whether an import that was filed under `package` may mean this."""
        return package == self.name or (self.family == "go" and package.startswith(self.name + "/"))


def published(prefix: str, facts: Sequence[ops.FileFacts], configs: Mapping[str, bytes]) -> list[Published]:
    """What others can import. `prefix` is set where the repository itself is a Python package."""
    found: set[Published] = set(_python(prefix, [f.path for f in facts if f.language == "python"], configs))
    found.update(Published("javascript", name, True) for name in _packages(configs))
    found.update(Published("go", module, True) for _, module in go_modules(configs))
    found.update(Published("rust", crate, True) for _, crate in rust_crates(configs))
    found.update(_gems([f.path for f in facts if f.language == "ruby"], configs))
    for unit in facts:
        if unit.language in _BY_DECLARATION and unit.calls[0][0]:
            found.add(Published(unit.language, unit.calls[0][0], True))
    return sorted(found)


def _packages(configs: Mapping[str, bytes]) -> Iterator[str]:
    for path in sorted(configs):
        name = read_json(configs[path]).get("name") if posixpath.basename(path) == "package.json" else None
        if isinstance(name, str) and name:
            yield name


def _gems(paths: Sequence[str], configs: Mapping[str, bytes]) -> Iterator[Published]:
    """`require "name"` and `require "name/part"` of a gem are files below its `lib`."""
    for manifest in sorted(path for path in configs if path.endswith(".gemspec")):
        root = posixpath.join(posixpath.dirname(manifest), "lib/")
        for path in paths:
            if path.startswith(root):
                yield Published("ruby", path[len(root) :].removesuffix(".rb"), True)


def _python(prefix: str, paths: Sequence[str], configs: Mapping[str, bytes]) -> Iterator[Published]:
    if prefix:
        yield Published("python", prefix.partition("/")[0], True)
        return
    roots = sorted({posixpath.dirname(p) for p in configs if posixpath.basename(p) in ("pyproject.toml", "setup.cfg")})
    roots = sorted({*roots, *(posixpath.dirname(p) for p in paths if posixpath.basename(p) == "setup.py")})
    for root in roots or [""]:
        below = [posixpath.relpath(p, root) if root else p for p in paths if not root or p.startswith(root + "/")]
        own = {module_name(path, _folders(below)).partition(".")[0] for path in below}
        names = _listed(root, configs) & own or {*_discovered(below, own), _project_name(root, configs)} & own
        yield from (Published("python", name, bool(roots)) for name in names)


def _folders(paths: Collection[str]) -> frozenset[str]:
    return frozenset(posixpath.dirname(p) for p in paths if posixpath.basename(p) == "__init__.py")


def _discovered(paths: Sequence[str], own: Collection[str]) -> list[str]:
    """Where no manifest names packages: folders with code in them, as setuptools would find them."""
    modules = {posixpath.splitext(path)[0] for path in paths if "/" not in path.removeprefix("src/")}
    tops = [name for name in own if not _NOT_PUBLISHED.fullmatch(name) and name.isidentifier()]
    return sorted(name for name in tops if name not in modules) or sorted(tops)


def _listed(root: str, configs: Mapping[str, bytes]) -> set[str]:
    """Import names that the manifest itself gives."""
    project = read_toml(configs.get(posixpath.join(root, "pyproject.toml"), b""))
    setuptools = table(project, "tool", "setuptools")
    lists = (
        table(project, "tool", "hatch", "build", "targets", "wheel").get("packages"),
        setuptools.get("packages"),
        setuptools.get("py-modules"),
        table(project, "tool", "poetry").get("packages"),
    )
    entries = [entry for one in lists if isinstance(one, list) for entry in one]
    names = [entry.get("include") if isinstance(entry, dict) else entry for entry in entries]
    return {re.split(r"[./]", str(name).removeprefix("src/"))[0] for name in names if name}


def _project_name(root: str, configs: Mapping[str, bytes]) -> str:
    """The project's name as an import would write it."""
    project = read_toml(configs.get(posixpath.join(root, "pyproject.toml"), b""))
    name = table(project, "project").get("name") or table(project, "tool", "poetry").get("name")
    return re.sub(r"[-.]+", "_", str(name or _setup_name(root, configs)))


def _setup_name(root: str, configs: Mapping[str, bytes]) -> str:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(configs.get(posixpath.join(root, "setup.cfg"), b"").decode("utf-8", "replace"))
    except configparser.Error:
        return ""
    return parser.get("metadata", "name", fallback="")
