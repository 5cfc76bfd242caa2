"""`trivium search`: one question, the best few chunks."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from trivium.doors.cli.context import opened
from trivium.doors.cli.output import emit, note, say

if TYPE_CHECKING:
    from trivium.model.filters import Filter
    from trivium.model.hits import Ranking


class By(StrEnum):
    hybrid = "hybrid"
    vector = "vector"
    bm25 = "bm25"


class Mode(StrEnum):
    ids_only = "ids_only"
    metadata = "metadata"
    preview = "preview"
    full = "full"


class From(StrEnum):
    documents = "documents"
    code = "code"
    concepts = "concepts"


def register(root: typer.Typer) -> None:
    root.command(
        epilog="Example: trivium search 'who supplies the gateway' --filter 'category = contracts and date >= 2024'"
    )(search)


def search(
    query: str = typer.Argument(..., help="What you want to know; any text."),
    top: int = typer.Option(10, "--top", "-n", min=1, max=1000, help="How many results."),
    skip: int = typer.Option(0, "--skip", min=0, help="Leave out that many from the top."),
    mode: Mode = typer.Option(Mode.preview, help="How much of each result."),
    by: By = typer.Option(By.hybrid, help="Words and meaning together, or one alone."),
    source: list[From] = typer.Option([], help="Only from here; may be repeated."),
    where: list[str] = typer.Option([], "--filter", help="A condition; several must all hold."),
    category: str | None = typer.Option(None, help="Short for --filter 'category = …'."),
    min_score: float = typer.Option(0.0, min=0, max=1, help="Leave out results below this score."),
    rerank: bool = typer.Option(False, help="Let the cross-encoder of TRIVIUM_RERANKER order the best again."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Find the chunks that answer a question."""
    from trivium.doors.mcp.results import render
    from trivium.model.answers import SEARCH_FIELDS
    from trivium.model.chunk import SOURCES
    from trivium.model.hits import SearchQuery

    with opened() as app:
        ranking = app.search.search(
            SearchQuery(
                text=query,
                limit=top,
                offset=skip,
                mode=by.value,
                sources=tuple(item.value for item in source) or SOURCES,
                condition=_condition(where, category),
                min_score=min_score,
                rerank=rerank,
            )
        )
        chunks = {chunk.chunk_id: chunk for chunk in app.chunks.get([hit.chunk_id for hit in ranking.hits])}
    shown = [(chunks[hit.chunk_id], hit) for hit in ranking.hits if hit.chunk_id in chunks]
    rows = [render(chunk, hit, mode.value, SEARCH_FIELDS, None) for chunk, hit in shown]
    if as_json:
        emit({"query": query, "mode": ranking.mode, "total": ranking.total, "results": rows, "notes": _notes(ranking)})
        return
    for line in _notes(ranking):
        note(f"[yellow]{line}[/]")
    for row in rows:
        _tell(row)
    if not rows:
        say("nothing found")


def _condition(expressions: list[str], category: str | None) -> "Filter | None":
    from trivium.model.filter_syntax import parse_filter
    from trivium.model.filters import And, Equals

    parts: list[Filter] = [parse_filter(expression) for expression in expressions]
    if category is not None:
        parts.append(Equals("source_category", category))
    return And(tuple(parts)) if parts else None


def _notes(ranking: "Ranking") -> list[str]:
    lines = [ranking.degraded] if ranking.degraded else []
    if ranking.missing_vectors:
        lines.append(f"{ranking.missing_vectors} chunks have no vectors yet; they were searched by their words only")
    return lines


def _tell(row: dict[str, Any]) -> None:
    from rich.markup import escape

    place = f" [cyan]{escape(row['source_file'])}[/]" if "source_file" in row else ""
    header = f" [dim]{escape(row['context_header'])}[/]" if row.get("context_header") else ""
    say(f"[bold]{row['rank']:>3}[/] [green]{row['hybrid_score']:.3f}[/]{place}{header} [dim]chunk {row['chunk_id']}[/]")
    text = row.get("chunk_text") or " ".join(row.get("chunk_snippet", "").split())
    if text:
        say(f"      {escape(text)}")
