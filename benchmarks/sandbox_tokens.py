"""What research costs a model in tokens: tool by tool with full results, or one program that selects next to the data.

    uv run python benchmarks/sandbox_tokens.py [--documents 300] [--show]

Two documented workflows, on real documentation, counting everything that passes through the model's context: the
arguments it writes (the program included) and the text it reads.

1. A task of five questions. Classic: five searches in full mode. Program: five searches in metadata mode, three
   passages chosen in Python, their full text. Bar: >= 90 % fewer, with the same three passages in both.
2. One question, fifty results. Classic: all fifty in full, page by page. Program: seed 002's listing (metadata of 50,
   filter, full text of three). Bar: >= 77 % fewer.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from corpora import write_corpus
from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.quicktok import QuicktokCounter
from trivium.doors.guard.caller import local_owner
from trivium.doors.mcp.gate import Gate
from trivium.doors.mcp.server import open_gate
from trivium.doors.mcp.tools import Body
from trivium.settings import Settings

COUNTER = QuicktokCounter()
TASKS: dict[str, list[list[str]]] = {
    "corpus_fastapi_docs": [
        [
            "how are passwords hashed",
            "create and verify JWT access tokens",
            "dependency that returns the current user",
            "token expiration time",
            "OAuth2 scopes for permissions",
        ],
        [
            "declare a request body with a model",
            "validate query parameters with limits",
            "return a custom error response",
            "status code of a response",
            "document additional responses in OpenAPI",
        ],
        [
            "run the application in a container",
            "number of worker processes",
            "HTTPS behind a proxy",
            "environment variables and settings",
            "startup and shutdown events",
        ],
    ],
    "corpus_kubernetes_docs": [
        [
            "limit the memory of a container",
            "what happens when a pod exceeds its limit",
            "quality of service classes",
            "resource quota of a namespace",
            "eviction under node pressure",
        ],
        [
            "expose a service to the outside",
            "ingress rules and TLS",
            "network policy between namespaces",
            "DNS names of services",
            "load balancer source addresses",
        ],
        [
            "roll back a deployment",
            "rolling update strategy",
            "readiness and liveness probes",
            "graceful termination of pods",
            "disruption budget during a drain",
        ],
    ],
    "corpus_posthog_handbook": [
        [
            "how does hiring work",
            "interview process for engineers",
            "onboarding of new people",
            "salary and compensation levels",
            "performance feedback",
        ],
        [
            "how incidents are handled",
            "on call rotation for support",
            "who decides on priorities",
            "how small teams work",
            "release and deployment of changes",
        ],
        [
            "expenses and travel budget",
            "equipment for new employees",
            "time off and holidays",
            "working hours and remote work",
            "offsites and meeting in person",
        ],
    ],
}

CHOOSE = """questions = {questions}
found = await asyncio.gather(*[semantic_search(q, top_k=50) for q in questions])
score = {{}}
for r in [r for answer in found for r in answer.results]:
    score[r.chunk_id] = max(score.get(r.chunk_id, 0), r.hybrid_score)
best = sorted(score, key=lambda i: -score[i])[:3]
texts = await asyncio.gather(*[get_chunk(i) for i in best])
return [[t.results[0].chunk_id, t.results[0].source_file, t.results[0].chunk_text] for t in texts]"""

FIFTY = """found = await semantic_search({question}, top_k=50)
ids = [r.chunk_id for r in found.results if r.hybrid_score > 0.05][:3]
full = await semantic_search({question}, response_mode="full", filter_ids=ids)
return [[r.chunk_id, r.source_file, r.chunk_text] for r in full.results]"""


class Context:
    """Everything that passes through the model's context on one way."""

    def __init__(self, gate: Gate) -> None:
        self._gate, self.tokens, self.calls = gate, 0, 0

    def call(self, tool: str, **arguments: Any) -> Body:
        reply = self._gate.run(self._gate.ticket(tool, arguments), lambda: local_owner("memory"))
        assert not reply.is_error, reply.text
        asked = json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
        self.tokens += sum(COUNTER.count([asked, reply.text or ""]))
        self.calls += 1
        return reply.body


def task(gate: Gate, questions: list[str]) -> tuple[Context, Context, bool]:
    classic, program = Context(gate), Context(gate)
    read: set[int] = set()
    for question in questions:
        answer = classic.call("semantic_search", query=question, top_k=10, response_mode="full")
        read |= {one["chunk_id"] for one in answer["results"] if "chunk_text" in one}
    chosen = program.call("execute_code", code=CHOOSE.format(questions=json.dumps(questions)))["results"]
    return classic, program, len(chosen) == 3 and {one[0] for one in chosen} <= read


def fifty(gate: Gate, question: str) -> tuple[Context, Context, bool]:
    classic, program = Context(gate), Context(gate)
    read: set[int] = set()
    arguments: dict[str, Any] = {"query": question, "page_size": 10, "response_mode": "full"}
    for _ in range(5):
        answer = classic.call("semantic_search", **arguments)
        read |= {one["chunk_id"] for one in answer["results"] if "chunk_text" in one}
        arguments["cursor"] = answer["pagination"]["cursor"]
    chosen = program.call("execute_code", code=FIFTY.format(question=json.dumps(question)))["results"]
    return classic, program, len(chosen) == 3 and {one[0] for one in chosen} <= read


def report(title: str, runs: list[tuple[Context, Context, bool]], bar: float) -> None:
    classic, program = sum(one.tokens for one, _, _ in runs), sum(other.tokens for _, other, _ in runs)
    least = min(1 - other.tokens / one.tokens for one, other, _ in runs)
    print(
        f"{title}: classic {classic / len(runs):,.0f} tokens in {runs[0][0].calls} calls, program"
        f" {program / len(runs):,.0f} in {runs[0][1].calls}: {1 - program / classic:.1%} fewer (bar {bar:.0%}; worst"
        f" {least:.1%}); same passages in {sum(same for _, _, same in runs)} of {len(runs)}"
    )


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted.add_argument("--documents", type=int, default=300)
    wanted.add_argument("--model", action="store_true", help="the real model, which takes minutes to embed")
    wanted.add_argument("--show", action="store_true", help="print one task both ways")
    asked = wanted.parse_args()
    tasks: list[tuple[Context, Context, bool]] = []
    fifties: list[tuple[Context, Context, bool]] = []
    for name, groups in TASKS.items():
        with tempfile.TemporaryDirectory() as folder:
            gate = served(Path(folder), name, asked.documents, real=asked.model)
            mine = [task(gate, questions) for questions in groups]
            more = [fifty(gate, questions[0]) for questions in groups]
            report(f"{name.removeprefix('corpus_')}, five questions", mine, 0.9)
            report(f"{name.removeprefix('corpus_')}, fifty results", more, 0.77)
            tasks, fifties = tasks + mine, fifties + more
            if asked.show:
                print(CHOOSE.format(questions=json.dumps(groups[0])))
            gate.close()
    report("all, five questions", tasks, 0.9)
    report("all, fifty results", fifties, 0.77)


def served(folder: Path, name: str, documents: int, *, real: bool) -> Gate:
    # The small embedder scores lower than a real one; a note about that is not part of what is measured.
    settings = Settings(data=folder / "data", low_quality_threshold=0.0)
    write_corpus(name, folder / "docs", documents)
    app = opened(settings, real)
    app.documents.add([folder / "docs"])
    app.embedding.run()
    app.close()
    return open_gate(settings, lambda: opened(settings, real))


def opened(settings: Settings, real: bool) -> App:
    return open_app(settings) if real else open_app(settings, lambda _name: HashingEmbedder())


if __name__ == "__main__":
    main()
