"""Indexes repositories: reads, cuts, links and stores them. Readers see the state before or after, never between.

Files, chunks and imports are shown as soon as they are read; calls follow in a second step, in place of the old ones.
"""

import shutil
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from trivium.code.analyse import build_graph, file_graph
from trivium.code.repositories.look import look_at
from trivium.code.repositories.names import Address, choose_name, known, read_address
from trivium.code.repositories.packaged import build_below, package_prefix
from trivium.code.repositories.quick import Changed, QuickView, keep_facts, read_changed
from trivium.code.repositories.reading import (
    Reading,
    check_reading,
    describe_changed,
    describe_files,
    is_same,
    read_checkout,
)
from trivium.code.repositories.walk import LeftOut
from trivium.code.scip.indexes import IndexedText, ScipIndex, ScipIndexes
from trivium.code.solver.solve import without_collector
from trivium.errors import Conflict, TriviumError
from trivium.model.code import BlindSpot
from trivium.model.progress import Progress, silent
from trivium.ports.documents import DocumentDraft, DocumentStore
from trivium.ports.repositories import (
    Checkout,
    Credentials,
    FactsCache,
    Git,
    GraphPatch,
    GraphPatches,
    IndexedFile,
    Repository,
    RepositoryStore,
)
from trivium.ports.tokens import TokenCounter

