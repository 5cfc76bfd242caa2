"""`trivium demo`: the bundled sample documents taken in and asked a few questions, in front of your eyes."""

import json
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trivium.doors.cli.context import chosen, opened
from trivium.doors.cli.output import bar, note, say

if TYPE_CHECKING:
    from trivium.app import App


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium demo --once")(demo)


def demo(once: bool = typer.Option(False, "--once", help="Stop after the questions.")) -> None:
    """Take in the bundled sample documents and ask them a few questions."""
    with tempfile.TemporaryDirectory(prefix="trivium-demo-") as folder:
        if chosen.data is None:
            chosen.data = Path(folder)
        with as_file(files("trivium") / "samples") as samples:
            _show(samples)
    if not once:
        say("\nNext: [bold]trivium add YOUR-FOLDER[/], then [bold]trivium search 'your question'[/].")


def _show(samples: Path) -> None:
    from trivium.errors import ModelUnavailable

    questions = json.loads((samples / "questions.json").read_text(encoding="utf-8"))
    with opened() as app:
        started = time.perf_counter()
        with bar("reading", "files") as progress:
            report = app.documents.add([samples], exclude=["questions.json", "*.py"], progress=progress)
        say(
            f"[bold]1. Documents[/]  {report.files} files became {report.chunks_added} chunks, found by their words"
        )
        try:
            with bar("vectors", "chunks") as progress:
                app.embedding.run(progress)
            say(f"[bold]2. Vectors[/]    {app.embedder.model.name}, on this machine, nothing sent anywhere")
        except ModelUnavailable as error:
            note(f"[yellow]{error.message}[/] {error.hint or ''}")
        say(f"              ready after {time.perf_counter() - started:.1f} s\n[bold]3. Questions[/]")
        for item in questions:
            _ask(app, item["question"])


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
