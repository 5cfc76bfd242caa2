"""`trivium move`: everything that is known, from one store into another."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trivium.doors.cli.context import chosen
from trivium.doors.cli.output import emit, note, say
from trivium.errors import InvalidInput

if TYPE_CHECKING:
    from trivium.settings import Settings


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium move --from ~/.local/share/trivium --to postgresql://trivium@db/trivium")(
        move
    )


def move(
    source: str = typer.Option(..., "--from", help="A data folder, or the URL of a database server."),
    target: str = typer.Option(..., "--to", help="A data folder, or the URL of a database server; it must be empty."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Copy a whole knowledge base into another store, verified table by table. One that was cut off goes on where it
    stopped when it is started again. Calls that are logged stay behind; keys move along."""
    from trivium.app import open_app

    if source == target:
        raise InvalidInput("--from and --to name the same store", field="to")
    apps = [open_app(_settings(place)) for place in (source, target)]
    try:
        counts = apps[0].move_to(apps[1], lambda table, rows: None if as_json else note(f"{table}: {rows:,}"))
    finally:
        for app in apps:
            app.close()
    if as_json:
        emit(counts)
    else:
        say(", ".join(f"{number:,} {table}" for table, number in counts.items() if number))
        say("both stores hold the same")


def _settings(place: str) -> "Settings":
    given: dict[str, Any] = {"store": place} if "://" in place else {"data": Path(place).expanduser(), "store": ""}
    if "data" in given and not given["data"].parent.exists():
        raise InvalidInput(f"{given['data'].parent} is not there", field="folder")
    return chosen.settings(**given)