INTERRUPTED = "indexing was interrupted; update the repository to finish it"


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an indexing did. `left_out` names every file and folder that was not taken, and why."""

    repository: Repository
    added: int
    updated: int
    moved: int
    removed: int
    unchanged: int
    edge_count: int
    left_out: tuple[LeftOut, ...] = ()
    scip_files: int = 0  # files that a SCIP index resolved


@dataclass(frozen=True, slots=True)
class Outside:
    """What indexing needs from the store and the machine, beside its own tables."""

    documents: DocumentStore
    tokens: TokenCounter
    git: Git
    clones: Path
    atomically: Callable[[], AbstractContextManager[object]]
    try_lock: Callable[[], AbstractContextManager[bool]]
    catch_up: Callable[[], object]
    join: Callable[[], object]  # brings the edges between repositories up to date
    scip: ScipIndexes
    chunk_tokens: int = 500


class IndexRepositories:
    def __init__(
        self,
        store: RepositoryStore,
        facts: FactsCache,
        patches: GraphPatches,
        outside: Outside,
    ) -> None:
        self._store, self._facts, self._outside = store, facts, outside
        self._patches = patches
        self._progress: dict[str, tuple[int, int]] = {}

    def all(self) -> list[Repository]:
        """Every repository as it stands. One that says it is being indexed while nobody does was interrupted."""
        found = self._store.all()
        if any(repository.status == "indexing" for repository in found):
            with self._outside.try_lock() as is_free:
                if is_free:
                    return [
                        replace(one, status="error", error_message=INTERRUPTED) if one.status == "indexing" else one
                        for one in self._store.all()
                    ]
        return found

    def get(self, name: str) -> Repository:
        return known(name, self.all())

    def progress(self, name: str) -> tuple[int, int] | None:
        """Files read and to read, where this process is indexing it now."""
        return self._progress.get(name)

    def index(
        self,
        source: str,
        name: str | None = None,
        branch: str | None = None,
        progress: Progress = silent,
        scip: Sequence[ScipIndex] = (),
    ) -> IndexReport:
        """Takes a folder or the newest commit of a git address in, as it is now. `scip`: indexes to believe."""
        address = read_address(source)
        chosen = choose_name(name, address)
        before = next((one for one in self._store.all() if one.name == chosen), None)
        if before is not None and not _is_same_place(before, address):
            raise Conflict(
                f"{chosen} is indexed already, from {before.url}",
                details={"name": chosen, "url": before.url},
                hint="give another name, or remove that repository first",
                code="REPOSITORY_EXISTS",
            )
        location = address.folder or self._outside.clones / chosen
        kept_branch = branch or (before.branch if before and before.is_cloned else "")
        target = Repository(chosen, address.url, str(location), kept_branch, is_cloned=address.folder is None)
        self._outside.scip.offer(chosen, scip)
        if scip and before is not None:
            before = replace(before, status="indexing")  # read as a whole, even where no file changed
        return self._indexed(target, before, address.credentials, progress)

    def update(
        self,
        name: str,
        progress: Progress = silent,
        *,
        touched: Collection[str] | None = None,
        settle: bool = True,
    ) -> IndexReport:
        """Reads a repository again; what did not change costs nothing.

        Few changes in a large one are shown at once, and the whole is analysed after that: here, or with `settle=False`
        by a later update. `touched`: a watcher's word for which files changed.
        """
        before = self.get(name)
        return self._indexed(before, before, None, progress, touched, settle)

    def is_settled(self, name: str) -> bool:
        """Whether the graph is that of the files as they were last read, with nothing left to resolve."""
        return not self._patches.is_patched(name)

    def remove(self, name: str) -> Repository:
        """Forgets a repository with its chunks and its graph; a folder that was indexed in place stays as it is."""
        with self._outside.try_lock() as is_free:
            if not is_free:
                raise _busy()
            repository = known(name, self._store.all())
            stored = [file.document_id for file in self._outside.documents.files("code", name)]
            with self._outside.atomically():
                self._outside.documents.remove(stored)
                gone = self._store.files(name)
                self._store.remove(name)
            self._facts.put({}, {file.fingerprint for file in gone.values()})
            if repository.is_cloned:
                shutil.rmtree(self._outside.clones / name, ignore_errors=True)
            self._outside.join()
        self._outside.catch_up()
        return repository

    def _indexed(
        self,
        target: Repository,
        before: Repository | None,
        credentials: Credentials | None,
        progress: Progress,
        touched: Collection[str] | None = None,
        settle: bool = True,
    ) -> IndexReport:
        with self._outside.try_lock() as is_free:
            if not is_free:
                raise _busy()
            last = before or target
            self._store.note(replace(last, status="indexing", error_message=""))
            try:
                with without_collector():
                    report = self._run(target, last, credentials, progress, touched, settle)
            except BaseException as error:
                said = error.message if isinstance(error, TriviumError) else "indexing failed"
                self._store.note(replace(last, status="error", error_message=said))
                raise
            finally:
                self._progress.pop(target.name, None)
            if self.is_settled(target.name):
                self._outside.join()
        self._outside.catch_up()
        return report

    def _run(
        self,
        target: Repository,
        last: Repository,
        credentials: Credentials | None,
        progress: Progress,
        touched: Collection[str] | None,
        settle: bool,
    ) -> IndexReport:
        started = time.monotonic()
        root = Path(target.location)
        if target.is_cloned:
            self._outside.git.fetch(target.url, target.branch or None, root, credentials)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        done = replace(_described(target, self._outside.git.describe(root)), last_indexed=now)
        quick = self._quickly(done, last, touched, started) if last.status == "ready" and root.is_dir() else None
        if quick is not None and (not settle or self.is_settled(target.name)):
            return quick
        return self._wholly(done, last, progress, started, quick)

    def _quickly(
        self, done: Repository, last: Repository, touched: Collection[str] | None, started: float
    ) -> IndexReport | None:
        """Shows a few changes, or that there are none; None where the repository is to be read as a whole."""
        look = look_at(Path(done.location), last, self._store.files(done.name, with_pieces=False), touched)
        count = sum(bool(file.language) for file in look.before.values())
        done = replace(
            done, status="ready", file_count=count, chunk_count=last.chunk_count, function_count=last.function_count
        )
        if look.is_as_before:
            done = replace(done, index_duration_ms=_since(started))
            self._store.note(done)
            return IndexReport(done, 0, 0, 0, 0, count, 0, tuple(look.left_out))
        changed = read_changed(look)
        if changed is None:
            return None
        view = QuickView(done.name, look, changed, self._facts, self._patches)
        self._patches.apply(done, view.imports(), [])
        patch = view.calls()
        self._patches.apply(done, patch, [])
        more = keep_facts(look, changed, self._facts)
        done = replace(done, function_count=done.function_count + more, index_duration_ms=_since(started))
        done = self._show_chunks(done, changed)
        updated = len(changed)
        return IndexReport(done, 0, updated, 0, 0, count - updated, len(patch.edges), tuple(look.left_out))

    def _show_chunks(self, done: Repository, changed: Sequence[Changed]) -> Repository:
        before = self._store.files(done.name, [one.source.path for one in changed])
        files, drafts = describe_changed(
            done.name, changed, self._outside.tokens, self._outside.chunk_tokens, done.last_indexed
        )
        chunks = sum(len(f.pieces) for f in files) - sum(len(f.pieces) for f in before.values())
        done = replace(done, chunk_count=done.chunk_count + chunks)
        with self._outside.atomically():
            self._outside.documents.save(drafts)
            self._patches.apply(done, GraphPatch((), (), (), ()), files)
        return done

    def _wholly(
        self, done: Repository, last: Repository, progress: Progress, started: float, shown: IndexReport | None
    ) -> IndexReport:
        """Reads everything, and solves all calls anew. What was `shown` quickly is not shown a second time."""
        root, name = Path(done.location), done.name
        before = self._store.files(name)
        reading = read_checkout(root, self._facts, before, self._counted(name, progress))
        check_reading(reading, root)
        files, drafts = describe_files(
            name, reading, self._outside.tokens, self._outside.chunk_tokens, before, done.last_indexed
        )
        done = replace(
            done,
            status="ready",
            file_count=len(reading.code),
            chunk_count=sum(len(file.pieces) for file in files),
            function_count=reading.function_count,
            error_message="",
        )
        moved = removed = 0
        is_as_shown = is_same(files, before) and last.status == "ready"
        if not is_as_shown:
            moved, removed = self._show_files(done, reading, files, drafts)
        graph = build_below(build_graph, package_prefix(root), name, reading.facts, reading.configs)
        graph = self._outside.scip.over(graph, root, (IndexedText(s.path, s.blob_hash, s.data) for s in reading.code))
        resolved = self._outside.scip.report(name)
        done = replace(done, index_duration_ms=_since(started))
        self._store.replace(done, graph, files)
        added = sum(draft.source_file not in before for draft in drafts) - moved
        updated = len(drafts) - added - moved + (shown.updated if shown else 0)
        unchanged = len(reading.code) - added - moved - updated
        left_out = (*reading.left_out, *(LeftOut(path, reason) for path, reason in resolved.unfit))
        count = len(graph.edges)
        return IndexReport(done, added, updated, moved, removed, unchanged, count, left_out, resolved.covered)

    def _show_files(
        self, done: Repository, reading: Reading, files: Sequence[IndexedFile], drafts: Sequence[DocumentDraft]
    ) -> tuple[int, int]:
        """Chunks, symbols and imports, in one step. Answers how many files moved and how many are gone."""
        prefix = package_prefix(Path(done.location))
        graph = build_below(file_graph, prefix, done.name, reading.facts, reading.configs)
        pending = BlindSpot("", 0, "budget", "calls are still being resolved")
        with self._outside.atomically():
            moved, removed = self._put_documents(done.name, drafts, {source.path for source in reading.code})
            shown = replace(done, status="indexing")
            self._store.replace(shown, replace(graph, blind_spots=(pending,)), files, keep_calls=True)
        return moved, removed

    def _put_documents(self, name: str, drafts: Sequence[DocumentDraft], present: set[str]) -> tuple[int, int]:
        """A file that moved takes its chunks and their vectors along."""
        documents = self._outside.documents
        stored = {file.source_file: file for file in documents.files("code", name)}
        gone = {file.content_hash: file for path, file in stored.items() if path not in present}
        moves: dict[int, tuple[str, str]] = {}
        for draft in drafts:
            twin = gone.pop(draft.content_hash, None) if draft.source_file not in stored else None
            if twin is not None:
                moves[twin.document_id] = (name, draft.source_file)
        documents.move(moves)
        documents.save(drafts)
        left = [f.document_id for path, f in stored.items() if path not in present and f.document_id not in moves]
        documents.remove(left)
        return len(moves), len(left)

    def _counted(self, name: str, progress: Progress) -> Progress:
        def count(done: int, total: int, what: str) -> None:
            self._progress[name] = (done, total)
            progress(done, total, what)

        return count


def _described(target: Repository, checkout: Checkout) -> Repository:
    return replace(
        target,
        url=target.url if target.is_cloned else checkout.url or target.location,
        branch=target.branch if target.is_cloned else checkout.branch,
        head=checkout.head,
    )


def _is_same_place(before: Repository, address: Address) -> bool:
    if address.folder is not None:
        return not before.is_cloned and before.location == str(address.folder)
    return before.is_cloned and before.url == address.url


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _busy() -> Conflict:
    return Conflict(
        "another indexing is running on this data folder",
        hint="wait until it is done: get_index_status, or trivium repos",
        code="INDEXING_IN_PROGRESS",
    )
