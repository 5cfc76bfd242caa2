"""What the server adds to a search: CPU a call, in one run with a bare FastMCP tool and with the search itself.

    python benchmarks/mcp_overhead.py [--calls 300]

Bars: a cached semantic_search at most 3 x a bare FastMCP tool call; an uncached one at most 1.2 x app.search plus that.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from fastmcp import Client, FastMCP

from corpora import write_corpus
from trivium.app import open_app
from trivium.doors.mcp.server import build_server, open_gate
from trivium.model.hits import SearchQuery
from trivium.settings import Settings

ROUNDS = 5


def bare_server() -> FastMCP:
    server: FastMCP = FastMCP("bare")

    @server.tool
    def bare(query: str, top_k: int = 10) -> dict[str, object]:
        """Answers at once."""
        return {"results": [{"chunk_id": number, "hybrid_score": 0.5} for number in range(top_k)], "query": query}

    return server


async def side_by_side(calls: int, *actions: Callable[[int], Awaitable[None]]) -> list[float]:
    """Median CPU ms of each, on the same questions; they take turns at going first, which helps the others."""
    spent: list[list[float]] = [[] for _ in actions]
    for number in range(1, calls + 1):
        for which in sorted(range(len(actions)), key=lambda one: (one + number) % len(actions)):
            started = time.process_time()
            await actions[which](number)
            spent[which].append(1000 * (time.process_time() - started))
    return [median(times) for times in spent]


async def measure(settings: Settings, calls: int) -> None:
    app = open_app(settings)
    app.documents.add([settings.data.parent / "docs"])
    app.embedding.run()
    gate = open_gate(settings, lambda: app)
    async with Client(bare_server()) as bare, Client(build_server(gate)) as client:
        arguments = {"query": "pod network policy"}

        async def call_bare(_: int) -> None:
            await bare.call_tool("bare", arguments)

        async def call_cached(_: int) -> None:
            await client.call_tool("semantic_search", arguments)

        async def call_fresh(number: int) -> None:
            await client.call_tool("semantic_search", {"query": f"pod network policy {number}"})

        async def search(number: int) -> None:
            app.search.search(SearchQuery(f"pod network policy {number}", limit=50))

        for warm in (call_bare, call_cached, call_fresh, search):
            await warm(0)
        plain, cached = await side_by_side(calls * ROUNDS, call_bare, call_cached)
        fresh, searched, between = await side_by_side(calls // 3, call_fresh, search, call_cached)
    limit = 1.2 * searched + between
    print(f"bare FastMCP call                    {plain:7.3f} ms CPU")
    print(f"semantic_search, cached              {cached:7.3f} ms CPU   {cached / plain:.2f} x bare (bar 3)")
    print(f"app.search                           {searched:7.3f} ms CPU")
    print(f"semantic_search, cached, between     {between:7.3f} ms CPU   (beside work that empties the caches)")
    print(f"semantic_search, uncached            {fresh:7.3f} ms CPU   limit {limit:.3f}: {fresh / limit:.2f}")
    print(f"  against the cached call by itself                limit {1.2 * searched + cached:.3f}")
    gate.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--model", default="all-MiniLM-L6-v2", help="hashing-64 for the smallest possible search")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_corpus("corpus_kubernetes_docs", Path(folder) / "docs", options.documents)
        # Limits stay on, only far away: counting is part of what is measured.
        settings = Settings(
            data=Path(folder) / "data",
            model=options.model,
            toolsets="knowledge",
            cache_search_ttl_s=3600,
            harvest_results_hour=0,
            rate_limit_minute=10**9,
            rate_limit_hour=10**9,
            rate_limit_day=10**9,
        )
        asyncio.run(measure(settings, options.calls))


if __name__ == "__main__":
    main()
