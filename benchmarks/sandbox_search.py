"""How often `search_tools` puts the right function first, over all toolsets, for the sixty questions.

uv run python benchmarks/sandbox_search.py [--words]     --words: without the model
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sandbox_questions import QUESTIONS
from trivium.app import open_app
from trivium.doors.mcp.sandbox_search import ToolSearch
from trivium.doors.mcp.server import load_tools
from trivium.errors import ModelUnavailable
from trivium.settings import Settings


class NoModel:
    def embed_passages(self, texts: Any) -> Any:
        raise ModelUnavailable(f"no model for {len(texts)} texts")

    embed_queries = embed_passages


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), threads=1)
        functions = [one for one in load_tools(settings) if one.name not in ("execute_code", "search_tools")]
        search = ToolSearch(functions)
        app = open_app(settings)
        embedder: Any = NoModel() if "--words" in sys.argv else app.embedder
        started = time.process_time()
        search.ranked("warm", embedder)
        first_s = time.process_time() - started
        first = third = 0
        started = time.process_time()
        for question, wanted in QUESTIONS:
            names = [one.name for one in search.ranked(question, embedder)]
            first += names[0] == wanted
            third += wanted in names[:3]
            if names[0] != wanted:
                print(f"  {question!r}: {wanted} is number {names.index(wanted) + 1}, first is {names[0]}")
        took = (time.process_time() - started) / len(QUESTIONS)
        app.close()
    print(f"{len(functions)} functions, {len(QUESTIONS)} questions: right one first {first / len(QUESTIONS):.1%}")
    print(
        f"among the first three {third / len(QUESTIONS):.1%}; {took * 1000:.1f} ms CPU a question, {first_s:.2f} s once"
    )


if __name__ == "__main__":
    main()
