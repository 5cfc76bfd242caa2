"""`trivium run`: a program as an agent would send it to execute_code, from a file."""

import json
import sys
from pathlib import Path
from typing import Any

import typer

from trivium.doors.cli.context import chosen
from trivium.doors.cli.output import emit, note
from trivium.errors import InvalidInput, TriviumError


def register(root: typer.Typer) -> None:
    root.command(epilog="Example: echo 'await list_hierarchy()' | trivium run -")(run)


def run(
    file: str = typer.Argument(..., metavar="FILE", help="A Python program; - reads it from standard input."),
    timeout_s: float | None = typer.Option(None, "--timeout", help="Seconds it may run (TRIVIUM_SANDBOX_TIMEOUT_S)."),
    budget_tokens: int | None = typer.Option(None, "--budget", min=100, help="Fit the answer into so many tokens."),
    allow_writes: bool = typer.Option(False, "--allow-writes", help="Let tools that change data run."),
    as_json: bool = typer.Option(False, "--json", help="The whole answer, for machines."),
) -> None:
    """Run a program next to the data, isolated, with every tool as an async function; prints its result."""
    from trivium.doors.client import Client

    code = _read(file)
    given = {"timeout_s": timeout_s, "budget_tokens": budget_tokens, "allow_writes": allow_writes or None}
    settings = chosen.settings(surface="both")
    with Client(settings=settings, raise_on_error=False) as client:
        if "execute_code" not in client.tools:
            raise InvalidInput(
                "execute_code is switched off: TRIVIUM_ENABLE_CODE_EXECUTION", field="enable_code_execution"
            )
        answer = client.call(
            "execute_code", code=code, **{name: value for name, value in given.items() if value is not None}
        )
    if as_json:
        emit(answer)
    elif "error" not in answer:
        _show(answer)
    if "error" in answer:
        raise typer.Exit(1) if as_json else _failure(answer["error"])


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}", field="file") from error


def _show(answer: dict[str, Any]) -> None:
    """The program's output beside its result, so that a pipe gets the result alone."""
    if printed := answer.get("output"):
        sys.stderr.write(printed if printed.endswith("\n") else printed + "\n")
    result = answer["results"]
    if isinstance(result, str):
        sys.stdout.write(result + "\n")
    elif result is not None:
        sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=2) + "\n")
    for warning in answer["warnings"]:
        note(f"[dim]{warning['message']}[/]")


def _failure(error: dict[str, Any]) -> TriviumError:
    source = f"\n  {error['line']}: {error['source']}" if error.get("source") else ""
    printed = f"\n{error['output'].rstrip()}" if error.get("output") else ""
    return TriviumError(error["message"] + source + printed, hint=error.get("action"), code=error["code"])
