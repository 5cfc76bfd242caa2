"""Composition: settings in, ready use cases out. The only file that names backends."""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.backends.bits import BitsVectorIndex
from trivium.backends.files import ProcessLock
from trivium.backends.quicktok import QuicktokCounter
from trivium.backends.sqlite.changes import SqliteChangeLog
from trivium.backends.sqlite.chunks import SqliteChunkStore
from trivium.backends.sqlite.concepts import open_concepts
from trivium.backends.sqlite.documents import SqliteDocumentStore
from trivium.backends.sqlite.embeddings import SqliteModelRegister
from trivium.backends.sqlite.keys import SqliteKeyStore
from trivium.backends.sqlite.moving import Side, Told, move
from trivium.backends.sqlite.overview import SqliteOverview
from trivium.backends.sqlite.portable import export_lines, import_lines
from trivium.backends.sqlite.vendor_facts import SqliteVendorFacts
from trivium.backends.sqlite.vendor_graph import SqliteVendorGraph
from trivium.backends.tantivy import TantivyKeywordIndex
from trivium.concepts.find import NearestByVectors
from trivium.concepts.room import Concepts
from trivium.documents.background import Background
from trivium.documents.embed import EmbedChunks
from trivium.documents.extract.ruled import RuledExtractor
from trivium.documents.extract.run import ExtractChunks
from trivium.documents.ingest import IngestDocuments
from trivium.documents.vendors import Vendors
from trivium.errors import BackendUnavailable, ModelMismatch
from trivium.model.embedding import EmbeddingModel
from trivium.model.progress import Progress, silent
from trivium.ports.embedder import Embedder
from trivium.ports.extractor import Extractor
from trivium.ports.reranker import Reranker
from trivium.ports.vectors import VectorIndex
from trivium.search.boosts import BoostSettings
from trivium.search.checkup import IndexState, check_keywords, check_vectors
from trivium.search.evaluate import OpenedIndex, Record
from trivium.search.follow import Follower, FollowingKeywords, FollowingVectors, PatientFollower
from trivium.search.hybrid import HybridSearch
from trivium.settings import Settings
from trivium.stores import open_jobs, open_pg_keywords, open_pgvector, open_store

if TYPE_CHECKING:
    from trivium.backends.sqlite.code_repositories import SqliteFacts
    from trivium.code.repositories.room import Code
    from trivium.graph_server import GraphServer

logger = logging.getLogger(__name__)

WORK_POLL_S = 2.0
FEW_CHUNKS = 64  # embedded at once where an answer needs them

OpenEmbedder = Callable[[str], Embedder]  # by model name; cheap, nothing is loaded before the first text


@dataclass(frozen=True, slots=True)
class _ModelParts:
    """Everything that depends on the embedding model the index serves with."""

    embedder: Embedder
    vectors: VectorIndex
    follower: Follower
    embedding: EmbedChunks
    search: HybridSearch
    nearest: NearestByVectors


