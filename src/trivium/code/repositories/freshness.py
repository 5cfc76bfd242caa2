"""Whether a file is still what was indexed."""

from collections.abc import Collection
from pathlib import Path

from trivium.code.repositories.walk import blob_hash
from trivium.ports.repositories import IndexedFile, RepositoryStore

MOST_FILES = 200  # beyond that, looking at every file would cost more than the answer


def fresh_files(store: RepositoryStore, location: str, name: str, paths: Collection[str]) -> dict[str, bool]:
    """For each of the paths that is indexed: is it unchanged on disk? Nothing where there are too many to look."""
    if len(paths) > MOST_FILES:
        return {}
    return {path: _is_fresh(Path(location) / path, file) for path, file in store.files(name, paths).items()}


def _is_fresh(path: Path, file: IndexedFile) -> bool:
    try:
        stat = path.stat()
        if stat.st_size != file.size:
            return False
        return stat.st_mtime_ns == file.modified_ns or blob_hash(path.read_bytes()) == file.blob_hash
    except OSError:
        return False
