"""CodeGraphStore on SQLite. Questions are answered from an image of the tables, made anew when a graph was replaced."""

import threading
from collections.abc import Collection, Sequence

from trivium.backends.sqlite.code_image import CodeImage, load_image
from trivium.backends.sqlite.code_schema import SCHEMA
from trivium.backends.sqlite.database import Database
from trivium.model.code import BlindSpot, Edge, Relationship, Symbol


class SqliteCodeGraph:
    """Thread-safe. No answer is older than the last replacement, whichever process made it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loading = threading.Lock()
        self._image = CodeImage((), (), (), {})
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
        found = self._current().names.get(name, ())
        return [s for s in found if repository is None or s.repository == repository or s.kind == "package"]

    def symbols(self, repository: str | None, symbol_ids: Collection[str] | None = None) -> list[Symbol]:
        image = self._current()
        if symbol_ids is not None:
            return [image.symbols[key] for key in sorted(set(symbol_ids)) if key in image.symbols]
        if repository is not None:
            return list(image.of_repository.get(repository, ()))
        return [symbol for symbol in image.symbols.values() if symbol.kind != "package"]

    def repositories(self) -> dict[str, tuple[BlindSpot, ...]]:
        return dict(self._current().blind_spots)

    def _current(self) -> CodeImage:
        with self._loading, self._database.snapshot() as db:
            rows = db.execute("SELECT repository, revision FROM code_graphs ORDER BY repository")
            revisions = tuple((name, revision) for name, revision in rows)
            if revisions != self._image.revisions:
                self._image = load_image(db, revisions)
            return self._image
