"""`search_tools`: finds the function for a task, by meaning and by words, and says how to call it."""

import logging
import math
import threading
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from trivium.doors.mcp.envelope import error_body
from trivium.doors.mcp.sandbox_catalog import CATALOG, Entry
from trivium.doors.mcp.sandbox_words import plain_words, stem, without_particulars, words
from trivium.doors.mcp.tools import Body, Call, Tool, tool
from trivium.errors import TriviumError

if TYPE_CHECKING:
    from trivium.ports.embedder import Embedder

_WORDS_WEIGH = 0.8  # of the words a question shares with a function, beside the likeness of their meaning
_OFTEN = 0.4  # how much it counts that a word is in many of a function's phrases
_NEAREST = 3
_UNKNOWN = Entry((), "{…}")

logger = logging.getLogger(__name__)


class ToolSearch:
    """Over the functions of one server. What it knows of them is worked out at the first question."""

    def __init__(self, functions: Sequence[Tool]) -> None:
        self._functions = list(functions)
        self._lock = threading.Lock()
        self._vectors: list[Any] = []

    @cached_property
    def _phrases(self) -> list[list[str]]:
        return [_phrases(one) for one in self._functions]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(stem(word) for some in self._phrases for text in some for word in plain_words(text))

    @cached_property
    def _shares(self) -> list[dict[str, float]]:
        """For each function the words of its phrases, by how many of them have it."""
        counts = [(Counter(word for text in some for word in words(text)), len(some)) for some in self._phrases]
        return [{word: (count / most) ** _OFTEN for word, count in of.items()} for of, most in counts]

    @cached_property
    def _rarity(self) -> dict[str, float]:
        spread = Counter(word for of in self._shares for word in of)
        return {word: math.log(1 + len(self._functions) / count) for word, count in spread.items()}

    def tool(self) -> Tool:
        return tool(scope="read", errors=error_body)(self.search_tools)

    def search_tools(
        self,
        call: Call,
        query: Annotated[str, Field(min_length=1, max_length=500, description="What you want to do")],
        limit: Annotated[int, Field(ge=1, le=50)] = 5,
    ) -> Body:
        """Find the functions for a task, with their signatures, to call them in execute_code."""
        allowed = {one.name for one in self._functions if call.caller.may(one.scope)}
        ranked = [one for one in self.ranked(query, call.app.embedder) if one.name in allowed]
        return {"functions": [described(one) for one in ranked[:limit]]}

    def warm(self, embedder: "Embedder") -> None:
        self._embedded(embedder)

    def ranked(self, query: str, embedder: "Embedder") -> list[Tool]:
        """Every function, the likeliest first."""
        import numpy as np

        scores = _WORDS_WEIGH * self._by_words(query) + self._by_meaning(query, embedder)
        return [self._functions[number] for number in np.argsort(-scores, kind="stable")]

    def _by_words(self, query: str) -> Any:
        import numpy as np

        asked = words(query)
        most = sum(self._rarity.get(word, 1.0) for word in asked) or 1.0
        return np.array(
            [sum(self._rarity[word] * share[word] for word in asked if word in share) / most for share in self._shares]
        )

    def _by_meaning(self, query: str, embedder: "Embedder") -> Any:
        """How close the nearest phrases of each function are, to the question and to what it asks for in general."""
        import numpy as np

        try:
            phrases = self._embedded(embedder)
            asked = embedder.embed_queries([query, without_particulars(query, self._known)])
        except TriviumError as error:
            logger.info("functions are searched by their words alone: %s", error.message)
            return np.zeros(len(self._functions))
        return np.array([np.mean([_near(vectors @ one) for one in asked]) for vectors in phrases])

    def _embedded(self, embedder: "Embedder") -> list[Any]:
        import numpy as np

        with self._lock:
            if not self._vectors:
                vectors = embedder.embed_passages([text for some in self._phrases for text in some])
                ends = np.cumsum([len(some) for some in self._phrases])
                self._vectors = np.split(vectors, ends[:-1])
            return self._vectors


def _near(likeness: Any) -> float:
    import numpy as np

    nearest = np.sort(likeness)[::-1][:_NEAREST]
    return float((nearest[0] + nearest.mean()) / 2)


def _phrases(function: Tool) -> list[str]:
    own = f"{function.name.replace('_', ' ')}: {function.description.splitlines()[0]}"
    return [own, *CATALOG.get(function.name, _UNKNOWN).asked]


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
    parameters = [
        f"{name}: {_type(schema)}" + ("" if name in required else f" = {schema.get('default')!r}")
        for name, schema in properties.items()
    ]
    return f"await {function.name}({', '.join(parameters)})"


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
