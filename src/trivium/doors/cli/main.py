"""The command line: puts the commands together, opens the app for them, and turns errors into messages and exit codes.

A module listed in COMMANDS has `register(root: typer.Typer)`. Modules import the app and anything heavy inside their
functions, so that `trivium --help` and every command start fast.
"""

import logging
import sys
import traceback
import uuid
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from trivium.doors.cli.context import chosen
from trivium.doors.cli.output import complain
from trivium.errors import InvalidInput, NotFound, TriviumError

COMMANDS: tuple[str, ...] = ("documents", "search", "code", "upkeep", "evaluate", "demo")
COMMANDS += ("migrate", "move", "worker")
COMMANDS += ("vendors", "concepts", "serve", "run", "keys", "audit", "cache", "graph", "schema", "settings")

# Typer carries a click of its own and gives no public name to the base of its usage errors.
WrongCall: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

EXIT_USAGE = 2
EXIT_FAILED = 1
EXIT_BUG = 70


def build() -> typer.Typer:
    root = typer.Typer(
        name="trivium",
        help="Documents, code and concepts in one place, for you and your assistant.",
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    root.callback()(_options)
    for name in COMMANDS:
        import_module(f"trivium.doors.cli.{name}").register(root)
    return root


def run(arguments: list[str]) -> int:
    """Runs one command line; the exit code is 0 where something could be done, 1 where not, 2 for a wrong call."""
    try:
        code = typer.main.get_command(build()).main(data_first(arguments), prog_name="trivium", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        complain("stopped; what was acknowledged is kept")
        return 130
    except WrongCall as error:
        error.show()
        return EXIT_USAGE
    except (InvalidInput, NotFound) as error:
        complain(error.message, error.hint, error.allowed if isinstance(error, InvalidInput) else error.nearest)
        return EXIT_USAGE
    except TriviumError as error:
        complain(error.message, error.hint)
        return EXIT_FAILED
    except KeyboardInterrupt:
        complain("stopped; what was acknowledged is kept")
        return 130
    except BrokenPipeError:
        return 0
    except Exception:
        return _bug()


def data_first(arguments: list[str]) -> list[str]:
    """`--data DIR` may stand anywhere on the line."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*front, *rest, word, *words]
        if word == "--data":
            front += [word, *[value for value in [next(words, None)] if value is not None]]
        elif word.startswith("--data="):
            front.append(word)
        else:
            rest.append(word)
    return front + rest


def _options(
    data: Path | None = typer.Option(None, "--data", help="Folder that holds everything (or TRIVIUM_DATA)."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Say more on standard error."),
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"trivium {installed('trivium')}")
        raise typer.Exit
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, stream=sys.stderr)
    chosen.data = data


def _bug() -> int:
    """Something nobody foresaw: the details go to a file, the person gets its name."""
    number = uuid.uuid4().hex[:8]
    folder = chosen.settings().data / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"error-{number}.txt").write_text(traceback.format_exc(), encoding="utf-8")
        complain(
            f"an internal error ({number}); this is a bug in Trivium", f"details: {folder / f'error-{number}.txt'}"
        )
    except OSError:
        complain(f"an internal error ({number}); this is a bug in Trivium")
    return EXIT_BUG
