"""The code toolset: search in indexed repositories, and questions to their dependency graph.

Seed 003 field for field. Edges also carry how they were resolved and how sure that is; results say whether the file
still is what was indexed.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from trivium.doors.mcp import code_answers as answers
from trivium.doors.mcp.envelope import json_text
from trivium.doors.mcp.tools import Body, Call, Reply, Tool, tool
from trivium.errors import ModelUnavailable, NotFound, TriviumError
from trivium.model.filters import Equals
from trivium.model.hits import Ranking, SearchQuery

if TYPE_CHECKING:
    from trivium.code.named import Name
    from trivium.code.repositories.room import Code

WINDOW = 50  # hits that are looked at for the first page: some fall to the threshold
FEW_CHUNKS = 64  # embedded at once where an answer needs them
LONG_S = 3600.0
USUAL_SIMILARITY = 0.7

Depth = Annotated[int, Field(ge=1, le=5, description="Levels to follow")]
EntityPath = Annotated[
    str, Field(min_length=1, max_length=1000, description="path, name, path::name or path::Class.method")
]
RepositoryName = Annotated[str, Field(min_length=1, max_length=200, description="Repository name")]
Relationships = Annotated[
    list[Literal["imports", "calls", "extends", "implements", "references"]] | None,
    Field(min_length=1, description="Only these; default all"),
]
Limit = Annotated[int, Field(ge=1, le=5000, description="Entries at most")]
Offset = Annotated[int, Field(ge=0, description="metadata.next_offset of the part before")]
Budget = Annotated[int | None, Field(ge=100, description="Fit the entries into so many tokens")]


def tools(served: frozenset[str]) -> Sequence[Tool]:
    """Without the knowledge toolset beside it, the search goes by the seed's own name."""
    search = search_code if "knowledge" in served else replace(search_code, name="semantic_search")
    offered = (
        search,
        list_indexed_repositories,
        get_dependencies,
        get_dependents,
        get_architecture,
        find_path,
        get_graph_metrics,
        index_repository,
        remove_repository,
        get_index_status,
    )
    return [replace(one, error_text=answers.error_text) for one in offered]


def _code(call: Call) -> "Code":
    return call.app.code


@tool(scope="read", errors=answers.error_body, invalid=answers.invalid, failure_code="SEARCH_FAILED")
def search_code(
    call: Call,
    query: Annotated[str, Field(min_length=1, max_length=1000, description="In words, or names of the code")],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    threshold: Annotated[
        float, Field(ge=0, le=1, description="Least similarity; 1.0 for what the query names")
    ] = USUAL_SIMILARITY,
    repository: Annotated[str | None, Field(min_length=1, description="Only this repository")] = None,
    offset: Offset = 0,
    budget_tokens: Budget = None,
) -> Reply:
    """Search the code of indexed repositories by meaning and by names; gives snippets with file and lines."""
    from trivium.code.named import named_definitions

    code = _code(call)
    searched = [code.repositories.get(repository)] if repository else code.repositories.all()
    with suppress(ModelUnavailable):  # the search itself then says that it went without vectors
        if 0 < call.app.embedding.pending() <= FEW_CHUNKS:
            call.app.embedding.run()
    embedded = answers.elapsed(call)
    condition = Equals("repository", repository) if repository else None
    depth = max(WINDOW, offset + limit + 1)
    asked = SearchQuery(query, limit=depth, sources=("code",), condition=condition)
    ranking = call.app.search.search(asked)
    found = _found(call, ranking, named_definitions(code.graph, query, repository))
    near = [body for body in found if _is_near(body, threshold)]
    results = _affordable(call, near[offset : offset + limit], budget_tokens)
    took = answers.elapsed(call)
    metadata: Body = {
        "total_matches": len(results),
        "query_time_ms": took,
        "embedding_time_ms": embedded,
        "search_time_ms": took - embedded,
        "repositories_searched": [one.name for one in searched],
    }
    if offset + len(results) < len(near):
        metadata["next_offset"] = offset + len(results)
    seen = [body["metadata"]["chunk_id"] for body in results]
    return Reply({"results": results, "metadata": metadata | _limits(ranking)}, seen=seen)


def _is_near(body: Body, threshold: float) -> bool:
    """A chunk without a vector yet has no similarity: it is there because its words answer the query. What the query
    may name is kept unless more than usual is asked for."""
    score = body["similarity_score"]
    may_stay = "matched_name" in body["metadata"] and threshold <= USUAL_SIMILARITY
    return score is None or may_stay or bool(score >= threshold)


