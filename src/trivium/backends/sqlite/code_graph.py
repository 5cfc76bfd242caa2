"""The code graph on SQLite. Questions are answered from an image of the tables, made anew when a graph was replaced."""

import threading
from collections.abc import Collection, Sequence

from trivium.backends.sqlite.code_image import load_blind_spots, load_image
from trivium.backends.sqlite.code_patches import patches_since, read_files, with_patches
from trivium.backends.sqlite.code_schema import SCHEMA
from trivium.graph.image import GraphImage
from trivium.graph.patch import patched
from trivium.model.code import BlindSpots, Edge, Relationship, Symbol
from trivium.ports.code_graph import Reach
from trivium.ports.sql import SqlDatabase


class SqliteCodeGraph:
    """Thread-safe. No answer is older than the last replacement, whichever process made it."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self._loading = threading.Lock()
        self._image = GraphImage((), (), {})
        self._revisions: tuple[tuple[str, int], ...] = ()
        self._spots: dict[str, BlindSpots] = {}
        self._patch = 0  # the newest that the image has
        database.migrate("code", SCHEMA)

    def outgoing(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        return self._current().outgoing(symbol_ids, relationships, inside)

    def incoming(
        self, symbol_ids: Collection[str], relationships: Sequence[Relationship], inside: bool = False
    ) -> list[Edge]:
        return self._current().incoming(symbol_ids, relationships, inside)

    def find(self, name: str, repository: str | None) -> list[Symbol]:
        return self._current().find(name, repository)

    def symbols(self, repository: str | None, symbol_ids: Collection[str] | None = None) -> list[Symbol]:
        return self._current().some_symbols(repository, symbol_ids)

    def repositories(self) -> dict[str, BlindSpots]:
        return dict(self._current().blind_spots)

    def state(self) -> object:
        return self._current()

    def reach(
        self,
        start: Symbol,
        depth: int,
        relationships: Sequence[Relationship],
        *,
        backwards: bool = False,
        repositories: Collection[str] | None = None,
    ) -> Reach:
        return self._current().reach(start, depth, relationships, backwards, repositories)

    def path(
        self,
        start: Symbol,
        goal: Symbol,
        hops: int,
        relationships: Sequence[Relationship],
        *,
        repositories: Collection[str] | None = None,
    ) -> list[Edge] | None:
        return self._current().path(start, goal, hops, relationships, repositories)

    def _current(self) -> GraphImage:
        with self._loading, self._database.snapshot() as db:
            rows = db.execute("SELECT repository, revision FROM code_graphs ORDER BY repository")
            revisions = tuple((name, revision) for name, revision in rows)
            if revisions != self._revisions:
                self._patch, _ = patches_since(db, 0)
                self._spots = load_blind_spots(db)
                self._image, self._revisions = load_image(db, with_patches(db, self._spots)), revisions
                return self._image
            newest, files = patches_since(db, self._patch)
            if files:
                spots = with_patches(db, self._spots)
                self._image, self._patch = patched(self._image, read_files(db, files), spots), newest
            return self._image
