"""TypeScript with JSX: the same lowering over the third grammar of the family."""

from trivium.code.languages.javascript import lower

__all__ = ["EXTENSIONS", "NAME", "grammar", "lower"]

NAME = "tsx"
EXTENSIONS = (".tsx",)


def grammar() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx()