class App:
    """Ready use cases over one data folder. Thread-safe. A reindex to another model, here or in another process, takes
    effect with the next call."""

    def __init__(self, settings: Settings, open_embedder: OpenEmbedder) -> None:
        self.settings = settings
        self.data: Path = settings.data
        self.opened = open_store(settings)
        self.database = self.opened.database
        self._open_embedder = open_embedder
        self._parts: _ModelParts | None = None
        self._background: Background | None = None
        self._facts: SqliteFacts | None = None
        self._opening = threading.Lock()
        self.store = SqliteDocumentStore(self.database)
        self.log = SqliteChangeLog(self.database)
        self.vendor_facts = SqliteVendorFacts(self.database)
        self._jobs = open_jobs(self.opened)
        self.queue = self._jobs.embedding
        self._index_lock = ProcessLock(self.data / "locks" / "index")  # of the indexes that lie in the data folder
        shared = open_pg_keywords(self.opened)
        self._keywords = shared or TantivyKeywordIndex(self.data / self._node_folder("keywords"))
        alone = self.opened.lock("keywords").hold if shared else self._index_lock.hold
        self.models = SqliteModelRegister(self.database)
        self.chunks = SqliteChunkStore(self.database, **self.opened.filters)
        self.overview = SqliteOverview(self.database)
        self.tokens = QuicktokCounter(settings.token_encoding)
        self.follower = Follower(self.log, FollowingKeywords(self.log, self._keywords), alone)
        self.documents = IngestDocuments(
            self.store,
            self.follower,
            self.tokens,
            chunk_tokens=settings.chunk_tokens,
            max_file_bytes=int(settings.max_file_mb * 1e6),
        )
        graph = SqliteVendorGraph(self.database)
        self.vendors = Vendors(graph, graph, self.vendor_facts, self.chunks, self.store)
        self.extraction = ExtractChunks(self._jobs.extraction, open_extractor(settings), self._jobs.alone("extraction"))

    @cached_property
    def concepts(self) -> Concepts:
        return open_concepts(
            self.database,
            self.store,
            self.tokens,
            lambda text, limit, within: self._current().nearest(text, limit, within),
            lambda: self.embedder.model,
            index_positions=self._index_positions,
            **self._concepts_elsewhere(),
        )

    @cached_property
    def graph_server(self) -> "GraphServer | None":
        if not self.settings.graph:
            return None
        from trivium.graph_server import GraphServer

        return GraphServer(
            self.settings.graph, self.installation, self.database, self.opened.lock("graph-server").try_hold
        )

    def _concepts_elsewhere(self) -> dict[str, Any]:
        server = self.graph_server
        if server is None:
            return {}
        alone = self.opened.lock("projections").try_hold
        return {"remote": [server.projection], "alone": alone, "reader": server.concept_reader}

    @cached_property
    def code(self) -> "Code":
        # Imported here: the analysis is large, and most processes never ask for it.
        from trivium.backends.git import SubprocessGit, known_credentials
        from trivium.backends.sqlite.code_graph import SqliteCodeGraph
        from trivium.backends.sqlite.code_joins import SqliteJoins
        from trivium.backends.sqlite.code_patches import SqliteGraphPatches
        from trivium.backends.sqlite.code_repositories import SqliteFacts, SqliteRepositories
        from trivium.backends.sqlite.code_scip import SqliteScip
        from trivium.backends.sqlite.database import Database
        from trivium.code.joined.keep import JoinRepositories
        from trivium.code.repositories.index import IndexRepositories, Outside
        from trivium.code.repositories.room import Code
        from trivium.code.scip.indexes import ScipIndexes

        self._facts = SqliteFacts(Database(self.data / "code-facts.db", durable=False))
        store = SqliteRepositories(self.database)
        outside = Outside(
            documents=self.store,
            tokens=self.tokens,
            git=SubprocessGit(known_credentials(self.settings.git_credentials.get_secret_value())),
            clones=self.data / "repositories",
            atomically=self.database.transaction,
            try_lock=self.opened.lock("code").try_hold,
            catch_up=self.follower.catch_up,
            scip=ScipIndexes(SqliteScip(self.database)),
            join=JoinRepositories(store, self._facts, SqliteJoins(self.database)).refresh,
            chunk_tokens=self.settings.chunk_tokens,
        )
        graph = SqliteCodeGraph(self.database)
        patches = SqliteGraphPatches(self.database)
        reader = self.graph_server.code_reader(graph) if self.graph_server else graph
        return Code(reader, store, IndexRepositories(store, self._facts, patches, outside))

    @property
    def search(self) -> HybridSearch:
        return self._current().search

    @property
    def embedding(self) -> EmbedChunks:
        return self._current().embedding

    @property
    def embedder(self) -> Embedder:
        return self._current().embedder

    def reindex(self, model: str | None = None, progress: Progress = silent) -> None:
        """Writes both indexes anew from the store; with `model`, moves over to it while the old one serves."""
        active = self.models.active()
        if model is not None and (active is None or model != active[0]):
            parts = self._assemble(self._open_embedder(model))
            self.queue.enqueue_all(parts.embedder.model)
            parts.embedding.run(progress)
            self.models.activate(parts.embedder.model)
            self.models.forget_others()
            return
        self.follower.rebuild()
        self.queue.enqueue_all(self.embedder.model)
        self._current().follower.rebuild()
        self.embedding.run(progress)

    def catch_up(self) -> None:
        """Applies to the indexes whatever the store has that they lack."""
        self.follower.catch_up()
        self._current().follower.catch_up()

    def export_lines(self, *, vectors: bool = True) -> Iterator[str]:
        return export_lines(self.database, self.opened.tables, vectors=vectors)

    def import_lines(self, lines: Iterable[str]) -> dict[str, int]:
        self.concepts, self.code  # noqa: B018 -- every part must have its tables before rows come for them
        counts = import_lines(self.database, self.opened.tables, lines)
        self.vendor_facts.recount()
        self.catch_up()
        return counts

    def move_to(self, target: "App", told: Told) -> dict[str, int]:
        """Copies everything into another store, which must be empty or hold a part of this very move; answers the rows
        of each table."""
        for app in (self, target):
            app.concepts, app.code, SqliteKeyStore(app.database)
        source, there = (Side(app.database, app.opened.tables) for app in (self, target))
        counts = move(source, there, self.installation, told)
        target.catch_up()
        return counts

    def work(self, stop: threading.Event, *, once: bool = False) -> int:
        """Embeds and reads what waits until `stop` is set, or with `once` until nothing waits; answers how much."""
        done = 0
        while not stop.is_set():
            try:
                done += self.embedding.run(stop=stop) + self.extraction.run(stop=stop)
                self.catch_up()
            except BackendUnavailable as error:
                if once:
                    raise
                logger.warning("work waits: %s", error.message)
            if once:
                break
            stop.wait(WORK_POLL_S)
        return done

    def versions(self) -> dict[str, int]:
        """Brings every part's tables to what this version knows; answers how far each is."""
        self.concepts, self.code, self._current()
        with self.database.read() as db:
            return dict(db.execute("SELECT part, version FROM migrations ORDER BY part").fetchall())

    def check(self) -> list[IndexState]:
        """Brings the indexes up to date, then compares them with the store, id by id."""
        self.catch_up()
        parts = self._current()
        return [check_keywords(self.log, self._keywords), check_vectors(self.log, parts.vectors, parts.embedder.model)]

    def start_background(self) -> None:
        """From now on, and until `close`, embeds and reads whatever waits for it, whichever process added it."""
        jobs = [lambda stop: self.embedding.run(stop=stop), lambda stop: self.extraction.run(stop=stop)]
        self._background = Background(self.chunks.generation, jobs)
        self._background.start()
        self.concepts.upkeep.start()
        if self.graph_server is not None:
            self.graph_server.start(self.concepts)

    def _index_positions(self) -> dict[str, int]:
        self.catch_up()
        return {"keywords": self.follower.reached, "vectors": self._current().follower.reached}

    def close(self) -> None:
        if self._background is not None:
            self._background.stop()
            self.concepts.upkeep.stop()
        if self.graph_server is not None:
            self.graph_server.close()
        if self._facts is not None:
            self._facts.close()
        self._jobs.close()
        self.database.close()

    def _current(self) -> _ModelParts:
        with self._opening:
            active = self.models.active()
            if self._parts is None or active != _identity(self._parts.embedder):
                self._parts = self._assemble(self._chosen_embedder(active))
            return self._parts

    def _chosen_embedder(self, active: tuple[str, int] | None) -> Embedder:
        """The model the index was built with, unless the settings name another: then that is an error, not a guess."""
        named = self.settings.model
        explicit = {row.name: row.origin for row in self.settings.origins()}["model"] != "default"
        embedder = self._open_embedder(active[0] if active and not explicit else named)
        if active is None:
            self.models.activate(embedder.model)
            self.queue.enqueue_all(embedder.model)
        elif active != _identity(embedder):
            raise ModelMismatch(
                f"the index was built with {active[0]} ({active[1]} dimensions), but the settings name"
                f" {embedder.model.name} ({embedder.model.dimension} dimensions)",
                hint=f"move the index over: trivium reindex --model {embedder.model.name}; or unset TRIVIUM_MODEL",
            )
        return embedder

    def _open_vectors(self, model: EmbeddingModel) -> tuple[VectorIndex, Follower]:
        name = f"{re.sub(r'[^A-Za-z0-9.-]+', '_', model.name)}-{model.dimension}"
        if not self.settings.vectors:
            shared = open_pgvector(self.opened, name, model.dimension)
            if shared is not None:
                following = FollowingVectors(self.log, shared, model)
                return shared, Follower(self.log, following, self.opened.lock("vectors").hold)
            vectors = BitsVectorIndex(self.data / self._node_folder("vectors") / name, model.dimension)
            return vectors, Follower(self.log, FollowingVectors(self.log, vectors, model), self._index_lock.hold)
        from trivium.backends.chroma import ChromaVectorIndex

        # Several installations may share one server.
        remote = ChromaVectorIndex(self.settings.vectors, f"trivium-{self.installation}-{name}", model.dimension)
        following = FollowingVectors(self.log, remote, model)
        return remote, PatientFollower(self.log, following, self.opened.lock("vectors").hold)

    def _node_folder(self, name: str) -> str:
        """Where an index lies that every node keeps for itself. On a database server the folder bears its name: another
        database's positions would mean other chunks."""
        return f"{name}-{self.installation}" if self.opened.postgres else name

    @cached_property
    def installation(self) -> str:
        """A name that no other store has."""
        return SqliteKeyStore(self.database).secret("installation").hex()[:12]

    def _assemble(self, embedder: Embedder) -> _ModelParts:
        vectors, follower = self._open_vectors(embedder.model)
        embedding = EmbedChunks(self.queue, embedder, follower, self._jobs.alone("embedding"))

        def refresh() -> None:
            self.follower.catch_up()
            follower.require()

        search = HybridSearch(
            vectors,
            self._keywords,
            self.chunks,
            embedder,
            refresh,
            fusion=self.settings.fusion,
            boosts=BoostSettings(**self.settings.boosts, recency_half_life_days=self.settings.recency_half_life_days),
            reranker=open_reranker(self.settings),
        )

        def fresh_vectors() -> None:
            """What was written a moment ago is found by its meaning, too, unless it is a whole corpus."""
            if 0 < embedding.pending() <= FEW_CHUNKS:
                embedding.run()
            follower.catch_up()

        nearest = NearestByVectors(embedder, vectors, fresh_vectors)
        return _ModelParts(embedder, vectors, follower, embedding, search, nearest)


