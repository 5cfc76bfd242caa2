"""What is there is documented, and what is documented is there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from trivium.doors.cli.main import build

ROOT = Path(__file__).parents[2]
PAGES = {path: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]}
EVERYTHING = "\n".join(PAGES.values())


def commands(group: Any, path: str = "trivium") -> Iterator[tuple[str, Any]]:
    if hasattr(group, "commands"):
        for name, command in group.commands.items():
            yield from commands(command, f"{path} {name}")
    else:
        yield path, group


ALL = dict(commands(typer.main.get_command(build())))


@pytest.mark.parametrize("path", ALL)
def test_every_command_has_help_an_example_and_a_place_in_the_documentation(path: str) -> None:
    command = ALL[path]
    assert command.help
    assert "Example:" in (command.epilog or ""), f"{path} has no example"
    top = " ".join(path.split()[:2]).removeprefix("trivium ")
    assert re.search(rf"trivium {top}\b|`{top}`|, `?{top}`?", EVERYTHING), f"{path} is not documented"


def test_the_readme_s_two_commands_are_those_of_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert "pip install uv && uv run trivium demo" in PAGES[ROOT / "README.md"]
    assert "uv run pytest" in PAGES[ROOT / "README.md"]
    assert "uv run trivium demo" in script
    assert "uv run pytest" in script


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGES[page]):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_scripts_that_print_figures_exist(page: Path) -> None:
    for script in set(re.findall(r"benchmarks/\w+\.py", PAGES[page])):
        assert (ROOT / script).exists(), f"{page.name} names {script}"
