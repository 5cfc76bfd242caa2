"""`trivium status`, `reindex`, `doctor`, `export`, `import`: looking after what is stored."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from trivium.doors.cli.context import chosen, opened
from trivium.doors.cli.output import bar, emit, note, say
from trivium.errors import InvalidInput


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium status --files")(status)
    root.command(epilog="Example: trivium reindex --model granite-embedding-30m-english")(reindex)
    root.command(epilog="Example: trivium doctor --json")(doctor)
    root.command("export", epilog="Example: trivium export backup.jsonl; trivium export --scip index.scip")(export_file)
    root.command("import", epilog="Example: trivium --data new-folder import backup.jsonl")(import_file)


def status(
    files: bool = typer.Option(False, "--files", help="List every document."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """What is stored, with which model, and what is still to be done."""
    with opened() as app:
        report: dict[str, Any] = {"data": str(app.data)} | app.overview.counts()
        report["model"] = app.embedder.model.name
        report["waiting_for_vectors"] = app.embedding.pending()
        report["generation"] = app.chunks.generation()
        report["disk_bytes"] = sum(path.stat().st_size for path in app.data.rglob("*") if path.is_file())
        if files:
            report["files"] = [
                {"source_file": file.source_file, "root": file.root, "chunks": file.total_chunks}
                for file in app.documents.files()
            ]
    if as_json:
        emit(report)
    else:
        _tell_status(report)


def reindex(
    model: str | None = typer.Option(None, help="Move to this embedding model; the old one serves until it is done."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Write the indexes anew from the store, or move them to another model."""
    with opened() as app:
        with bar("vectors", "chunks", quiet=as_json) as progress:
            app.reindex(model, progress)
        states = app.check()
    if as_json:
        emit([{"index": state.name, "chunks": state.chunks, "agrees": state.agrees} for state in states])
    else:
        for state in states:
            say(f"{state.name}: {state.chunks} chunks, {'agrees with the store' if state.agrees else 'DIFFERS'}")


def doctor(as_json: bool = typer.Option(False, "--json", help="For machines.")) -> None:
    """Check the model, the store, the indexes and the disk; say what to do."""
    from dataclasses import asdict

    from trivium.doors.cli.checks import examine

    findings = list(examine(chosen.settings()))
    if as_json:
        emit([asdict(finding) for finding in findings])
    else:
        marks = {"ok": "[green]ok  [/]", "warn": "[yellow]warn[/]", "fail": "[red]fail[/]"}
        for finding in findings:
            say(f"{marks[finding.level]} [bold]{finding.name}[/] {finding.message}")
            if finding.remedy:
                say(f"       → {finding.remedy}")
    if any(finding.level == "fail" for finding in findings):
        raise typer.Exit(1)


def export_file(
    path: str = typer.Argument("-", help="File to write; - is standard output. A name that ends in .gz is compressed."),
    vectors: bool = typer.Option(True, "--vectors/--no-vectors", help="With vectors nothing is embedded again later."),
    scip: Path | None = typer.Option(None, help="Write the code graph of a repository to this file instead, as SCIP."),
    repository: str | None = typer.Option(None, help="Which repository; default: the only one."),
) -> None:
    """Write everything that is known as open JSON lines, or a repository's code graph as a SCIP index."""
    if scip is not None:
        _export_scip(scip, repository)
        return
    if repository is not None:
        raise InvalidInput("--repository goes with --scip", field="repository")
    with opened() as app:
        written = _write_lines(path, app.export_lines(vectors=vectors))
    note(f"{written} lines written")


def _export_scip(path: Path, repository: str | None) -> None:
    with opened() as app:
        made = app.code.export_scip(repository)
    part = path.with_name(path.name + ".part")
    part.write_bytes(made.data)
    part.replace(path)  # a file by that name is complete, or it is not there
    for stale in made.stale:
        note(f"[yellow]left out[/] {stale}: changed since it was indexed")
    note(f"{made.repository}: {made.documents} documents written to {path}")


def import_file(
    path: Path = typer.Argument(..., exists=True, dir_okay=False, help="A file that `trivium export` wrote."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Read an export into an empty data folder, all of it or nothing."""
    with opened() as app, _open_text(path, "r") as lines:
        counts = app.import_lines(lines)
        app.embedding.run()
    if as_json:
        emit(counts)
    else:
        say(", ".join(f"{number} {name}" for name, number in counts.items()) or "the export was empty")


def _write_lines(path: str, lines: Iterable[str]) -> int:
    number = 0
    if path == "-":
        for line in lines:
            typer.echo(line)
            number += 1
        return number
    part = Path(path + ".part")
    with _open_text(part, "w", compressed=path.endswith(".gz")) as file:
        for line in lines:
            file.write(line + "\n")
            number += 1
    part.replace(path)  # a file by that name is complete, or it is not there
    return number


def _open_text(path: Path, mode: str, *, compressed: bool | None = None) -> Any:
    import gzip

    if compressed if compressed is not None else path.suffix == ".gz":
        return gzip.open(path, mode + "t", encoding="utf-8")
    return path.open(mode, encoding="utf-8")


def _tell_status(report: dict[str, Any]) -> None:
    from rich.markup import escape

    say(f"[bold]{escape(report['data'])}[/]  {report['disk_bytes'] / 1e6:.1f} MB")
    for source, row in report["sources"].items():
        say(f"  {source}: {row['documents']:,} documents, {row['chunks']:,} chunks")
    if not report["sources"]:
        say("  nothing yet; start with: trivium add PATH")
    categories = [f"{name or '(none)'} {number}" for name, number in report["categories"].items()]
    if categories:
        say(f"  categories: {escape(', '.join(categories[:12]))}")
    waiting = report["waiting_for_vectors"]
    say(
        f"  model: {report['model']}" + (f", {waiting:,} chunks wait for vectors" if waiting else ", all vectors there")
    )
    for file in report.get("files", ()):
        say(f"    {escape(file['source_file'])}  [dim]{file['chunks']} chunks[/]")
