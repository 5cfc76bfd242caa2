"""`trivium add`, `trivium remove`: documents in, and documents and repositories out."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trivium.doors.cli.context import opened
from trivium.doors.cli.output import bar, emit, note, say
from trivium.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    from trivium.app import App
    from trivium.documents.ingest import IngestReport


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium add handbook/ notes.md --exclude 'drafts/*'")(add)
    root.command(epilog="Example: trivium remove handbook/old.md; trivium remove my-api")(remove)


def add(
    paths: list[Path] = typer.Argument(..., help="Files and folders."),
    exclude: list[str] = typer.Option([], help="Patterns to leave out, as in .gitignore; may be repeated."),
    category: str | None = typer.Option(None, help="Category of everything added now; default: front matter, folder."),
    vectors: bool = typer.Option(True, "--vectors/--no-vectors", help="Wait for the vectors, or leave them for later."),
    entities: bool = typer.Option(True, "--entities/--no-entities", help="Read who and what is named, or leave it."),
    as_json: bool = typer.Option(False, "--json", help="Print a report for machines."),
) -> None:
    """Take documents in: Markdown, reStructuredText, text, HTML, PDF, DOCX, CSV, JSON(L), e-mail.

    Running it again takes in what changed and drops what is gone. Text is searchable at once; vectors follow.
    """
    with opened() as app:
        with bar("reading", "files", quiet=as_json) as progress:
            report = app.documents.add(paths, exclude=exclude, category=category, progress=progress)
        embedded = _embed(app, as_json) if vectors else 0
        waiting = app.embedding.pending()
        if entities:
            with bar("entities", "chunks", quiet=as_json) as progress:
                app.extraction.run(progress)
    if as_json:
        emit(_for_machines(report) | {"embedded": embedded, "waiting_for_vectors": waiting})
    else:
        _tell(report, embedded, waiting)
    if report.files == 0 and report.removed == 0 and report.skipped:
        raise InvalidInput("nothing could be taken in", hint="see the files named above")


def remove(
    names: list[str] = typer.Argument(
        ..., help="Documents or folders, as search shows them or as they lie on disk; repositories, by name."
    ),
    repository: bool = typer.Option(False, "--repository", help="The names are repositories, whatever else they are."),
    as_json: bool = typer.Option(False, "--json", help="Print a report for machines."),
) -> None:
    """Take documents or repositories out, with their chunks and everything that only they supported.

    Files on disk stay as they are; only what Trivium cloned itself is deleted.
    """
    with opened() as app:
        chosen = names if repository else [name for name in names if _is_repository(app, name)]
        for name in chosen:
            app.code.repositories.get(name)  # nothing is removed where one of them is unknown
        documents = [name for name in names if name not in chosen]
        gone = app.documents.remove(documents) if documents else []
        left = [app.code.repositories.remove(name) for name in chosen]
    chunks = sum(file.total_chunks for file in gone) + sum(one.chunk_count for one in left)
    if as_json:
        emit({"removed": [file.source_file for file in gone] + [one.name for one in left], "chunks": chunks})
        return
    parts = [f"{len(gone)} document(s)"] if gone else []
    parts += [f"repository {one.name}" for one in left]
    say(f"removed {', '.join(parts)}, {chunks} chunk(s)")


def _is_repository(app: "App", name: str) -> bool:
    """Whether a bare word means a repository. One that may also mean documents is an error, not a guess."""
    if name not in {one.name for one in app.code.repositories.all()}:
        return False
    if any(file.source_file.split("/")[0] == name for file in app.documents.files()):
        raise InvalidInput(
            f"{name} is a repository, and documents go by that name, too; nothing was removed",
            field="names",
            hint=f"trivium remove --repository {name}; or the documents by their paths",
        )
    return True


def _embed(app: "App", quiet: bool) -> int:
    try:
        with bar("vectors", "chunks", quiet=quiet) as progress:
            return app.embedding.run(progress)
    except ModelUnavailable as error:
        note(f"[yellow]no vectors:[/] {error.message}; search goes on with keywords. {error.hint or ''}")
        return 0


def _for_machines(report: "IngestReport") -> dict[str, object]:
    rows = asdict(report)
    rows["skipped"] = [{"path": str(item.path), "reason": item.reason} for item in report.skipped]
    return rows


def _tell(report: "IngestReport", embedded: int, waiting: int) -> None:
    from rich.markup import escape

    for item in report.skipped:
        note(f"[yellow]skipped[/] {escape(str(item.path))}: {escape(item.reason)}")
    for name in report.empty:
        note(f"[dim]empty[/] {escape(name)}")
    counts = {
        "added": report.added,
        "updated": report.updated,
        "moved": report.moved,
        "unchanged": report.unchanged,
        "removed": report.removed,
    }
    say(", ".join(f"{number} {word}" for word, number in counts.items() if number) or "nothing to do")
    say(
        f"chunks: {report.chunks_added} new, {report.chunks_kept} kept, {report.chunks_removed} gone;"
        f" vectors: {embedded} computed" + (f", {waiting} to come" if waiting else "")
    )
