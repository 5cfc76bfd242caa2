"""`trivium schema`: the published types of every answer, generated from the models."""

import typer

from trivium.doors.cli.output import emit


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium schema --typescript > trivium.d.ts")(schema)


def schema(
    as_json: bool = typer.Option(False, "--json", help="JSON Schema (the default)."),
    typescript: bool = typer.Option(False, "--typescript", help="TypeScript declarations."),
) -> None:
    """Print the types of the knowledge tools' answers."""
    from trivium.doors.schema import json_schema, typescript_types
    from trivium.errors import InvalidInput

    if as_json and typescript:
        raise InvalidInput("choose one of --json and --typescript", field="schema")
    if typescript:
        typer.echo(typescript_types(), nl=False)
    else:
        emit(json_schema())