def _limits(ranking: Ranking) -> Body:
    body: Body = {}
    if ranking.missing_vectors:
        body["waiting_for_vectors"] = ranking.missing_vectors
    if ranking.degraded:
        body["degraded"] = ranking.degraded
    return body


def _found(call: Call, ranking: Ranking, named: Sequence["Name"]) -> list[Body]:
    """The hits as they are shown; definitions that the query names come first."""
    from trivium.code.named import in_order

    code = _code(call)
    near = {h.chunk_id: h.similarity_score for h in ranking.hits if h.similarity_score is not None or h.bm25_score}
    ordered = in_order(named, list(near), lambda symbols: code.defining_chunks(symbols, call.app.chunks))
    chunks = {chunk.chunk_id: chunk for chunk in call.app.chunks.get(list(ordered))}
    paths: dict[str, set[str]] = {}
    for chunk in chunks.values():
        paths.setdefault(str(chunk.metadata["repository"]), set()).add(chunk.source_file)
    files = {(name, path): file for name, some in paths.items() for path, file in code.files(name, some).items()}
    fresh = {(name, path): is_it for name, some in paths.items() for path, is_it in code.fresh(name, some).items()}
    found: list[Body] = []
    for chunk_id, match in ordered.items():
        if chunk_id in chunks:
            chunk = chunks[chunk_id]
            place = (str(chunk.metadata["repository"]), chunk.source_file)
            found.append(answers.found_chunk(near.get(chunk_id), chunk, files.get(place), fresh.get(place), match))
    return found


@tool(scope="read", errors=answers.error_body, invalid=answers.invalid)
def list_indexed_repositories(call: Call) -> Body:
    """Indexed repositories with status, counts and when they were indexed."""
    return answers.repositories(_code(call).repositories.all())


@tool(scope="read", errors=answers.error_body, invalid=answers.invalid)
def get_dependencies(
    call: Call,
    entity_type: Literal["file", "function", "class"],
    entity_path: EntityPath,
    repository: RepositoryName,
    depth: Depth = 1,
    relationship_types: Relationships = None,
    include_cross_repo: Annotated[bool, Field(description="Dependencies in other repositories too")] = False,
    limit: Limit = 500,
    offset: Offset = 0,
    budget_tokens: Budget = None,
) -> Body:
    """What a file, function or class imports, calls, extends, implements or refers to."""
    from trivium.code.dependencies import get_dependencies as ask

    graph = _code(call).graph
    return _timed(
        call,
        "getDependencies",
        "dependencies",
        (entity_type, entity_path, repository, depth, _frozen(relationship_types), include_cross_repo, offset, limit),
        lambda kind, path, name, far, words, cross, first, most: ask(
            graph, kind, path, name, far, words, cross, offset=first, limit=most
        ),
        lambda body: _part(call, body, "dependencies", offset, budget_tokens),
    )


@tool(scope="read", errors=answers.error_body, invalid=answers.invalid)
def get_dependents(
    call: Call,
    entity_type: Literal["file", "function", "class", "package"],
    entity_path: EntityPath,
    repository: Annotated[str | None, Field(min_length=1, max_length=200, description="Default: all")] = None,
    depth: Depth = 1,
    include_cross_repo: Annotated[bool, Field(description="Dependents in other repositories too")] = False,
    limit: Limit = 500,
    offset: Offset = 0,
    budget_tokens: Budget = None,
) -> Body:
    """Who imports, calls or extends it: the impact of a change, at least and at most, with what could be hidden."""
    from trivium.code.dependents import get_dependents as ask

    graph = _code(call).graph
    return _timed(
        call,
        "getDependents",
        "dependents",
        (entity_type, entity_path, repository, depth, include_cross_repo, offset, limit),
        lambda kind, path, name, far, cross, first, most: ask(
            graph, kind, path, name, far, cross, offset=first, limit=most
        ),
        lambda body: _part(call, body, "dependents", offset, budget_tokens),
    )


