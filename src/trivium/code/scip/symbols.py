"""SCIP's grammar of symbols: `scheme manager package version descriptors`, read and written.

A descriptor is a name and a suffix that says what it is: `src/` a namespace, `Client#` a type, `login().` a method,
`limit.` a term. Spaces in the first four parts are doubled; names that are no plain identifiers stand in backticks.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from trivium.code.scip.wire import LOCAL

_PLAIN = re.compile(r"[A-Za-z0-9_+\-$]+")
_HEAD = re.compile(r"((?:[^ ]|  )*) ")
_DESCRIPTOR = re.compile(
    r"\((?P<parameter>{name})\)|\[(?P<type_parameter>{name})\]"
    r"|(?P<name>{name})(?:(?P<method>\((?P<disambiguator>[A-Za-z0-9_+\-$]*)\)\.)|(?P<suffix>[/#.:!]))".format(
        name=r"(?:`(?:[^`]|``)*`|[A-Za-z0-9_+\-$]+)"
    )
)


class Descriptor(NamedTuple):
    name: str
    suffix: str  # one of / # . : ! () [] and (.) for a method


class ScipSymbol(NamedTuple):
    scheme: str
    manager: str
    package: str
    version: str
    descriptors: tuple[Descriptor, ...]

    @property
    def is_module(self) -> bool:
        """Whether it stands for a file: namespaces only, or the marker that indexers put behind them."""
        tail = [d for d in self.descriptors if d.suffix != "/"]
        return all(d.suffix == ":" for d in tail)

    @property
    def qualified_name(self) -> str:
        return ".".join(d.name for d in self.descriptors if d.suffix not in ("/", ":"))

    @property
    def name(self) -> str:
        return self.descriptors[-1].name if self.descriptors else ""

    @property
    def suffix(self) -> str:
        return self.descriptors[-1].suffix if self.descriptors else ""


def parse(text: str) -> ScipSymbol | None:
    """None for a local symbol and for what is no symbol at all."""
    if text.startswith(LOCAL):
        return None
    head: list[str] = []
    at = 0
    for _ in range(4):
        match = _HEAD.match(text, at)
        if match is None:
            return None
        head.append(match[1].replace("  ", " "))
        at = match.end()
    found: list[Descriptor] = []
    while at < len(text):
        match = _DESCRIPTOR.match(text, at)
        if match is None:
            return None
        found.append(_descriptor(match))
        at = match.end()
    scheme, manager, package, version = ("" if part == "." else part for part in head)
    return ScipSymbol(scheme, manager, package, version, tuple(found))


def _descriptor(match: re.Match[str]) -> Descriptor:
    if match["parameter"]:
        return Descriptor(_unescaped(match["parameter"]), "()")
    if match["type_parameter"]:
        return Descriptor(_unescaped(match["type_parameter"]), "[]")
    return Descriptor(_unescaped(match["name"]), "(.)" if match["method"] else match["suffix"])


def _unescaped(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def escaped(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def head(scheme: str, manager: str, package: str, version: str) -> str:
    parts = (scheme, manager or ".", package or ".", version or ".")
    return " ".join(part.replace(" ", "  ") for part in parts) + " "


def namespaces(parts: Sequence[str]) -> str:
    return "".join(f"{escaped(part)}/" for part in parts)
