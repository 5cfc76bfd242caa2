"""One module a language, found by file extension. A new language is a new file here and one word in `_MODULES`."""

import importlib
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from trivium.code.lowering import ops

if TYPE_CHECKING:
    from tree_sitter import Parser

_MODULES = ("python", "javascript", "typescript", "tsx", "java", "go", "rust", "c", "cpp", "csharp", "ruby", "php")


@cache
def _by_extension() -> dict[str, str]:
    names = {}
    for name in _MODULES:
        try:
            module = importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError:
            continue
        names.update(dict.fromkeys(module.EXTENSIONS, name))
    return names


@cache
def _language(name: str) -> tuple[ModuleType, "Parser"]:
    from tree_sitter import Language, Parser

    module = importlib.import_module(f"{__name__}.{name}")
    return module, Parser(Language(module.grammar()))


def language_of(path: str) -> str | None:
    """The language a file is written in, by its name; None for one we do not read."""
    dot = path.rfind(".", path.rfind("/") + 1)
    return _by_extension().get(path[dot:].lower()) if dot >= 0 else None


def extensions() -> list[str]:
    return sorted(_by_extension())


def is_minified(source: bytes) -> bool:
    """Machine-written code: it has lines no person would read, and names no person would ask for."""
    lines = source.count(b"\n") + 1
    return len(source) > 20_000 and len(source) / lines > 250


def read_file(path: str, source: bytes) -> ops.FileFacts | None:
    """The facts of one file; None where the language is unknown."""
    name = language_of(path)
    if name is None:
        return None
    module, parser = _language(name)
    facts: ops.FileFacts
    if is_minified(source):
        facts = module.lower(path, b"", parser.parse(b""))
        facts.notes.append(("minified", 1, path))
        return facts._replace(lines=source.count(b"\n") + 1)
    tree = parser.parse(source)
    facts = module.lower(path, source, tree)
    if tree.root_node.has_error:
        facts.notes.append(("syntax_error", 1, path))
    return facts
