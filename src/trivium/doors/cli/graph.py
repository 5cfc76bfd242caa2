"""`trivium graph migrate|status|rebuild`: the copies of our graphs on a graph server."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from trivium.doors.cli.context import opened
from trivium.doors.cli.output import emit, note, say
from trivium.errors import GraphUnavailable, InvalidInput

if TYPE_CHECKING:
    from trivium.app import App
    from trivium.graph_server import GraphServer

graph = typer.Typer(help="Concepts, code and vendors on a graph server (TRIVIUM_GRAPH).", no_args_is_help=True)


def register(root: typer.Typer) -> None:
    root.add_typer(graph, name="graph")


@contextmanager
def _server() -> Iterator[tuple["App", "GraphServer"]]:
    with opened() as app:
        app.concepts, app.code  # noqa: B018 -- their tables are what is copied
        if app.graph_server is None:
            raise InvalidInput(
                "no graph server is chosen: the graphs are embedded, and nothing has to be migrated",
                field="graph",
                hint="TRIVIUM_GRAPH=neo4j://user:password@host:7687 chooses one",
            )
        yield app, app.graph_server


@graph.command(epilog="Example: TRIVIUM_GRAPH=bolt://neo4j:secret@localhost:7687 trivium graph migrate")
def migrate(as_json: bool = typer.Option(False, "--json", help="For machines.")) -> None:
    """Make constraints and indexes where they are missing, and bring all graphs to the present. Safe to repeat."""
    with _server() as (app, server):
        written = server.catch_up(app.concepts)
        counts = server.counts()
    if as_json:
        emit({"schema": server.schema_version, "written": written} | counts)
    else:
        say(f"schema {server.schema_version}; {written} changes written")
        _tell_counts(counts)


@graph.command(epilog="Example: trivium graph status --json")
def status(as_json: bool = typer.Option(False, "--json", help="For machines.")) -> None:
    """How far the copies are. Exits with 1 where the server does not answer or a copy is behind."""
    with _server() as (app, server):
        try:
            parts, counts = server.parts(app.concepts), server.counts()
        except GraphUnavailable as error:
            if as_json:
                emit({"reachable": False, "error": error.message})
            else:
                note(f"[red]{error.message}[/]; questions are answered from the store meanwhile")
            raise typer.Exit(1) from error
    if as_json:
        rows = [
            {"graph": p.name, "current": p.is_current, "pending": p.pending, "failed": p.failed, "error": p.error}
            for p in parts
        ]
        emit({"reachable": True, "graphs": rows, "counts": counts})
    else:
        for part in parts:
            behind = f"{part.pending} events behind, {part.failed} failed" if part.name == "concepts" else "behind"
            say(f"{part.name}: {'up to date' if part.is_current else behind}")
        _tell_counts(counts)
    raise typer.Exit(0 if all(part.is_current for part in parts) else 1)


@graph.command(epilog="Example: trivium graph rebuild")
def rebuild(
    everything: bool = typer.Option(
        False, "--all", help="Remove all concept, code and vendor nodes first, whichever Trivium wrote them."
    ),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Compare every copy with the store and put right what differs."""
    with _server() as (app, server):
        if everything:
            server.clear()
        server.migrate()
        app.concepts.check.rebuild(server.projection.name)
        written = server.catch_up(app.concepts)
        counts = server.counts()
    if as_json:
        emit({"written": written} | counts)
    else:
        say("every copy is what the store has")
        _tell_counts(counts)


def _tell_counts(counts: dict[str, int]) -> None:
    for name, count in counts.items():
        say(f"  {name}: {count}")
