"""`trivium migrate`: brings the tables of the store to this version."""

import typer

from trivium.doors.cli.context import chosen
from trivium.doors.cli.output import emit, say


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: TRIVIUM_STORE=postgresql://owner@db/trivium trivium migrate --grant-read reader")(
        migrate
    )


def migrate(
    grant_read: str | None = typer.Option(None, help="A role of the database server that may then read everything."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Bring the tables of the store to what this version knows. Safe to repeat; refused where the data is newer."""
    from trivium.app import open_app
    from trivium.guard_stores import open_guard

    settings = chosen.settings()
    open_guard(settings).close()
    app = open_app(settings)
    try:
        versions = app.versions()
        if grant_read is not None:
            app.opened.grant_read(grant_read)
    finally:
        app.close()
    if as_json:
        emit(versions)
        return
    for part, version in versions.items():
        say(f"{part}: {version}")
    if grant_read is not None:
        say(f"{grant_read} may read everything; name it in TRIVIUM_STORE_READ")