def open_app(settings: Settings, open_embedder: OpenEmbedder | None = None) -> App:
    """Opens the data folder, making it where it is not there yet. `open_embedder` replaces the settings' choice."""
    return App(settings, open_embedder or embedder_opener(settings))


@contextmanager
def evaluation_index(
    settings: Settings, records: Sequence[Record], progress: Progress = silent
) -> Iterator[OpenedIndex]:
    """The records of a labelled set, taken in as any document is, in the data folder that `settings` name."""
    app = open_app(settings)
    try:
        app.documents.add_texts(
            "evaluation", ((record.record_id, record.title, record.full_text) for record in records)
        )
        app.embedding.run(progress)
        chunks = app.chunks.get(app.log.chunk_ids().tolist())
        yield OpenedIndex(app.search.search, {chunk.chunk_id: chunk.source_file for chunk in chunks})
    finally:
        app.close()


def embedder_opener(settings: Settings) -> OpenEmbedder:
    def open_named(name: str) -> Embedder:
        if name == "hashing-64":
            from trivium.backends.memory.embedder import HashingEmbedder

            return HashingEmbedder()
        if settings.embedder_url:
            from trivium.backends.http import HttpEmbedder

            key = settings.embedder_key.get_secret_value()
            return HttpEmbedder(settings.embedder_url, name, key, dimension=settings.embedder_dimension or None)
        from trivium.backends.onnx import open_model

        return open_model(
            name,
            cache_dir=settings.model_cache,
            folder=settings.model_path,
            offline=settings.offline,
            threads=settings.threads,
        )

    return open_named


def open_extractor(settings: Settings) -> Extractor:
    """The model the settings name, with rules and gazetteer around it. Nothing is loaded before the first text."""
    match settings.extractor:
        case "rules":
            return RuledExtractor()
        case "spacy":
            from trivium.backends.spacy import SpacyExtractor

            return RuledExtractor(SpacyExtractor(settings.extractor_model))
        case "gliner":
            from trivium.backends.gliner import GlinerExtractor

            return RuledExtractor(GlinerExtractor(settings.extractor_model))
        case _:
            from trivium.backends.onnx_extract import OnnxExtractor

            return RuledExtractor(OnnxExtractor(threads=settings.threads))


def open_reranker(settings: Settings) -> Reranker | None:
    if not settings.reranker:
        return None
    from trivium.backends.onnx import open_reranker as open_onnx

    return open_onnx(settings.reranker, cache_dir=settings.model_cache, offline=settings.offline)


def _identity(embedder: Embedder) -> tuple[str, int]:
    return embedder.model.name, embedder.model.dimension
