"""TypeScript: JavaScript's lowering over its own grammar."""

from trivium.code.languages.javascript import lower

__all__ = ["EXTENSIONS", "NAME", "grammar", "lower"]

NAME = "typescript"
EXTENSIONS = (".ts", ".mts", ".cts")


def grammar() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_typescript()
