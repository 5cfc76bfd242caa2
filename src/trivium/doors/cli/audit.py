"""`trivium audit`: who called what."""

import time
from dataclasses import asdict
from datetime import UTC, datetime

import typer

from trivium.doors.cli.durations import seconds
from trivium.doors.cli.keys import guarded
from trivium.doors.cli.output import emit, note, say


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: trivium audit --since 24h --outcome failed")(audit)


def audit(
    limit: int = typer.Option(50, "--limit", "-n", min=1, max=100_000, help="How many, newest first."),
    since: str | None = typer.Option(None, help="Only the last span, for example 24h."),
    caller: str | None = typer.Option(None, help="Only this key's name."),
    tool: str | None = typer.Option(None, help="Only this tool."),
    outcome: str | None = typer.Option(None, help="ok, failed, or an error code."),
    flagged: bool = typer.Option(False, help="Only what looked like harvesting or probing."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Read the audit log. Entries are kept for TRIVIUM_AUDIT_DAYS days."""
    start = 0.0 if since is None else time.time() - seconds(since, "since")
    with guarded() as guard:
        entries = guard.stores.audit.read(
            limit, since=start, caller=caller, tool=tool, outcome=outcome, flagged=flagged
        )
    if as_json:
        emit([asdict(entry) for entry in entries])
        return
    from rich.markup import escape

    for entry in entries:
        at = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        who = f"{entry.caller}…{entry.key}" if entry.key else entry.caller
        flag = f" [red]{entry.flag}[/]" if entry.flag else ""
        say(
            f"{at}  {entry.request_id}  {escape(who)}  {entry.address or entry.transport}  {escape(entry.tool)}"
            f"  {entry.outcome}{flag}  {entry.results} results  {entry.duration_ms:.0f} ms  {escape(entry.arguments)}"
        )
    if not entries:
        note("nothing to show")
