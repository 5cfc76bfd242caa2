"""`search_tools`: finds the function for a task, by meaning and by words, and says how to call it."""

import logging
import math
import re
import threading
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from trivium.doors.mcp.envelope import error_body
from trivium.doors.mcp.sandbox_catalog import CATALOG, Entry
from trivium.doors.mcp.tools import Body, Call, Tool, tool
from trivium.errors import TriviumError

if TYPE_CHECKING:
    from trivium.ports.embedder import Embedder

_WORDS_WEIGH = 0.35  # of the words a question shares with a function, beside the likeness of their meaning
_UNKNOWN = Entry((), "{…}")
_STOP_WORDS = """
a an and are as at be by do does for from how i in is it me my of on or our the their there this that to us was we
what when where which who will with you your give show tell get all one two these those have has had
"""
_STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[a-z0-9]+")

logger = logging.getLogger(__name__)


class ToolSearch:
    """Over the functions of one server. The vectors of what it knows are made at the first question."""

    def __init__(self, functions: Sequence[Tool]) -> None:
        self._functions = list(functions)
        texts = [_texts(one) for one in self._functions]
        self._texts = [text for some in texts for text in some]
        self._owner = np.array([number for number, some in enumerate(texts) for _ in some])
        bags = [Counter(word for text in some for word in set(_words(text))) for some in texts]
        self._bags = bags
        known = Counter(word for bag in bags for word in bag)
        self._rarity = {word: math.log(1 + len(bags) / count) for word, count in known.items()}
        self._lock = threading.Lock()
        self._vectors: Any = None

    def tool(self) -> Tool:
        return tool(scope="read", errors=error_body)(self.search_tools)

    def search_tools(
        self,
        call: Call,
        query: Annotated[str, Field(min_length=1, max_length=500, description="What you want to do")],
        limit: Annotated[int, Field(ge=1, le=50)] = 5,
    ) -> Body:
        """Find the functions for a task, with their signatures, to call them in execute_code."""
        writes = [one for one in self._functions if call.caller.may(one.scope)]
        allowed = {one.name for one in writes}
        ranked = [one for one in self.ranked(query, call.app.embedder) if one.name in allowed]
        return {"functions": [described(one) for one in ranked[:limit]]}

    def ranked(self, query: str, embedder: "Embedder") -> list[Tool]:
        """Every function, the likeliest first."""
        scores = _WORDS_WEIGH * self._by_words(query) + self._by_meaning(query, embedder)
        return [self._functions[number] for number in np.argsort(-scores, kind="stable")]

    def _by_words(self, query: str) -> Any:
        asked = set(_words(query))
        unseen = math.log(1 + len(self._bags))
        most = sum(self._rarity.get(word, unseen) for word in asked) or 1.0
        return np.array(
            [sum(self._rarity[word] for word in asked if word in bag) / most for bag in self._bags], dtype=np.float64
        )

    def _by_meaning(self, query: str, embedder: "Embedder") -> Any:
        best = np.zeros(len(self._functions))
        try:
            with self._lock:
                if self._vectors is None:
                    self._vectors = embedder.embed_passages(self._texts)
            likeness = self._vectors @ embedder.embed_queries([query])[0]
        except TriviumError as error:
            logger.info("functions are searched by their words alone: %s", error.message)
            return best
        np.maximum.at(best, self._owner, likeness)
        return best


def _texts(function: Tool) -> list[str]:
    own = f"{function.name.replace('_', ' ')}: {function.description.splitlines()[0]}"
    return [own, *CATALOG.get(function.name, _UNKNOWN).asked]


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP]


def _stem(word: str) -> str:
    """Enough to bring "repos" to "repo" and "importing" to "import"."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def described(function: Tool) -> Body:
    body: Body = {
        "signature": signature(function),
        "description": function.description,
        "returns": CATALOG.get(function.name, _UNKNOWN).returns,
    }
    return body if function.read_only else body | {"writes": True}


def signature(function: Tool) -> str:
    """As it would stand in Python, with the allowed range or values beside a type."""
    properties = function.input_schema.get("properties", {})
    required = set(function.input_schema.get("required", ()))
    words = []
    for name, schema in properties.items():
        default = schema.get("default")
        ending = "" if name in required else f" = {default!r}"
        words.append(f"{name}: {_type(schema)}{ending}")
    return f"await {function.name}({', '.join(words)})"


_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def _type(schema: Body) -> str:
    if "enum" in schema:
        return "|".join(repr(value) for value in schema["enum"])
    if "const" in schema:
        return repr(schema["const"])
    if "anyOf" in schema:
        return "|".join(dict.fromkeys(_type(branch) for branch in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        names = ", ".join(schema.get("properties", {}))
        return "{" + names + "}" if names else "dict"
    low, high = schema.get("minimum"), schema.get("maximum")
    bounds = f" {low:g}..{high:g}" if low is not None and high is not None else ""
    return _TYPES.get(str(kind), "Any") + bounds
