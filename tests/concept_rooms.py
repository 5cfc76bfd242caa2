"""Opens the concepts room over a folder, with the deterministic embedder and the real indexes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
