"""Walks over code on a graph server, as long as its copy is the present one; otherwise over the store."""

import logging
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from trivium.errors import GraphUnavailable
from trivium.model.code import BlindSpots, Edge, Relationship, Symbol
from trivium.ports.code_graph import CodeGraphReader, CodeWalks, Reach

T = TypeVar("T")
logger = logging.getLogger(__name__)


class FollowedCodeGraph:
    """`is_current` says whether the copy on the server is what the store has. It is asked again after a walk: where the
    copy changed meanwhile, the walk is done over in the store."""

    def __init__(self, store: CodeGraphReader, server: CodeWalks, is_current: Callable[[], bool]) -> None:
        self._store, self._server, self._is_current = store, server, is_current

    def outgoing(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        return self._store.outgoing(symbol_ids, relationships, inside)

    def incoming(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        return self._store.incoming(symbol_ids, relationships, inside)

    def find(self, name: str, repository: str | None) -> list[Symbol]:
        return self._store.find(name, repository)

    def symbols(self, repository: str | None, symbol_ids: Collection[str] | None = None) -> list[Symbol]:
        return self._store.symbols(repository, symbol_ids)

    def repositories(self) -> dict[str, BlindSpots]:
        return self._store.repositories()

    def state(self) -> object:
        return self._store.state()

    def reach(
        self,
        start: Symbol,
        depth: int,
        relationships: Sequence[Relationship],
        *,
        backwards: bool = False,
        repositories: Collection[str] | None = None,
    ) -> Reach:
        return self._asked(
            lambda walks: walks.reach(start, depth, relationships, backwards=backwards, repositories=repositories)
        )

    def path(
        self,
        start: Symbol,
        goal: Symbol,
        hops: int,
        relationships: Sequence[Relationship],
        *,
        repositories: Collection[str] | None = None,
    ) -> list[Edge] | None:
        return self._asked(lambda walks: walks.path(start, goal, hops, relationships, repositories=repositories))

    def _asked(self, walk: Callable[[CodeWalks], T]) -> T:
        try:
            if self._is_current():
                found = walk(self._server)
                if self._is_current():
                    return found
        except GraphUnavailable as error:
            logger.warning("%s; read from the store", error.message)
        return walk(self._store)
