"""`trivium worker`: embeds and reads what was added, beside servers or instead of them."""

import signal
import threading

import typer

from trivium.doors.cli.context import opened
from trivium.doors.cli.output import note


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: TRIVIUM_STORE=postgresql://trivium@db/trivium trivium worker")(worker)


def worker(once: bool = typer.Option(False, "--once", help="Stop when nothing waits any more.")) -> None:
    """Compute vectors and find entities for whatever waits in the store. Start as many as there are cores, on as many
    machines as there are: on a database server they share the work out."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with opened() as app:
        note("working; what is done stays done when this is stopped")
        done = app.work(stop, once=once)
    note(f"{done:,} chunks done")
