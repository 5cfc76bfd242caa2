"""Composition of what a graph server adds: copies of our graphs there, and reading from them. The only file beside
app.py that names its backend."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

from trivium.backends.neo4j.code_walks import Neo4jCodeWalks
from trivium.backends.neo4j.concepts import NAME, Neo4jConceptGraph, Neo4jConceptProjection
from trivium.backends.neo4j.connection import Neo4jConnection
from trivium.backends.neo4j.mirror import Neo4jMirror
from trivium.backends.neo4j.schema import VERSION, Neo4jSchema
from trivium.backends.sqlite.graph_sources import SqliteCodeSource, SqliteVendorSource
from trivium.code.followed import FollowedCodeGraph
from trivium.concepts.followed import FollowedConceptGraph
from trivium.concepts.room import Concepts
from trivium.graph.mirror import MirrorGraphs, MirrorUpkeep
from trivium.ports.code_graph import CodeGraphReader
from trivium.ports.concept_graph import ConceptGraph
from trivium.ports.concept_ledger import ProjectionLedger
from trivium.ports.events import EventLog
from trivium.ports.sql import SqlDatabase

RETRY_S = 15.0


@dataclass(frozen=True, slots=True)
class GraphPart:
    """How one of the graphs fares. `pending` counts events of the log, for concepts only."""

    name: str
    is_current: bool
    pending: int = 0
    failed: int = 0
    error: str | None = None


class GraphServer:
    """Nothing is asked of the server before something is read or written."""

    def __init__(
        self, url: str, installation: str, database: SqlDatabase, alone: Callable[[], AbstractContextManager[bool]]
    ) -> None:
        self._connection = Neo4jConnection(url)
        self._schema = Neo4jSchema(self._connection, installation)
        self._database, self._alone = database, alone
        self.projection = Neo4jConceptProjection(self._connection, self._schema)
        self._concept_graph: FollowedConceptGraph | None = None
        self._upkeep: MirrorUpkeep | None = None
        self._retried = 0.0

    @cached_property
    def mirrors(self) -> MirrorGraphs:
        sources = (SqliteCodeSource(self._database), SqliteVendorSource(self._database))
        return MirrorGraphs(Neo4jMirror(self._connection, self._schema), sources, self._alone)

    @property
    def trouble(self) -> str | None:
        return self._connection.trouble

    def concept_reader(self, store: ConceptGraph, log: EventLog, ledger: ProjectionLedger) -> ConceptGraph:
        server = Neo4jConceptGraph(self._connection)
        self._concept_graph = FollowedConceptGraph(store, server, NAME, log, ledger, self.projection.is_there)
        return self._concept_graph

    def code_reader(self, store: CodeGraphReader) -> CodeGraphReader:
        walks = Neo4jCodeWalks(self._connection)
        return FollowedCodeGraph(store, walks, lambda: self.mirrors.is_current("code"))

    def migrate(self) -> None:
        self._schema.migrate()

    def clear(self) -> None:
        self._schema.clear()

    def counts(self) -> dict[str, int]:
        return self._schema.counts()

    def parts(self, concepts: Concepts) -> list[GraphPart]:
        """Asks the server; GraphUnavailable where it does not answer."""
        pending = concepts.runner.behind()[NAME]
        failed = len(concepts.ledger.parked(NAME))
        error = concepts.ledger.progress(NAME).error
        is_there = self.projection.is_there() or concepts.log.head() == 0
        own = GraphPart("concepts", is_there and not (pending or failed), pending, failed, error)
        return [own, *(GraphPart(name, self.mirrors.is_current(name)) for name in self.mirrors.names)]

    @property
    def schema_version(self) -> int:
        return VERSION

    def catch_up(self, concepts: Concepts) -> int:
        """Brings all three to the present; answers how many events, nodes and links that took."""
        self.migrate()
        self._tend(concepts)
        return concepts.runner.run_once() + self.mirrors.catch_up()

    def start(self, concepts: Concepts) -> None:
        self._upkeep = MirrorUpkeep(self.mirrors, lambda: self._tend(concepts))
        self._upkeep.start()

    def close(self) -> None:
        if self._upkeep is not None:
            self._upkeep.stop()
        self._connection.close()

    def _tend(self, concepts: Concepts) -> None:
        """Concepts after an outage: at once, instead of when the next attempt would be due."""
        if self._concept_graph is not None and self._concept_graph.restart_if_lost():
            concepts.upkeep.wake()
        elif concepts.ledger.progress(NAME).failures and time.monotonic() > self._retried + RETRY_S:
            self._retried = time.monotonic()
            concepts.runner.retry(NAME)
