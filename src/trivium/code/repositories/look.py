"""A look at a checkout: what is not as it was indexed. Files whose size and time are the same are not read."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from trivium.code.analyse import fingerprint, is_config
from trivium.code.repositories.walk import LeftOut, Seen, SourceFile, read_source, scan_sources
from trivium.ports.repositories import IndexedFile, Repository

_SECOND_NS = 1_000_000_000


@dataclass(slots=True)
class Look:
    """`changed` come with their new fingerprints; `others_differ`: files have come or gone, or how imports resolve."""

    root: Path
    before: Mapping[str, IndexedFile]
    changed: list[tuple[SourceFile, str]] = field(default_factory=list)
    others_differ: bool = False
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def is_as_before(self) -> bool:
        return not self.changed and not self.others_differ

    def is_small_change(self, worth_bytes: int, most_files: int) -> bool:
        if self.others_differ or not 0 < len(self.changed) <= most_files:
            return False
        total = sum(file.size for file in self.before.values() if file.language)
        return total >= worth_bytes and sum(len(source.data) for source, _ in self.changed) * 10 <= total


def look_at(root: Path, last: Repository, before: Mapping[str, IndexedFile], touched: Collection[str] | None) -> Look:
    """`touched`: where a watcher knows which files changed, nothing else is looked at."""
    look = Look(root, before)
    if not _is_same_reader(root, before):
        look.others_differ = True
        return look
    settled_ns = _settled_ns(last)
    known_only = touched is not None and all(path in before for path in touched)
    seen: set[str] = set()
    for found in _named(root, touched or ()) if known_only else scan_sources(root):
        if isinstance(found, LeftOut):
            look.left_out.append(found)
            continue
        seen.add(found.path)
        _compare(look, found, settled_ns)
    gone = (set(touched or ()) if known_only else before.keys()) - seen
    look.others_differ |= bool(gone & before.keys())
    return look


def _compare(look: Look, found: Seen, settled_ns: int) -> None:
    old = look.before.get(found.path)
    is_as_it_was = old is not None and (old.size, old.modified_ns) == (found.size, found.modified_ns)
    if is_as_it_was and found.modified_ns < settled_ns:
        return
    source = read_source(look.root, found)
    if isinstance(source, LeftOut):
        look.left_out.append(source)
        look.others_differ |= old is not None
        return
    key = fingerprint(source.path, source.data)
    if old is None or (old.fingerprint != key and is_config(source.path)):
        look.others_differ = True
    elif old.fingerprint != key:
        look.changed.append((source, key))


def _named(root: Path, paths: Iterable[str]) -> Iterator[Seen | LeftOut]:
    for path in sorted(paths):
        try:
            stat = (root / path).stat(follow_symlinks=False)
        except OSError:
            continue
        yield Seen(path, stat.st_size, stat.st_mtime_ns)


def _settled_ns(last: Repository) -> int:
    """Files that were changed before this are surely those that were read: times on disks are coarse."""
    try:
        ended = datetime.fromisoformat(last.last_indexed)
    except ValueError:
        return 0
    return int(ended.timestamp() * _SECOND_NS) - last.index_duration_ms * 1_000_000 - 2 * _SECOND_NS


def _is_same_reader(root: Path, before: Mapping[str, IndexedFile]) -> bool:
    """Fingerprints change with the way files are read: the smallest one that is as it was tells."""
    for file in sorted(before.values(), key=lambda f: (f.size, f.path))[:20]:
        try:
            stat = (root / file.path).stat()
            if (stat.st_size, stat.st_mtime_ns) == (file.size, file.modified_ns):
                return fingerprint(file.path, (root / file.path).read_bytes()) == file.fingerprint
        except OSError:
            continue
    return False
