"""Documents of SCIP indexes, kept for as long as the files they speak of stay as they are."""

from collections.abc import Mapping
from typing import Protocol


class ScipStore(Protocol):
    def get(self, repository: str) -> dict[str, tuple[str, bytes]]:
        """By path: the blob hash of the file the document was made from, and the document as it came."""

    def put(self, repository: str, documents: Mapping[str, tuple[str, bytes]]) -> None:
        """Adds documents, or puts them in place of those of the same paths. They go with the repository."""
