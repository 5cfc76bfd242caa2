"""The stored graph of all repositories, as the questions about it need it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from trivium.model.code import BlindSpots, Edge, Relationship, Symbol


class Step(NamedTuple):
    """A symbol that was reached, by which edge, how far from the start."""

    symbol: Symbol
    edge: Edge
    depth: int


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything that is reached from a symbol, counted; `steps(first, end)` gives a part of it, by depth, then id."""

    counts: tuple[int, ...]  # at depth 1, 2, …
    sure: int  # reached by something better than a shared name
    steps: Callable[[int, int], list[Step]]


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

    def repositories(self) -> dict[str, BlindSpots]:
        """Every indexed repository with the places its analysis could not see through."""


class CodeWalks(Protocol):
    """Walks over the stored graph, each over one state of it."""

    def reach(
        self,
        start: Symbol,
        depth: int,
        relationships: Sequence[Relationship],
        *,
        backwards: bool = False,
        repositories: Collection[str] | None = None,
    ) -> Reach:
        """Breadth first along the edges, or against them; every symbol once, at its least distance, by its surest edge.
        A symbol that was reached stands for all that is defined in it; of those to start from, a file or a class does.
        `repositories`: no further than these (model.code.PACKAGES: packages, which belong to none)."""

    def path(
        self,
        start: Symbol,
        goal: Symbol,
        hops: int,
        relationships: Sequence[Relationship],
        *,
        repositories: Collection[str] | None = None,
    ) -> list[Edge] | None:
        """A shortest chain of edges from (or from inside) the one to the other; None where none is that short.
        `repositories`: through these alone."""


class CodeGraphState(Protocol):
    def state(self) -> object:
        """Stands for the graph as it is now: the same object for as long as every answer would be the same."""


class CodeGraphReader(CodeGraphStore, CodeWalks, CodeGraphState, Protocol):
    """What questions about code need."""
