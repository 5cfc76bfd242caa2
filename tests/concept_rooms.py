"""Opens the concepts room over a folder, with the deterministic embedder and the real indexes, and calls its tools."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trivium.backends.bits import BitsVectorIndex
from trivium.backends.files import ProcessLock
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.backends.quicktok import QuicktokCounter
from trivium.backends.sqlite.changes import SqliteChangeLog
from trivium.backends.sqlite.concepts import open_concepts
from trivium.backends.sqlite.database import Database
from trivium.backends.sqlite.documents import SqliteDocumentStore
from trivium.backends.sqlite.embeddings import SqliteEmbeddingQueue, SqliteModelRegister
from trivium.concepts.find import NearestByVectors
from trivium.concepts.room import Concepts
from trivium.documents.embed import EmbedChunks
from trivium.doors.mcp.concepts import tools
from trivium.doors.mcp.tools import Call, Failure, Reply
from trivium.errors import TriviumError
from trivium.model.concept import compact_json
from trivium.ports.concept_projection import ConceptProjection
from trivium.ports.embedder import Embedder
from trivium.search.follow import Follower, FollowingVectors

TOKENS = QuicktokCounter()


@dataclass(frozen=True)
class Room:
    concepts: Concepts
    database: Database
    embedder: Embedder
    catch_up: Callable[[], object]

    def close(self) -> None:
        self.concepts.upkeep.stop()
        self.database.close()


def open_room(
    folder: Path,
    remote: Sequence[ConceptProjection] = (),
    embedder: Embedder | None = None,
    *,
    durable: bool = False,
    **more: Any,
) -> Room:
    """Not `durable` by default: the tests kill processes, not machines."""
    embedder = embedder or HashingEmbedder()
    database = Database(folder / "trivium.db", durable=durable)
    store = SqliteDocumentStore(database)
    log, queue, models = SqliteChangeLog(database), SqliteEmbeddingQueue(database), SqliteModelRegister(database)
    if models.active() is None:
        models.activate(embedder.model)
    vectors = BitsVectorIndex(folder / "vectors", embedder.model.dimension)
    following = FollowingVectors(log, vectors, embedder.model)
    follower = Follower(log, following, ProcessLock(folder / "locks" / "index").hold)
    embedding = EmbedChunks(queue, embedder, follower, ProcessLock(folder / "locks" / "embedding").try_hold)
    concepts = open_concepts(
        database,
        store,
        TOKENS,
        NearestByVectors(embedder, vectors, embedding.run),
        lambda: embedder.model,
        remote=remote,
        index_positions=lambda: {"vectors": vectors.position},
        **more,
    )
    return Room(concepts, database, embedder, embedding.run)


class Toolbox:
    """Calls the concept tools as the gate does: arguments parsed, errors in the toolset's shape."""

    def __init__(self, concepts: Concepts) -> None:
        self.tools = {one.name: one for one in tools(frozenset({"concepts"}))}
        app: Any = SimpleNamespace(concepts=concepts)
        nothing: Any = None
        self._call = Call(app, nothing, nothing, nothing, "request", 0.0, nothing)

    def reply(self, name: str, /, **arguments: Any) -> Reply:
        tool = self.tools[name]
        try:
            return tool.run(self._call, tool.parse(arguments))
        except TriviumError as error:
            return Reply(tool.errors(Failure(name, error, "request", 0.0)), is_error=True)

    def __call__(self, name: str, /, **arguments: Any) -> Any:
        """The body of a call that must succeed."""
        reply = self.reply(name, **arguments)
        assert not reply.is_error, reply.body
        assert reply.body["success"] is True
        assert reply.body["message"]
        return reply.body

    def error(self, name: str, /, **arguments: Any) -> Any:
        """The error of a call that must fail."""
        reply = self.reply(name, **arguments)
        assert reply.is_error
        assert reply.body["success"] is False
        assert list(reply.body["error"]) == ["type", "message", "field", "details"]
        return reply.body["error"]

    def tokens(self, name: str, /, **arguments: Any) -> int:
        """What the answer costs a model to read."""
        reply = self.reply(name, **arguments)
        return TOKENS.count([reply.text or compact_json(reply.body)])[0]


# For the seed tests: a room whose clock moves a second with every look, and short ways to call its tools.


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture(name="clock")
def seed_clock() -> Clock:
    return Clock()


@pytest.fixture(name="room")
def seed_room(tmp_path: Path, clock: Clock) -> Iterator[Room]:
    opened = open_room(tmp_path, clock=clock)
    yield opened
    opened.close()


@pytest.fixture(name="call")
def seed_call(room: Room) -> Toolbox:
    return Toolbox(room.concepts)


def create(call: Toolbox, name: str, explanation: str = "", **more: Any) -> str:
    return str(call("create_concept", name=name, explanation=explanation or f"about {name}", **more)["concept_id"])


def relate(call: Toolbox, source: str, target: str, kind: str = "prerequisite", **more: Any) -> str:
    body = call(
        "create_relationship", source_concept_id=source, target_concept_id=target, relationship_type=kind, **more
    )
    return str(body["relationship_id"])


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for row in rows]
