"""`trivium demo`: the bundled samples taken in and asked, in front of your eyes, with the tools an assistant calls."""

import json
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trivium.doors.cli.context import chosen, opened
from trivium.doors.cli.output import bar, note, say

if TYPE_CHECKING:
    from trivium.app import App
    from trivium.doors.client import Client

VENDOR = "Norvane Systems"
CONCEPTS = (
    ("Token bucket", "A counter that refills at a steady rate; a call takes one token or has to wait."),
    ("Rate limit", "An upper bound on how many calls one partner may make in a span of time."),
)
PROGRAM = """\
found, vendor = await asyncio.gather(
    semantic_search("rate limit", sources=["documents"], top_k=20), find_vendor_info("Norvane Systems")
)
files = sorted({r.source_file for r in found.results if r.hybrid_score > 0.6})
return {"files": files, "vendor": vendor.results.vendor_name, "knows": vendor.results.statistics.entity_count}"""


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium demo --once")(demo)


def demo(
    once: bool = typer.Option(False, "--once", help="Stop after the questions instead of serving."),
    port: int = typer.Option(8000, min=0, max=65535, help="Port to serve on afterwards."),
) -> None:
    """Take in the bundled samples, ask them a few questions, then serve them over HTTP until you stop it."""
    with tempfile.TemporaryDirectory(prefix="trivium-demo-", ignore_cleanup_errors=True) as folder:
        if chosen.data is None:
            chosen.data = Path(folder)
        with as_file(files("trivium")) as package:
            _take_in(package / "samples")
            _show(package)
        if once:
            return
        from trivium.doors.cli.serve import serve_http

        say("\n[bold]8. Serving[/]     point any MCP client at the address below, with the key; Ctrl-C ends it")
        serve_http(chosen.settings(http_port=port, log_level="WARNING"))


def _take_in(samples: Path) -> None:
    with opened() as app:
        started = time.perf_counter()
        with bar("reading", "files") as progress:
            report = app.documents.add([samples], exclude=["questions.json", "*.py"], progress=progress)
        say(f"[bold]1. Documents[/]   {report.files} files became {report.chunks_added} chunks, found by their words")
        _embed(app)
        with bar("names", "chunks") as progress:
            app.extraction.run(progress)
        say(f"               ready after {time.perf_counter() - started:.1f} s")
        say("[bold]3. Questions[/]")
        for item in json.loads((samples / "questions.json").read_text(encoding="utf-8")):
            _ask(app, item["question"])


def _embed(app: "App") -> None:
    from trivium.errors import ModelUnavailable

    try:
        with bar("vectors", "chunks") as progress:
            app.embedding.run(progress)
        say(f"[bold]2. Vectors[/]     {app.embedder.model.name}, on this machine, nothing sent anywhere")
    except ModelUnavailable as error:
        note(f"[yellow]{error.message}[/] {error.hint or ''}")


def _ask(app: "App", question: str) -> None:
    from rich.markup import escape

    from trivium.model.hits import SearchQuery

    ranking = app.search.search(SearchQuery(question, limit=1))
    chunks = app.chunks.get([hit.chunk_id for hit in ranking.hits])
    say(f"   [cyan]{escape(question)}[/]")
    for hit, chunk in zip(ranking.hits, chunks, strict=True):
        text = " ".join(chunk.text.split())[:160]
        say(f"     [green]{hit.hybrid_score:.2f}[/] {escape(chunk.source_file)} [dim]{escape(chunk.context_header)}[/]")
        say(f"          {escape(text)} …")


def _show(package: Path) -> None:
    from trivium.doors.client import Client

    with Client(settings=chosen.settings()) as client:
        say("[bold]4. Vendors[/]     find_vendor_info, from the same documents")
        _show_vendor(client.call("find_vendor_info", vendor_name=VENDOR, response_mode="full"))
        say("[bold]5. Code[/]        get_dependents, on Trivium's own search room")
        _show_code(client, package / "search")
        say("[bold]6. Concepts[/]    get_prerequisites, from a log that forgets nothing")
        _show_concepts(client)
        say("[bold]7. A program[/]   execute_code, isolated, next to the data; only its result goes back")
        _show_program(client)


def _show_vendor(answer: dict[str, Any]) -> None:
    results = answer["results"]
    names = {entity["entity_id"]: entity["name"] for entity in results["entities"]}
    counts = results["statistics"]
    say(f"   {VENDOR}: {counts['entity_count']} entities, {counts['relationship_count']} relationships")
    for row in results["relationships"][:4]:
        target = names.get(row["target_id"], VENDOR)
        say(f"     {names.get(row['source_id'], VENDOR)} [green]{row['relationship_type']}[/] {target}")


def _show_code(client: "Client", folder: Path) -> None:
    client.call("index_repository", source=str(folder), name="trivium-search")
    answer = client.call("get_dependents", entity_type="file", entity_path="evidence.py", repository="trivium-search")
    paths = [row["path"] for row in answer["dependents"] if row["type"] == "file"]
    say(f"   evidence.py is needed by {', '.join(dict.fromkeys(paths))}")


def _show_concepts(client: "Client") -> None:
    made = [client.call("create_concept", name=name, explanation=text) for name, text in CONCEPTS]
    first, second = (answer["concept_id"] for answer in made)
    client.call(
        "create_relationship", source_concept_id=first, target_concept_id=second, relationship_type="prerequisite"
    )
    order = client.call("get_prerequisites", concept_id=second)
    say(f"   to understand [cyan]{CONCEPTS[1][0]}[/], learn first: {order['chain'][0]['name']}")


def _show_program(client: "Client") -> None:
    from rich.markup import escape

    for line in PROGRAM.splitlines():
        say(f"     [dim]{escape(line)}[/]")
    answer = client.call("execute_code", code=PROGRAM)
    context = answer["execution_context"]
    say(f"   {escape(str(answer['results']))}")
    say(f"   {context['calls']} calls inside, {context['tokens_used']} tokens outside")
