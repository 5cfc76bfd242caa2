"""`trivium eval retrieval|extraction|callgraph`: how good the answers are, on public sets or on your own."""

import typer


def register(root: typer.Typer) -> None:
    group = typer.Typer(help="Measure the quality of answers on labelled data.", no_args_is_help=True)
    root.add_typer(group, name="eval")
