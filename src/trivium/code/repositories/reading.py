"""One reading of a checkout: its files, what they say, and what changed since the reading before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium.code.analyse import fingerprint, is_config, unpack
from trivium.code.chunks import split_code
from trivium.code.lowering import ops
from trivium.code.parallel import read_all
from trivium.code.repositories.quick import Changed
from trivium.code.repositories.walk import LeftOut, SourceFile, read_sources
from trivium.errors import InvalidInput
from trivium.model.chunk import Piece
from trivium.model.progress import Progress
from trivium.ports.documents import DocumentDraft
from trivium.ports.repositories import FactsCache, IndexedFile
from trivium.ports.tokens import TokenCounter

RECIPE = 1  # raise it when chunks of the same file become others


@dataclass(slots=True)
class Reading:
    """Everything of one checkout that the graph and the chunks are made from."""

    sources: list[SourceFile] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    facts: list[ops.FileFacts] = field(default_factory=list)
    fingerprints: dict[str, str] = field(default_factory=dict)

    @property
    def configs(self) -> dict[str, bytes]:
        return {source.path: source.data for source in self.sources if is_config(source.path)}

    @property
    def code(self) -> list[SourceFile]:
        return [source for source in self.sources if source.language]

    @property
    def function_count(self) -> int:
        return sum(d.kind in ("function", "method") for unit in self.facts for d in unit.definitions)


def read_checkout(root: Path, cache: FactsCache, before: Mapping[str, IndexedFile], progress: Progress) -> Reading:
    """Reads every file; facts come from the cache where the bytes are known."""
    reading = Reading()
    for found in read_sources(root):
        if isinstance(found, LeftOut):
            reading.left_out.append(found)
        else:
            reading.sources.append(found)
    reading.fingerprints = {source.path: fingerprint(source.path, source.data) for source in reading.sources}
    packed = cache.get(set(reading.fingerprints.values()))
    code = reading.code
    unread = {source.path: source.data for source in code if reading.fingerprints[source.path] not in packed}
    known = len(code) - len(unread)
    read = read_all(unread, lambda done, path: progress(known + done, len(code), path))
    for source in code:
        if source.path in read:
            reading.facts.append(read[source.path].facts)
        elif reading.fingerprints[source.path] in packed:
            reading.facts.append(unpack(packed[reading.fingerprints[source.path]]))
    gone = {file.fingerprint for file in before.values()} - set(reading.fingerprints.values())
    told = {reading.fingerprints[path]: data for path, data in reading.configs.items()}  # repositories are joined by it
    cache.put({reading.fingerprints[path]: one.packed for path, one in read.items()} | told, gone)
    return reading


def check_reading(reading: Reading, root: Path) -> None:
    """A graph without functions would answer "0 impacted" to everything: that is an error, not a result."""
    if not root.is_dir():
        raise InvalidInput(
            f"the folder {root.name} went away while it was read", field="source", code="INDEXING_FAILED"
        )
    if not reading.code:
        raise InvalidInput(
            "no source files in a supported language were found",
            field="source",
            code="NOTHING_TO_INDEX",
            hint="supported: Python, TypeScript, JavaScript, Java, Go, Rust, C, C++, C#, Ruby, PHP",
        )
    if reading.function_count == 0:
        raise InvalidInput(
            f"{len(reading.code)} source files, but not one function was found in them; nothing was indexed",
            field="source",
            code="NO_FUNCTIONS",
        )


def describe_files(
    repository: str, reading: Reading, tokens: TokenCounter, limit: int, before: Mapping[str, IndexedFile], now: str
) -> tuple[list[IndexedFile], list[DocumentDraft]]:
    """How every file is to be remembered, and the chunks of those that are new or changed."""
    files: list[IndexedFile] = []
    drafts: list[DocumentDraft] = []
    facts = {unit.path: unit for unit in reading.facts}
    for source in reading.sources:
        key = reading.fingerprints[source.path]
        old = before.get(source.path)
        if old is not None and old.fingerprint == key:
            pieces = old.pieces
        elif source.path in facts:
            draft, pieces = _draft(repository, source, facts[source.path], tokens, limit, now)
            drafts.append(draft)
        else:
            pieces = ()
        files.append(_indexed(source, key, pieces))
    return files, drafts


def describe_changed(
    repository: str, changed: Sequence[Changed], tokens: TokenCounter, limit: int, now: str
) -> tuple[list[IndexedFile], list[DocumentDraft]]:
    """The same for files that were there before and say something else now."""
    files: list[IndexedFile] = []
    drafts: list[DocumentDraft] = []
    for one in changed:
        draft, pieces = _draft(repository, one.source, one.facts, tokens, limit, now)
        drafts.append(draft)
        files.append(_indexed(one.source, one.fingerprint, pieces))
    return files, drafts


def _indexed(source: SourceFile, key: str, pieces: tuple[tuple[int, int, str], ...]) -> IndexedFile:
    return IndexedFile(
        source.path, source.blob_hash, key, len(source.data), source.modified_ns, source.language, pieces
    )


def _draft(
    repository: str, source: SourceFile, facts: ops.FileFacts, tokens: TokenCounter, limit: int, now: str
) -> tuple[DocumentDraft, tuple[tuple[int, int, str], ...]]:
    """Generated and minified code is in the graph, but nobody wants to find it by search."""
    is_written = not source.is_generated and not any(reason == "minified" for reason, _, _ in facts.notes)
    found = split_code(repository, facts, source.data, tokens.count, limit) if is_written else []
    prefix = f"symbol:{repository}:"
    draft = DocumentDraft(
        source="code",
        root=repository,
        source_file=source.path,
        source_category="code",
        title=source.path.rpartition("/")[2],
        date=None,
        content_hash=f"{source.blob_hash}.{RECIPE}.{limit}",
        pieces=[Piece(p.text, p.start, p.end, p.context_header, p.token_count) for p in found],
        metadata={
            "repository": repository,
            "language": source.language,
            "file_size_bytes": len(source.data),
            "indexed_at": now,
        },
    )
    return draft, tuple((p.line, p.end_line, p.symbol_id.removeprefix(prefix)) for p in found)


def is_same(files: Sequence[IndexedFile], before: Mapping[str, IndexedFile]) -> bool:
    """Whether nothing that the graph depends on has changed."""
    return {f.path: f.fingerprint for f in files} == {f.path: f.fingerprint for f in before.values()}
