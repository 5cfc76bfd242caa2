"""What answers cost, on the Kubernetes documentation: tokens by mode, and how honest the stated numbers are.

    python benchmarks/mcp_tokens.py [--answers 500] [--documents 600]

Bars: ids_only <= 400, metadata <= 1200 and at least 80 % below full, preview <= 2200 (10 results, the whole text of an
answer, o200k); tokens_estimated within 10 % of the counted text; tools/list of the knowledge toolset <= 2000.
"""

import argparse
import json
import random
import tempfile
from pathlib import Path
from statistics import mean

from corpora import write_corpus
from trivium.app import open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.quicktok import QuicktokCounter
from trivium.doors.guard.caller import local_owner
from trivium.doors.mcp.gate import Gate
from trivium.doors.mcp.server import open_gate
from trivium.doors.mcp.tools import Reply
from trivium.settings import Settings

MODES = ("ids_only", "metadata", "preview", "full")
BARS = {"ids_only": 400, "metadata": 1200, "preview": 2200}
_TEXT = """pod service volume node cluster secret ingress deployment scheduler network policy container storage role
namespace label autoscaling upgrade kubectl certificate proxy probe quota job daemon taint affinity etcd api"""
WORDS = _TEXT.split()
COUNTER = QuicktokCounter()


def _settings(data: Path) -> Settings:
    # The small embedder scores lower than a real one; a note about that is not part of what is measured.
    return Settings(data=data, toolsets="knowledge", low_quality_threshold=0.0)


def call(gate: Gate, tool: str, **arguments: object) -> Reply:
    return gate.run(gate.ticket(tool, arguments), lambda: local_owner("memory"))


def counted(reply: Reply) -> int:
    return COUNTER.count([reply.text or ""])[0]


def by_mode(gate: Gate, queries: list[str]) -> dict[str, list[int]]:
    return {
        mode: [counted(call(gate, "semantic_search", query=query, response_mode=mode)) for query in queries]
        for mode in MODES
    }


def honesty(gate: Gate, number: int, chance: random.Random) -> tuple[float, int]:
    """The largest deviation of the stated from the counted tokens, and the largest answer."""
    worst, largest = 0.0, 0
    for _ in range(number):
        arguments: dict[str, object] = {
            "query": " ".join(chance.sample(WORDS, chance.randint(1, 4))),
            "response_mode": chance.choice(MODES),
            "page_size": chance.randint(1, 50),
            "desktop_enhanced": chance.random() < 0.3,
        }
        if chance.random() < 0.3:
            arguments["budget_tokens"] = chance.randint(400, 20_000)
        reply = call(gate, "semantic_search", **arguments)
        tokens = counted(reply)
        if not reply.is_error:
            stated = reply.body["execution_context"]["tokens_estimated"]
            worst = max(worst, abs(stated - tokens) / tokens)
            assert tokens <= arguments.get("budget_tokens", 15_000), (arguments, tokens)
        largest = max(largest, tokens)
    return worst, largest


def tools_list(gate: Gate) -> int:
    from trivium.doors.mcp.adapter import GuardedTool

    tools = [
        GuardedTool.of(tool, gate).to_mcp_tool().model_dump(mode="json", by_alias=True, exclude_none=True)
        for tool in gate.tools.values()
    ]
    return COUNTER.count([json.dumps({"tools": tools}, separators=(",", ":"))])[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=500)
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        docs, settings = Path(folder) / "docs", _settings(Path(folder) / "data")
        write_corpus("corpus_kubernetes_docs", docs, options.documents)
        app = open_app(settings, lambda _: HashingEmbedder())
        app.documents.add([docs])
        app.embedding.run()
        gate = open_gate(settings, lambda: app)
        queries = [" ".join(chance.sample(WORDS, 3)) for _ in range(40)]
        tokens = by_mode(gate, queries)
        print(f"chunks {app.chunks.count()}, {len(queries)} queries, 10 results each")
        for mode in MODES:
            bar = f"  bar {BARS[mode]}" if mode in BARS else ""
            print(f"{mode:9} mean {mean(tokens[mode]):8.0f}  max {max(tokens[mode]):6d}{bar}")
        saved = [1 - small / large for small, large in zip(tokens["metadata"], tokens["full"], strict=True)]
        print(f"metadata below full: mean {mean(saved):.1%}, least {min(saved):.1%}  bar 80 %")
        worst, largest = honesty(gate, options.answers, chance)
        print(f"stated against counted, {options.answers} answers: worst {worst:.2%}; largest answer {largest} tokens")
        print(f"tools/list: {tools_list(gate)} tokens  bar 2000")
        gate.close()


if __name__ == "__main__":
    main()
