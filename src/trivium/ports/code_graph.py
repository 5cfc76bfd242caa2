"""The stored graph of all repositories, as the questions about it need it."""

from collections.abc import Collection, Sequence
from typing import Protocol

from trivium.model.code import BlindSpot, Edge, Relationship, Symbol


class CodeGraphStore(Protocol):
    """Reads only: what is shown is always one whole indexing of a repository, never half of one."""

    def outgoing(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        """Edges that leave any of these symbols, ordered by source, target, relationship. `inside`: or anything defined
        in them (model.code.is_inside)."""

    def incoming(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        """Edges that arrive at any of these symbols (or inside them), in the same order."""

    def find(self, name: str, repository: str | None) -> list[Symbol]:
        """Symbols whose path, name or qualified name is exactly this (a file, a function, `Class.method`), by id.
        Packages belong to no repository and are found whatever `repository` is."""

    def symbols(self, repository: str | None, symbol_ids: Collection[str] | None = None) -> list[Symbol]:
        """All symbols of a repository, packages it imports left out; or just these, unknown ones left out. By id."""

    def repositories(self) -> dict[str, tuple[BlindSpot, ...]]:
        """Every indexed repository with the places its analysis could not see through."""
