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
    markdown: bool = typer.Option(False, "--markdown", help="The page docs/settings.md: names and defaults."),
) -> None:
    """Print every setting with its value and origin. Keys show their last four characters."""
    if markdown:
        typer.echo(settings_page(), nl=False)
        return
    rows = [row for row in chosen.settings().origins() if not changed or row.origin != "default"]
    if as_json:
        emit([asdict(row) for row in rows])
        return
    from rich.markup import escape

    for row in rows:
        value = escape(str(row.value))
        say(f"{row.variable} = {value}  [dim]({escape(row.origin)}) {escape(row.description)}[/]")


def settings_page() -> str:
    """Every setting with its variables and its default, whatever this machine has set."""
    from trivium.settings import Settings, variables

    lines = [
        "# Settings",
        "",
        "Every setting is an environment variable; options of the command line win over it. `trivium settings` prints",
        "the values in force and where each comes from. Printed by `trivium settings --markdown`.",
        "",
        "| variable | default | what it does |",
        "|---|---|---|",
    ]
    for name, field in Settings.model_fields.items():
        names = " or ".join(f"`{variable}`" for variable in variables(name))
        lines.append(f"| {names} | {_default(name, field.default)} | {field.description} |")
    return "\n".join(lines) + "\n"


def _default(name: str, value: object) -> str:
    from pydantic import SecretStr
    from pydantic_core import PydanticUndefined

    if value is PydanticUndefined:
        return {"source_quality": "`{}`"}.get(name, "the platform's folder")
    if isinstance(value, SecretStr) or value in ("", None, ()):
        return "none"
    if isinstance(value, tuple):
        return f"`{','.join(map(str, value))}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
