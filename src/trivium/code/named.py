"""Which definitions a search names outright: `validateToken`, `load_image`, `Class.method`, or a single word."""

import re

from trivium.ports.code_graph import CodeGraphStore

_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_MOST_WORDS = 20

Place = tuple[str, str]  # repository, path


def named_definitions(graph: CodeGraphStore, query: str, repository: str | None) -> dict[Place, list[int]]:
    """The lines on which definitions begin that the query names, by the file they are in."""
    found: dict[Place, list[int]] = {}
    for word in list(dict.fromkeys(_WORD.findall(query)))[:_MOST_WORDS]:
        if word != query.strip() and not _looks_like_code(word):
            continue
        for symbol in graph.find(word, repository):
            if symbol.kind not in ("file", "package"):
                found.setdefault((symbol.repository, symbol.path), []).append(symbol.line)
    return found


def _looks_like_code(word: str) -> bool:
    """In a sentence, `error` is a word and `parse_error` a name."""
    return "_" in word or "." in word or any(c.isdigit() for c in word) or re.search(r"[a-z][A-Z]", word) is not None
