"""What `trivium doctor` looks at, one check a function: what was found, and the way out where something is wrong."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from trivium.errors import TriviumError

if TYPE_CHECKING:
    from trivium.app import App
    from trivium.settings import Settings

LOW_DISK_BYTES = 1_000_000_000
BETTER_MODEL = "granite-embedding-30m-english"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    level: Literal["ok", "warn", "fail"]
    message: str
    remedy: str | None = None


def examine(settings: "Settings") -> Iterator[Finding]:
    """Every check, even where an earlier one failed, as far as that makes sense."""
    from trivium.app import open_app

    yield _folder(settings)
    yield _disk(settings)
    try:
        app = open_app(settings)
    except TriviumError as error:
        yield Finding("store", "fail", error.message, error.hint)
        return
    try:
        for check in CHECKS:
            try:
                yield from check(app)
            except TriviumError as error:
                yield Finding(check.__name__.strip("_"), "fail", error.message, error.hint)
    finally:
        app.close()


def _folder(settings: "Settings") -> Finding:
    folder = settings.data
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(nearest, os.W_OK):
        return Finding("folder", "fail", f"{folder} cannot be written", "choose another one with --data")
    return Finding("folder", "ok", str(folder))


def _disk(settings: "Settings") -> Finding:
    nearest = next(path for path in (settings.data, *settings.data.parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    if free < LOW_DISK_BYTES:
        return Finding("disk", "warn", f"{free / 1e6:.0f} MB left", "free some space, or move the folder (--data)")
    return Finding("disk", "ok", f"{free / 1e9:.1f} GB free")


def _store(app: "App") -> Iterator[Finding]:
    problems = app.opened.check()
    if problems:
        yield Finding("store", "fail", "; ".join(problems[:3]), "restore from an export: trivium import FILE")
    else:
        counts = app.overview.counts()
        yield Finding("store", "ok", f"{counts['documents']} documents, {counts['chunks']} chunks, file is sound")


def _model(app: "App") -> Iterator[Finding]:
    vector = app.embedder.embed_queries(["is the model alive?"])[0]
    length = float((vector**2).sum()) ** 0.5
    if abs(length - 1) > 1e-3:
        yield Finding(
            "model", "fail", f"{app.embedder.model.name} gives vectors of length {length:.3f}", "reinstall it"
        )
    else:
        yield Finding("model", "ok", f"{app.embedder.model.name}, {app.embedder.model.dimension} dimensions")
    if app.embedder.model.name != BETTER_MODEL and not app.settings.embedder_url:
        yield Finding(
            "model",
            "ok",
            f"{BETTER_MODEL} finds more at the same cost (docs/decisions/embedding.md)",
            f"trivium reindex --model {BETTER_MODEL}",
        )


def _indexes(app: "App") -> Iterator[Finding]:
    for state in app.check():
        if state.agrees:
            yield Finding(state.name, "ok", f"{state.chunks} chunks, as in the store")
        else:
            lacks = f"{len(state.missing)} missing, {len(state.surplus)} too many"
            yield Finding(state.name, "fail", f"differs from the store: {lacks}", "trivium reindex")


def _waiting(app: "App") -> Iterator[Finding]:
    waiting = app.embedding.pending()
    if waiting:
        yield Finding(
            "vectors", "warn", f"{waiting} chunks have no vectors yet", "trivium reindex, or leave it to serve"
        )


def _cache(app: "App") -> Iterator[Finding]:
    if not app.settings.cache:
        return
    from trivium.guard_stores import open_guard

    stores = open_guard(app.settings)
    trouble = stores.shared.ping() if stores.shared is not None else None
    stores.close()
    if trouble:
        yield Finding("cache", "warn", trouble, "start the server that TRIVIUM_CACHE names; nothing is lost meanwhile")
    else:
        yield Finding("cache", "ok", "the cache server answers")


def _graph(app: "App") -> Iterator[Finding]:
    if app.graph_server is None:
        return
    for part in app.graph_server.parts(app.concepts):
        if part.is_current:
            yield Finding("graph", "ok", f"{part.name}: the graph server has what the store has")
        else:
            yield Finding("graph", "warn", f"{part.name}: the graph server is behind", "trivium graph migrate")


CHECKS: tuple[Callable[["App"], Iterator[Finding]], ...] = (_store, _indexes, _model, _waiting, _cache, _graph)
