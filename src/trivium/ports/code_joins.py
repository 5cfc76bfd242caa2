"""What is kept of repositories that use one another, beside their own graphs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from trivium.model.code import Edge


@dataclass(frozen=True, slots=True)
class JoinState:
    """`digest` stands for the files `published` was read from, `state` for everything the edges were made from."""

    digest: str = ""
    published: tuple[tuple[str, str, bool], ...] = ()
    state: str = ""


class JoinStore(Protocol):
    def states(self) -> dict[str, JoinState]:
        """By repository; one that was never joined is not there."""

    def imported(self) -> dict[str, frozenset[str]]:
        """The packages every repository imports."""

    def note(self, repository: str, state: JoinState) -> None:
        """Writes down what a repository publishes; its edges stay."""

    def put(self, repository: str, state: JoinState, edges: Iterable[Edge]) -> None:
        """Puts the edges between a repository and those it uses in place of the ones before, all or nothing."""
