"""Which chunks of the search indexes are concepts."""

from collections.abc import Sequence
from typing import Protocol

from trivium.model.embedding import Ids
from trivium.ports.concept_catalogue import Selection


class ConceptChunks(Protocol):
    def live(self) -> Ids:
        """Chunks of all concepts that are not deleted; sorted."""

    def matching(self, wanted: Selection, among: Ids | None = None) -> Ids:
        """Chunks of those that meet the selection (which has no name), of all concepts or of these chunks; sorted."""

    def concepts(self, chunk_ids: Sequence[int]) -> dict[int, str]:
        """Which concept a chunk is; chunks that are none, or no longer, are left out."""