@tool(scope="read", errors=answers.error_body, invalid=answers.invalid)
def get_architecture(
    call: Call,
    repository: RepositoryName,
    detail_level: Literal["packages", "modules", "files", "entities"],
    scope: Annotated[str | None, Field(max_length=1000, description="Only this folder")] = None,
    include_external: Annotated[bool, Field(description="External packages too")] = False,
    limit: Annotated[int, Field(ge=1, le=5000, description="Files (or packages) at most")] = 500,
    offset: Offset = 0,
    budget_tokens: Budget = None,
) -> Body:
    """How a repository is laid out, and which part depends on which."""
    from trivium.code.architecture import get_architecture as ask

    graph = _code(call).graph

    def part(most: int) -> Body:
        return ask(graph, repository, detail_level, scope, include_external, offset=offset, limit=most)

    def cut(body: Body) -> None:
        _mark_fresh_files(call, repository, body["root"])
        if budget_tokens is not None:
            total = body["metadata"]["total_packages" if detail_level == "packages" else "total_files"]
            _fit(call, body, part, min(limit, total - offset), budget_tokens)

    return _timed(
        call,
        "getArchitecture",
        "module_dependencies",
        (repository, detail_level, scope, include_external, offset, limit),
        lambda *_: part(limit),
        cut,
    )


@tool(scope="read", errors=answers.error_body, invalid=answers.invalid)
def find_path(
    call: Call,
    from_entity: EntityPath,
    to_entity: EntityPath,
    repository: RepositoryName,
    max_hops: Annotated[int, Field(ge=1, le=20)] = 10,
    relationship_types: Relationships = None,
    include_cross_repo: Annotated[bool, Field(description="Through other repositories too")] = False,
) -> Body:
    """The shortest chain of relationships from one entity to another."""
    from trivium.code.paths import find_path as ask

    graph = _code(call).graph
    return _timed(
        call,
        "getPath",
        "path",
        (from_entity, to_entity, repository, max_hops, _frozen(relationship_types), include_cross_repo),
        lambda *asked: ask(graph, *asked),
        lambda body: _mark_fresh_nodes(call, body["path"] or ()),
    )


@tool(scope="read", errors=answers.error_body, invalid=answers.invalid)
def get_graph_metrics(
    call: Call,
    query_type: Literal["all", "getDependencies", "getDependents", "getPath", "getArchitecture"] = "all",
) -> Body:
    """Counts and times of the graph queries this server has answered."""
    return _code(call).metrics.report(query_type)


@tool(
    scope="admin", errors=answers.error_body, invalid=answers.invalid, deadline_s=LONG_S, open_world=True,
    failure_code="INDEXING_FAILED",
)  # fmt: skip
def index_repository(
    call: Call,
    source: Annotated[str, Field(min_length=1, max_length=2000, description="Folder, or git URL")],
    name: Annotated[str | None, Field(max_length=100, description="Default: last part of the source")] = None,
    branch: Annotated[str | None, Field(min_length=1, max_length=200, description="Of a git URL")] = None,
) -> Body:
    """Take a repository in, or bring it up to date. Searchable and answerable when it returns."""

    def progress(done: int, total: int, what: str) -> None:
        call.check()
        call.progress(done, total, what)

    return answers.indexed(_code(call).repositories.index(source, name, branch, progress))


@tool(scope="admin", errors=answers.error_body, invalid=answers.invalid, destructive=True)
def remove_repository(call: Call, repository: RepositoryName) -> Body:
    """Forget an indexed repository, its chunks and its graph. Files on disk stay."""
    gone = _code(call).repositories.remove(repository)
    return {
        "success": True,
        "repository": gone.name,
        "removed_files": gone.file_count,
        "removed_chunks": gone.chunk_count,
    }


@tool(scope="read", errors=answers.error_body, invalid=answers.invalid)
def get_index_status(
    call: Call,
    repository: Annotated[str | None, Field(min_length=1, max_length=200, description="Default: all")] = None,
) -> Body:
    """Where indexing stands: status, progress, chunks that wait for vectors."""
    rooms = _code(call).repositories
    chosen = [rooms.get(repository)] if repository else rooms.all()
    body = answers.repositories(chosen)
    for row in body["repositories"]:
        reached = rooms.progress(row["name"])
        if reached is not None:
            row["progress"] = {"files_read": reached[0], "files_total": reached[1]}
    return body | {"waiting_for_vectors": _waiting(call)}


def _waiting(call: Call) -> int | None:
    try:
        return call.app.embedding.pending()
    except ModelUnavailable:
        return None


