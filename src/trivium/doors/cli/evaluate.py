"""`trivium eval retrieval|extraction|callgraph`: how good the answers are, on public sets or on your own."""

import gzip
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trivium.doors.cli.context import chosen
from trivium.doors.cli.output import bar, emit, note, say
from trivium.doors.cli.vendors import evaluate_extraction
from trivium.errors import InvalidInput

if TYPE_CHECKING:
    from trivium.search.evaluate import EvalReport


def register(root: typer.Typer) -> None:
    group = typer.Typer(help="Measure the quality of answers on labelled data.", no_args_is_help=True)
    group.command(epilog="Example: trivium eval retrieval my-set/ --json")(retrieval)
    group.command("extraction", epilog="Example: trivium eval extraction dev.jsonl.gz --json")(evaluate_extraction)
    group.command(epilog="Example: trivium eval callgraph cases.jsonl.gz --json")(callgraph)
    root.add_typer(group, name="eval")


def retrieval(
    folder: Path = typer.Argument(
        ..., exists=True, file_okay=False, help="corpus.jsonl[.gz], queries.jsonl, qrels.tsv"
    ),
    model: str | None = typer.Option(None, help="Embedding model, instead of the configured one."),
    keep: Path | None = typer.Option(None, help="Keep the index in this folder, for the next run."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """nDCG@10, Recall@100, MRR@10 and CPU time of bm25, vector and hybrid search, with a paired bootstrap."""
    from trivium.app import evaluation_index
    from trivium.search.evaluate import Record, evaluate_retrieval

    with tempfile.TemporaryDirectory() if keep is None else nullcontext(keep) as data:
        settings = chosen.settings(**({"model": model} if model else {}))
        throwaway = settings.model_copy(update={"data": Path(data)})
        with bar("vectors", "chunks", quiet=as_json) as progress:

            def open_index(records: Sequence[Record]):  # type: ignore[no-untyped-def]  # the return type is heavy
                return evaluation_index(throwaway, records, progress)

            report = evaluate_retrieval(folder, open_index, rerank=bool(settings.reranker))
    if as_json:
        emit(report.as_json())
    else:
        _tell(report)


def callgraph(
    file: Path = typer.Argument(
        ..., exists=True, dir_okay=False, help="JSON lines, plain or .gz: files and callgraph of each case."
    ),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Precision and recall of call edges inside the cases' own files; complete and sound cases."""
    from trivium.code.evaluate import evaluate_callgraphs

    score = evaluate_callgraphs(_cases(file))
    if as_json:
        emit(score.as_dict())
        return
    say(f"precision {score.precision:.3f}, recall {score.recall:.3f}")
    say(f"{score.cases} cases: {score.complete} complete (no false edge), {score.sound} sound (none missed)")


def _cases(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _case(file, number, line)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file.name} cannot be read: {error}", field="file") from error


def _case(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        case = json.loads(line)
        return {"files": dict(case["files"]), "callgraph": dict(case["callgraph"])}
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"{file.name}, line {number} is no case", field="file", allowed=["files", "callgraph"]
        ) from error


def _tell(report: "EvalReport") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{report.name}: {report.records} records, {report.queries} queries")
    for column in ("", "nDCG@10", "Recall@100", "MRR@10", "CPU ms"):
        table.add_column(column, justify="left" if not column else "right")
    for name, result in report.results.items():
        figures = (result.ndcg_10, result.recall_100, result.mrr_10, result.cpu_ms)
        table.add_row(name, *(f"{figure:.1f}" for figure in figures))
    Console().print(table)
    for name, comparison in report.comparisons.items():
        say(f"{name}: {comparison.gain:+.1f} points (95 %: {comparison.low:+.1f} to {comparison.high:+.1f})")
    if report.degraded:
        note(f"[yellow]{report.degraded}[/]")
