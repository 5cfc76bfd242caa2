"""Questions that name a definition of a real repository: is it among the first three results of `search_code`?

    python benchmarks/code_named.py PATH/TO/django [--data FOLDER] [--sample 500]

Symbols are drawn at random (functions, methods, classes), each is asked for in every template. Counted as found: a
chunk that holds a definition of that name; for `Class.method`, that very one.
"""

import random
import time
from types import SimpleNamespace
from typing import Any

from code_package import with_package
from trivium.app import App
from trivium.doors.mcp.code import search_code
from trivium.model.code import Symbol

NAME = "bench"
TEMPLATES = (
    "{}",
    "where is {} defined",
    "how does {} work",
    "what does {} do?",
    "where does {} get its data",
    "show me the implementation of {}",
    "I want to change {} without breaking its callers",
    "why would {} raise an error here",
    "the {} function",
    "Is `{}` safe to refactor?",
    "what happens when {}() is called twice",
    "tests that cover {} and its edge cases",
    "explain the code of {} to a beginner",
)


def is_found(app: App, query: str, wanted: list[Symbol]) -> bool:
    call: Any = SimpleNamespace(app=app, started=time.perf_counter())
    body = search_code.function(call, query=query, limit=10, threshold=0.7, repository=NAME).body
    lines = {(s.path, s.line) for s in wanted}
    for row in body["results"][:3]:
        place = row["metadata"]
        if any(path == place["file_path"] and place["start_line"] <= n <= place["end_line"] for path, n in lines):
            return True
    return False


def measure(app: App, sample: int) -> None:
    symbols = [s for s in app.code.graph.symbols(NAME) if s.kind in ("function", "method", "class")]
    random.seed(11)
    some = random.sample(symbols, min(sample, len(symbols)))
    plain = [s for s in some if s.name.islower() and "_" not in s.name]
    print(f"{len(symbols)} definitions, {len(some)} drawn, {len(plain)} of them with names that are plain words")
    total = 0
    for template in TEMPLATES:
        bare = [s for s in some if is_found(app, template.format(s.name), same_name(app, s))]
        dotted = sum(is_found(app, template.format(s.qualified_name), [s]) for s in some)
        words = sum(s in plain for s in bare)
        total += len(bare)
        shares = f"name {len(bare) / len(some):6.1%}  (plain words {words}/{len(plain)})"
        print(f"{template:52} {shares}  qualified {dotted / len(some):6.1%}")
    print(f"{'all templates':52} name {total / len(some) / len(TEMPLATES):6.1%} (limit 95 %)")


def same_name(app: App, symbol: Symbol) -> list[Symbol]:
    return [s for s in app.code.graph.find(symbol.name, NAME) if s.kind not in ("file", "package")]


if __name__ == "__main__":
    with_package(__doc__, NAME, 500, measure)