def _timed(
    call: Call,
    query_type: str,
    listed: str,
    asked: tuple[Any, ...],
    ask: Callable[..., Body],
    cut: Callable[[Body], None],
) -> Body:
    """Answers a graph query, from the cache where the graph is still the same; writes down how it went, and cuts the
    answer to what was asked for."""
    code = _code(call)
    question = (call.services.cache_epoch(), query_type, *asked)
    try:
        kept, is_hit = code.answered.ask(
            code.graph.state(), question, lambda body: len(body[listed] or ()), lambda: ask(*asked)
        )
    except TriviumError as error:
        code.metrics.record(query_type, answers.elapsed(call), failed=True)
        if error.code == "REPOSITORY_NOT_FOUND":
            _explain_missing(code, asked)
        raise
    body: Body = _copied(kept)  # what follows writes into it
    count = body["metadata"].get("total_count", len(body[listed] or ()))
    cut(body)
    body["metadata"]["query_time_ms"] = answers.elapsed(call)
    code.metrics.record(query_type, answers.elapsed(call), count, cache_hit=is_hit)
    return body


def _explain_missing(code: "Code", asked: Sequence[object]) -> None:
    """A repository that is listed but has no graph yet is not unknown: its error says why there is none."""
    for one in code.repositories.all():
        if one.name in asked:
            why = one.error_message or f"its status is {one.status}"
            hint = "index it again: index_repository" if one.status == "error" else "wait: get_index_status"
            raise NotFound(f"No graph data available for {one.name}: {why}", code="NO_GRAPH_DATA", hint=hint)


def _copied(value: Any) -> Any:
    """`copy.deepcopy` for what JSON can hold, at half its cost."""
    if isinstance(value, dict):
        return {key: _copied(one) if isinstance(one, dict | list) else one for key, one in value.items()}
    return [_copied(one) if isinstance(one, dict | list) else one for one in value]


def _frozen(words: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if words is None else tuple(words)


def _fit(call: Call, body: Body, part: Callable[[int], Body], shown: int, budget_tokens: int) -> None:
    """Puts the largest part that fits the budget in place of the answer, or that of a single file."""
    while True:
        (cost,) = call.services.tokens.count([json_text(body)])
        if cost <= budget_tokens or shown <= 1:
            return
        shown = max(1, min(shown - 1, int(shown * budget_tokens / cost * 0.95)))
        body |= part(shown)
        _mark_fresh_files(call, body["repository"], body["root"])


def _mark_fresh_files(call: Call, repository: str, root: Body) -> None:
    nodes: dict[str, Body] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        pending.extend(node.get("children", ()))
        if "path" in node:
            nodes[node["path"]] = node
    for path, is_fresh in _code(call).fresh(repository, nodes).items():
        nodes[path]["fresh"] = is_fresh


def _mark_fresh_nodes(call: Call, nodes: Sequence[Body]) -> None:
    for name in {node["repository"] for node in nodes if node["repository"]}:
        mine = {node["identifier"].partition("::")[0] for node in nodes if node["repository"] == name}
        fresh = _code(call).fresh(name, mine)
        for node in nodes:
            path = node["identifier"].partition("::")[0]
            if node["repository"] == name and path in fresh:
                node["fresh"] = fresh[path]


def _part(call: Call, body: Body, listed: str, offset: int, budget_tokens: int | None) -> None:
    """Says how fresh the files of the entries are, keeps to a budget, and says where the next part begins."""
    total, shown = body["metadata"]["total_count"], body[listed]
    _mark_fresh(call, shown)
    body[listed] = shown = _affordable(call, shown, budget_tokens)
    if offset + len(shown) < total:
        body["metadata"] |= {"returned_count": len(shown), "next_offset": offset + len(shown)}


def _affordable(call: Call, entries: Sequence[Body], budget_tokens: int | None) -> list[Body]:
    """As many of the entries as fit the budget together."""
    if budget_tokens is None:
        return list(entries)
    sizes = accumulate(call.services.tokens.count([json_text(entry) for entry in entries]))
    return list(entries[: sum(size <= budget_tokens for size in sizes)])


def _mark_fresh(call: Call, entries: Sequence[Body]) -> None:
    paths: dict[str, set[str]] = {}
    for entry in entries:
        if entry["repository"]:
            paths.setdefault(entry["repository"], set()).add(entry["path"].partition("::")[0])
    for name, some in paths.items():
        fresh = _code(call).fresh(name, some)
        for entry in entries:
            path = entry["path"].partition("::")[0]
            if entry["repository"] == name and path in fresh:
                entry["metadata"]["fresh"] = fresh[path]
