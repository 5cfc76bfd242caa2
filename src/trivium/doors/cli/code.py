"""`trivium index`, `repos`, `update`, `watch`: repositories in and up to date; `trivium remove` takes them out."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trivium.doors.cli.context import opened
from trivium.doors.cli.output import bar, complain, emit, note, say
from trivium.errors import InvalidInput, ModelUnavailable, NotFound, TriviumError

if TYPE_CHECKING:
    from trivium.app import App
    from trivium.code.repositories.index import IndexReport

VECTORS = typer.Option(True, "--vectors/--no-vectors", help="Wait for the vectors, or leave them for later.")
SETTLE_MS = 3_000  # without a change, before all calls are solved anew
JSON = typer.Option(False, "--json", help="For machines.")


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium index ~/code/my-api --name my-api --scip index.scip")(index)
    root.command(epilog="Example: trivium repos")(repos)
    root.command(epilog="Example: trivium update my-api")(update)
    root.command(epilog="Example: trivium watch my-api")(watch)


def index(
    source: str = typer.Argument(..., help="A folder, or a git URL.", metavar="PATH|GIT-URL"),
    name: str | None = typer.Option(None, help="What to call it; default: the last part of the path or URL."),
    branch: str | None = typer.Option(None, help="Branch of a git URL; default: the remote's own."),
    scip: list[Path] = typer.Option(
        [], exists=True, dir_okay=False, help="SCIP index of these files, made by a compiler; may be repeated."
    ),
    vectors: bool = VECTORS,
    as_json: bool = JSON,
) -> None:
    """Take a repository in: code search and the dependency graph. Again: what changed since.

    A SCIP index (from scip-typescript, scip-python, rust-analyzer …) resolves the files it covers until they change.
    """
    from trivium.code.scip.indexes import read_index

    indexes = [read_index(path.read_bytes(), path.name) for path in scip]
    with opened() as app:
        with bar("reading", "files", quiet=as_json) as progress:
            report = app.code.repositories.index(source, name, branch, progress, indexes)
        waiting = _embed(app, as_json) if vectors else app.embedding.pending()
    _tell(report, waiting, as_json)


def repos(as_json: bool = JSON) -> None:
    """The indexed repositories, and how each of them stands."""
    from rich.markup import escape

    from trivium.doors.mcp.code_answers import repositories

    with opened() as app:
        every = app.code.repositories.all()
    if as_json:
        emit(repositories(every))
        return
    for one in every:
        counts = f"{one.file_count} files, {one.chunk_count} chunks, {one.function_count} functions"
        say(f"[bold]{escape(one.name)}[/]  {one.status}  {counts}  [dim]{escape(one.url)} {one.last_indexed}[/]")
        if one.error_message:
            note(f"  [yellow]{escape(one.error_message)}[/]")
    if not every:
        say("nothing yet: take a repository in with trivium index")


def update(
    names: list[str] = typer.Argument(None, help="Repositories; default: all."),
    vectors: bool = VECTORS,
    as_json: bool = JSON,
) -> None:
    """Bring repositories up to date: fetches git URLs, reads what changed, follows renames, drops what is gone.

    One that fails is reported and stays as it was; the others go on. For private repositories, set
    TRIVIUM_GIT_CREDENTIALS, or use a credential helper of git's own.
    """
    reports: list[IndexReport] = []
    failures: list[tuple[str, TriviumError]] = []
    with opened() as app:
        wanted = list(dict.fromkeys(names or [one.name for one in app.code.repositories.all()]))
        for name in wanted:
            try:
                with bar(f"reading {name}", "files", quiet=as_json) as progress:
                    reports.append(app.code.repositories.update(name, progress))
            except TriviumError as error:
                failures.append((name, error))
        waiting = _embed(app, as_json) if vectors else app.embedding.pending()
    _tell_all(reports, failures, waiting, as_json)


def _tell_all(
    reports: "list[IndexReport]", failures: list[tuple[str, TriviumError]], waiting: int, as_json: bool
) -> None:
    if as_json:
        failed = [_failed_for_machines(name, error) for name, error in failures]
        emit([_for_machines(report, waiting) for report in reports] + failed)
    for report in () if as_json else reports:
        _tell(report, waiting, as_json=False)
    if len(failures) == 1 and not reports:
        raise failures[0][1]
    for name, error in failures:
        nearest = error.nearest if isinstance(error, NotFound) else ()
        complain(f"{name}: {error.message}", error.hint, nearest)
    if failures:
        note(f"{len(reports)} brought up to date, {len(failures)} failed")
        raise typer.Exit(1)


def _failed_for_machines(name: str, error: TriviumError) -> dict[str, object]:
    return {"success": False, "name": name, "error": {"code": error.code, "message": error.message, "hint": error.hint}}


def watch(
    name: str = typer.Argument(..., help="A repository that was indexed from a folder."),
    wait_ms: int = typer.Option(500, min=50, help="Quiet time after a change before it is read."),
) -> None:
    """Keep a repository up to date while its files change, until you stop it."""
    from watchfiles import watch as changes

    with opened() as app:
        repository = app.code.repositories.get(name)
        if repository.is_cloned:
            raise InvalidInput(f"{name} comes from a git URL", field="name", hint=f"trivium update {name}")
        note(f"watching {repository.location}; stop with Ctrl-C")
        root = Path(repository.location)
        for changed in changes(
            root, debounce=wait_ms, raise_interrupt=False, rust_timeout=SETTLE_MS, yield_on_timeout=True
        ):
            try:
                _follow(app, name, [Path(path).relative_to(root).as_posix() for _, path in changed])
            except TriviumError as error:
                complain(error.message, error.hint)  # the next change may be better


def _follow(app: "App", name: str, touched: list[str]) -> None:
    """Shows what was touched; in a quiet moment, brings up to date what depends on it elsewhere."""
    if touched:
        report = app.code.repositories.update(name, touched=touched, settle=False)
        _tell(report, _embed(app, quiet=True), as_json=False)
    elif not app.code.repositories.is_settled(name):
        app.code.repositories.update(name)


def _embed(app: "App", quiet: bool) -> int:
    """Computes the vectors that are missing; answers how many still are."""
    try:
        with bar("vectors", "chunks", quiet=quiet) as progress:
            app.embedding.run(progress)
    except ModelUnavailable as error:
        note(f"[yellow]no vectors:[/] {error.message}; search goes on with keywords. {error.hint or ''}")
    return app.embedding.pending()


def _for_machines(report: "IndexReport", waiting: int) -> dict[str, object]:
    from trivium.doors.mcp.code_answers import indexed

    return indexed(report) | {"waiting_for_vectors": waiting}


def _tell(report: "IndexReport", waiting: int, as_json: bool) -> None:
    from rich.markup import escape

    if as_json:
        emit(_for_machines(report, waiting))
        return
    for item in report.left_out:
        note(f"[yellow]left out[/] {escape(item.path)}: {escape(item.reason)}")
    counts = {
        "added": report.added,
        "updated": report.updated,
        "moved": report.moved,
        "removed": report.removed,
        "unchanged": report.unchanged,
    }
    files = ", ".join(f"{number} {word}" for word, number in counts.items() if number) or "no files"
    one = report.repository
    say(f"[bold]{escape(one.name)}[/]: {files}; {one.function_count} functions, {one.chunk_count} chunks")
    if report.scip_files:
        say(f"{report.scip_files} files resolved by a SCIP index")
    if waiting:
        note(f"{waiting} chunks still wait for their vectors")
