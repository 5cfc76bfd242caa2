"""How long work tells how far it is."""

from collections.abc import Callable

Progress = Callable[[int, int, str], None]  # done, total, what is being worked on


def silent(_done: int, _total: int, _what: str) -> None:
    """For callers that do not want to know."""
