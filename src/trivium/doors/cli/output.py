"""How the command line speaks: results on standard output, everything else on standard error."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from trivium.model.progress import Progress, silent


def say(text: str) -> None:
    """A line of result, with rich markup."""
    from rich.console import Console

    Console(highlight=False, soft_wrap=True).print(text)


def note(text: str) -> None:
    """A line beside the result."""
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(text)


def emit(value: Any) -> None:
    """JSON for machines."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def complain(message: str, hint: str | None = None, choices: Sequence[str] | None = None) -> None:
    from rich.markup import escape

    note(f"[bold red]error:[/] {escape(message)}")
    if choices:
        note(f"  [dim]one of:[/] {escape(', '.join(choices))}")
    if hint:
        note(f"  [dim]way out:[/] {escape(hint)}")


@contextmanager
def bar(title: str, unit: str, *, quiet: bool = False) -> Iterator[Progress]:
    """A progress bar with rate and time left, on a terminal; silence elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield silent
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[what]}"),
    )
    with RichProgress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None, rate="", what="")

        def advance(done: int, total: int, what: str) -> None:
            speed = progress.tasks[0].speed
            rate = f"{speed:,.0f} {unit}/s" if speed else ""
            progress.update(task, completed=done, total=total, rate=rate, what=what[-40:])

        yield advance
