"""`trivium keys`: who may use the server."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

from trivium.doors.cli.context import chosen
from trivium.doors.cli.durations import seconds
from trivium.doors.cli.output import emit, note, say

if TYPE_CHECKING:
    from trivium.doors.guard.guard import Guard
    from trivium.ports.keys import StoredKey

keys = typer.Typer(help="API keys: create, list, revoke, rotate.", no_args_is_help=True)


def register(root: typer.Typer) -> None:
    root.add_typer(keys, name="keys")


@contextmanager
def guarded() -> Iterator["Guard"]:
    """The guard of the chosen data folder, closed afterwards."""
    from trivium.doors.guard.guard import build_guard
    from trivium.guard_stores import open_guard

    settings = chosen.settings()
    guard = build_guard(settings, open_guard(settings))
    try:
        yield guard
    finally:
        guard.close()


@keys.command(epilog="Example: trivium keys create laptop --scope write --expires 90d")
def create(
    name: str = typer.Argument(..., help="Whose key it is, or what for."),
    scope: list[str] = typer.Option(["read"], help="read, write or admin; may be repeated."),
    expires: str | None = typer.Option(None, help="When it ends, for example 90d; default: never."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Make a key. It is shown this once; only its hash is kept."""
    with guarded() as guard:
        text, stored = guard.keys.create(name, scope, None if expires is None else seconds(expires, "expires"))
    _show(text, stored, as_json)


@keys.command("list", epilog="Example: trivium keys list --json")
def list_keys(as_json: bool = typer.Option(False, "--json", help="For machines.")) -> None:
    """Show every key: name, scopes, last four characters, state."""
    with guarded() as guard:
        rows = [_row(key) for key in guard.keys.listed()]
    if as_json:
        emit(rows)
        return
    for row in rows:
        say(f"{row['key_id']}  …{row['last_four']}  {row['state']:8}  {','.join(row['scopes']):16}  {row['name']}")
    if not rows:
        note("no keys yet: over stdio the local user owns everything; make one with: trivium keys create NAME")


@keys.command(epilog="Example: trivium keys revoke laptop")
def revoke(which: str = typer.Argument(..., help="Id or name.")) -> None:
    """End a key at once, in every running server."""
    with guarded() as guard:
        key = guard.keys.revoke(which)
    say(f"revoked {key.key_id} ({key.name})")


@keys.command(epilog="Example: trivium keys rotate laptop --grace 1h")
def rotate(
    which: str = typer.Argument(..., help="Id or name."),
    grace: str = typer.Option("0s", help="How long the old key still works."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Replace a key by a new one with the same name, scopes and end."""
    with guarded() as guard:
        text, stored = guard.keys.rotate(which, seconds(grace, "grace"))
    _show(text, stored, as_json)


def _show(text: str, stored: "StoredKey", as_json: bool) -> None:
    if as_json:
        emit(_row(stored) | {"key": text})
        return
    say(text)
    note(f"key {stored.key_id} ({stored.name}), {', '.join(stored.scopes)}. It is not shown again.")


def _row(key: "StoredKey") -> dict[str, Any]:
    now = time.time()
    state = "active" if key.is_active(now) else "revoked" if (key.revoked_at or now + 1) <= now else "expired"
    return {
        "key_id": key.key_id,
        "name": key.name,
        "scopes": list(key.scopes),
        "last_four": key.last_four,
        "state": state,
        "created_at": _time(key.created_at),
        "expires_at": _time(key.expires_at),
        "revoked_at": _time(key.revoked_at),
    }


def _time(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
