"""`trivium settings`: what is in force, and where it comes from."""

from dataclasses import asdict

import typer

from trivium.doors.cli.context import chosen
from trivium.doors.cli.output import emit, say


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium settings --changed")(settings)


def settings(
    changed: bool = typer.Option(False, help="Only what is not the default."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Print every setting with its value and origin. Keys show their last four characters."""
    rows = [row for row in chosen.settings().origins() if not changed or row.origin != "default"]
    if as_json:
        emit([asdict(row) for row in rows])
        return
    from rich.markup import escape

    for row in rows:
        value = escape(str(row.value))
        say(f"{row.variable} = {value}  [dim]({escape(row.origin)}) {escape(row.description)}[/]")
