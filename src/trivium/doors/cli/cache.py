"""`trivium cache clear`: forget cached rankings, in every running server of this data folder."""

import typer

from trivium.doors.cli.keys import guarded
from trivium.doors.cli.output import say

cache = typer.Typer(help="Cached search results.", no_args_is_help=True)


def register(root: typer.Typer) -> None:
    root.add_typer(cache, name="cache")


@cache.callback()
def _group() -> None:
    """Keeps `clear` a command of its own."""


@cache.command(epilog="Example: trivium cache clear")
def clear() -> None:
    """Forget every cached ranking. Answers are never older than the last write anyway; this frees memory."""
    from trivium.doors.mcp.services import CACHE_EPOCH

    with guarded() as guard:
        guard.counters.add({CACHE_EPOCH: 1})
    say("cleared: every running server forgets its cached rankings with its next call")
