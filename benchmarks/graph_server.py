"""Questions about a code graph on a Neo4j server beside the embedded graph, in turns, in one run.

python benchmarks/graph_server.py [--symbols 100000] [--edges 490000] [--questions 60] [--url bolt://…]

Without --url a server is started as the contract tests do. Prints medians in ms, wall clock: what a caller waits for.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from trivium.backends.memory.code_graph import MemoryCodeGraph
from trivium.backends.neo4j.code_walks import Neo4jCodeWalks
from trivium.backends.neo4j.connection import Neo4jConnection
from trivium.backends.neo4j.mirror import Neo4jMirror
from trivium.backends.neo4j.schema import Neo4jSchema
from trivium.backends.sqlite.graph_sources import code_copy
from trivium.model.code import RELATIONSHIPS, CodeGraph, Edge, Symbol, symbol_id
from trivium.ports.code_graph import CodeWalks

THREE_HOPS = (
    "MATCH (:Symbol {symbol_id: $id})-[:CALLS|IMPORTS|EXTENDS|IMPLEMENTS|REFERENCES*1..3]->(b:Symbol)"
    " RETURN count(DISTINCT b)"
)
SHORTEST = (
    "MATCH (a:Symbol {symbol_id: $id}), (b:Symbol {symbol_id: $goal})"
    " MATCH p = shortestPath((a)-[:CALLS|IMPORTS|EXTENDS|IMPLEMENTS|REFERENCES*1..10]->(b)) RETURN length(p)"
)


def random_graph(symbols: int, edges: int) -> CodeGraph:
    """Functions that call one another; some are called by very many."""
    chance = random.Random(1)
    rows = [
        Symbol(
            symbol_id("r", f"src/f{n // 20}.py", f"go{n}"),
            "function",
            "r",
            f"src/f{n // 20}.py",
            f"go{n}",
            f"go{n}",
            n % 20 + 1,
            n % 20 + 2,
        )
        for n in range(symbols)
    ]
    found: dict[tuple[str, str], Edge] = {}
    while len(found) < edges:
        source = rows[chance.randrange(symbols)].symbol_id
        target = rows[int(symbols * chance.random() ** 2)].symbol_id
        found[source, target] = Edge(source, target, "calls", 1, "exact", 1.0)
    ordered = sorted(found.values(), key=lambda e: (e.source, e.target, e.relationship))
    return CodeGraph("r", tuple(sorted(rows, key=lambda s: s.symbol_id)), tuple(ordered))


def timed(ask: Callable[[], object]) -> float:
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


def three_hops(graph: CodeWalks, start: Symbol) -> list[object]:
    reach = graph.reach(start, 3, RELATIONSHIPS)
    return list(reach.steps(0, 50))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--symbols", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=490_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--url")
    options = parser.parse_args()
    graph = random_graph(options.symbols, options.edges)
    embedded = MemoryCodeGraph([graph])
    with tempfile.TemporaryDirectory() as folder:
        server = None
        if options.url is None:
            sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contracts"))
            from servers import neo4j

            server = neo4j.start(Path(folder))
        try:
            compare(graph, embedded, Neo4jConnection(options.url or server.url), options.questions)
        finally:
            if server is not None:
                server.kill()


def compare(graph: CodeGraph, embedded: MemoryCodeGraph, connection: Neo4jConnection, questions: int) -> None:
    began = time.perf_counter()
    written = Neo4jMirror(connection, Neo4jSchema(connection, "benchmark")).write(
        "code", code_copy("1", graph.symbols, graph.edges)
    )
    took = time.perf_counter() - began
    print(f"copied {written} nodes and relationships in {took:.0f} s ({written / took:.0f} a second)")
    walks, chance = Neo4jCodeWalks(connection), random.Random(2)
    times: dict[str, list[float]] = {}
    for number in range(questions + 5):
        start, goal = chance.sample(graph.symbols, 2)
        for name, ask in questions_of(embedded, walks, connection, start, goal).items():
            took = timed(ask)
            if number >= 5:  # the first ones warm the server up
                times.setdefault(name, []).append(took)
        assert embedded.path(start, goal, 10, RELATIONSHIPS) == walks.path(start, goal, 10, RELATIONSHIPS)
    print(f"{'':34}{'median ms':>10}{'slowest':>10}")
    for name, all_of_them in times.items():
        print(f"{name:34}{statistics.median(all_of_them):10.1f}{max(all_of_them):10.1f}")
    connection.close()


def questions_of(
    embedded: MemoryCodeGraph, walks: Neo4jCodeWalks, connection: Neo4jConnection, start: Symbol, goal: Symbol
) -> dict[str, Callable[[], object]]:
    ids = {"id": start.symbol_id, "goal": goal.symbol_id}
    return {
        "3 hops, embedded": lambda: three_hops(embedded, start),
        "3 hops, Neo4j": lambda: three_hops(walks, start),
        "3 hops, Neo4j, Cypher alone": lambda: connection.read(THREE_HOPS, **ids),
        "find_path, embedded": lambda: embedded.path(start, goal, 10, RELATIONSHIPS),
        "find_path, Neo4j": lambda: walks.path(start, goal, 10, RELATIONSHIPS),
        "find_path, Neo4j, Cypher alone": lambda: connection.read(SHORTEST, **ids),
    }


if __name__ == "__main__":
    main()
