"""Files into chunks: what is new, changed, moved or gone since the last time, one transaction a batch.

Text and keywords are committed here and are searchable at once; vectors follow (documents/embed.py).
"""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from trivium.documents.read import read_document
from trivium.documents.split import split
from trivium.documents.walk import FoundFile, Skipped, walk
from trivium.errors import NotFound, UnreadableFile
from trivium.model.chunk import ParsedDocument
from trivium.model.progress import Progress, silent
from trivium.ports.documents import DocumentDraft, DocumentStore, StoredFile
from trivium.ports.tokens import TokenCounter
from trivium.search.follow import Follower

RECIPE = 1  # raise it when reading or splitting changes what a file becomes: the next `add` then re-reads everything
BATCH_CHARS = 2_000_000
BATCH_TEXTS = 1_000
INDEX_EVERY_S = 2.0


@dataclass(slots=True)
class IngestReport:
    """What a run did. `skipped` names every file that could not be taken and why."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    moved: int = 0
    removed: int = 0
    chunks_added: int = 0
    chunks_kept: int = 0
    chunks_removed: int = 0
    empty: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def files(self) -> int:
        return self.added + self.updated + self.unchanged + self.moved


class IngestDocuments:
    def __init__(
        self,
        store: DocumentStore,
        follower: Follower,
        tokens: TokenCounter,
        *,
        chunk_tokens: int = 500,
        max_file_bytes: int = 50_000_000,
    ) -> None:
        self._store, self._follower, self._tokens = store, follower, tokens
        self._chunk_tokens, self._max_file_bytes = chunk_tokens, max_file_bytes

    def add(
        self,
        paths: Sequence[Path],
        *,
        exclude: Sequence[str] = (),
        category: str | None = None,
        progress: Progress = silent,
    ) -> IngestReport:
        """Takes files and folders in, as they are now. A folder that was added before loses what is gone from it."""
        report = IngestReport()
        found: list[FoundFile] = []
        for item in walk(paths, exclude=exclude):
            if isinstance(item, Skipped):
                report.skipped.append(item)
            else:
                found.append(item)
        run = _Run(self._store, report, [path.resolve() for path in paths], found)
        indexed = time.monotonic()
        for batch in self._drafts(run, category, progress):
            run.save(batch)
            if time.monotonic() - indexed > INDEX_EVERY_S:
                self._follower.catch_up()
                indexed = time.monotonic()
        run.remove_gone()
        self._follower.catch_up()
        return report

    def add_texts(self, root: str, texts: Iterable[tuple[str, str, str]]) -> None:
        """Takes in plain texts that are no files, as (name, title, text), under a root of their own."""
        known = {file.source_file: file.content_hash for file in self._store.files("documents", root)}
        batch: list[DocumentDraft] = []
        for name, title, text in texts:
            fingerprint = self._fingerprint(f"{title}\0{text}".encode("utf-8", "surrogatepass"))
            if known.get(name) == fingerprint:
                continue
            document = replace(read_document(Path("text.txt"), text.encode("utf-8", "replace")), title=title)
            pieces = split(document, self._tokens.count, self._chunk_tokens)
            batch.append(DocumentDraft("documents", root, name, None, title, None, fingerprint, pieces))
            if len(batch) == BATCH_TEXTS:
                self._store.save(batch)
                batch = []
        self._store.save(batch)
        self._follower.catch_up()

    def files(self) -> list[StoredFile]:
        return list(self._store.files("documents"))

    def remove(self, patterns: Sequence[str]) -> list[StoredFile]:
        """Removes documents by path as shown by search, by absolute path, or by folder (with all that lies in it)."""
        known = list(self._store.files("documents"))
        chosen: dict[int, StoredFile] = {}
        for pattern in patterns:
            hits = [file for file in known if _names(pattern, file)]
            if not hits:
                names = sorted({file.source_file for file in known})
                raise NotFound(
                    f"no document goes by {pattern!r}; nothing was removed",
                    nearest=get_close_matches(pattern, names, n=3, cutoff=0.4),
                    hint="trivium status --files lists what is there",
                )
            chosen.update((file.document_id, file) for file in hits)
        self._store.remove(list(chosen))
        self._follower.catch_up()
        return list(chosen.values())

    def _drafts(self, run: "_Run", category: str | None, progress: Progress) -> Iterator[list[DocumentDraft]]:
        batch: list[DocumentDraft] = []
        size = 0
        for number, file in enumerate(run.found):
            progress(number, len(run.found), file.source_file)
            draft = self._draft(run, file, category)
            if draft is None:
                continue
            batch.append(draft)
            size += sum(len(piece.text) for piece in draft.pieces) + 1
            if size > BATCH_CHARS:
                yield batch
                batch, size = [], 0
        progress(len(run.found), len(run.found), "")
        yield batch

    def _fingerprint(self, data: bytes) -> str:
        return f"{hashlib.blake2b(data, digest_size=16).hexdigest()}.{RECIPE}.{self._chunk_tokens}"

    def _draft(self, run: "_Run", file: FoundFile, category: str | None) -> DocumentDraft | None:
        try:
            data = _read_bytes(file.path, self._max_file_bytes)
            fingerprint = self._fingerprint(data)
            if run.is_known(file, fingerprint):
                return None
            document = read_document(file.path, data)
            pieces = split(document, self._tokens.count, self._chunk_tokens)
        except UnreadableFile as error:
            run.skip(file, error.message)
            return None
        if not pieces:
            run.report.empty.append(file.source_file)
        return DocumentDraft(
            source="documents",
            root=str(file.root),
            source_file=file.source_file,
            source_category=category or _category(document, file.source_file),
            title=document.title,
            date=document.date,
            content_hash=fingerprint,
            pieces=pieces,
            metadata=document.metadata,
        )


class _Run:
    """One `add`: compares what was found with what is stored."""

    def __init__(
        self, store: DocumentStore, report: IngestReport, targets: Sequence[Path], found: Sequence[FoundFile]
    ) -> None:
        self._store, self.report = store, report
        self._targets = targets
        stored = list(store.files("documents"))
        self.found = _under_known_roots(found, stored)
        self._by_place = {_absolute(file): file for file in stored}
        self._seen: set[Path] = set()
        self._gone = self._vanished()

    def is_known(self, file: FoundFile, fingerprint: str) -> bool:
        """True where the stored text already is what the file holds; a file that moved takes its document along."""
        self._seen.add(_place(file))
        stored = self._by_place.get(_place(file))
        if stored is not None and stored.content_hash == fingerprint:
            self.report.unchanged += 1
            if stored.root != str(file.root):  # added before through another folder: one document, one place
                self._store.move({stored.document_id: (str(file.root), file.source_file)})
            return True
        twin = next((gone for gone in self._gone if gone.content_hash == fingerprint), None)
        if stored is None and twin is not None:
            self._gone.remove(twin)
            self._store.move({twin.document_id: (str(file.root), file.source_file)})
            self.report.moved += 1
            return True
        return False

    def skip(self, file: FoundFile, reason: str) -> None:
        self.report.skipped.append(Skipped(file.path, reason))

    def save(self, drafts: Sequence[DocumentDraft]) -> None:
        if not drafts:
            return
        saved = self._store.save(drafts)
        known = sum((Path(draft.root) / draft.source_file) in self._by_place for draft in drafts)
        self.report.updated += known
        self.report.added += len(drafts) - known
        self.report.chunks_added += saved.chunks_added
        self.report.chunks_kept += saved.chunks_kept
        self.report.chunks_removed += saved.chunks_removed

    def remove_gone(self) -> None:
        if self._gone:
            self.report.chunks_removed += self._store.remove([file.document_id for file in self._gone])
            self.report.removed += len(self._gone)

    def _vanished(self) -> list[StoredFile]:
        """Stored files under the added folders that are there no more. A file that is there but could not be read now
        keeps what was read from it before."""
        present = {_place(file) for file in self.found} | {skipped.path.absolute() for skipped in self.report.skipped}
        folders = [path for path in self._targets if path.is_dir()]
        return [
            file
            for path, file in self._by_place.items()
            if path not in present and any(path.is_relative_to(folder) for folder in folders)
        ]


def _under_known_roots(found: Sequence[FoundFile], stored: Sequence[StoredFile]) -> list[FoundFile]:
    """A file inside a folder that was added before belongs to that folder: one document, one path."""
    roots = sorted({Path(file.root) for file in stored}, key=lambda root: len(root.parts))
    result = []
    for file in found:
        place = _place(file)
        root = next(
            (root for root in roots if place.is_relative_to(root) and file.root.is_relative_to(root)), file.root
        )
        result.append(FoundFile(file.path, place.relative_to(root).as_posix(), root))
    return result


def _place(file: FoundFile) -> Path:
    return file.root / file.source_file


def _absolute(file: StoredFile) -> Path:
    return Path(file.root) / file.source_file


def _names(pattern: str, file: StoredFile) -> bool:
    asked = pattern.rstrip("/")
    absolute = str(Path(pattern).absolute())
    place = str(_absolute(file))
    return (
        file.source_file == asked
        or file.source_file.startswith(f"{asked}/")
        or place == absolute
        or place.startswith(f"{absolute}/")
    )


def _category(document: ParsedDocument, source_file: str) -> str | None:
    named = document.metadata.get("category")
    if isinstance(named, str) and named.strip():
        return named.strip()
    folder, slash, _ = source_file.partition("/")
    return folder if slash else None


def _read_bytes(path: Path, limit: int) -> bytes:
    try:
        size = path.stat().st_size
        if size > limit:
            raise UnreadableFile(
                f"{path.name}: {size / 1e6:.0f} MB is above the limit of {limit / 1e6:.0f} MB",
                hint="raise TRIVIUM_MAX_FILE_MB to take it",
            )
        return path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path.name}: {error.strerror or error}") from error
