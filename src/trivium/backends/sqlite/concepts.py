"""The concepts room on SQLite: puts its tables, its projections and its use cases together."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from trivium.backends.sqlite.concept_catalogue import SqliteConceptCatalogue
from trivium.backends.sqlite.concept_chunks import SqliteConceptChunks
from trivium.backends.sqlite.concept_events import Clock, SqliteEventLog, SqliteRequestBook, utc_now
from trivium.backends.sqlite.concept_graph import SqliteConceptGraph
from trivium.backends.sqlite.concept_ledger import SqliteProjectionLedger
from trivium.backends.sqlite.concept_rows import SqliteConceptRows
from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.backends.sqlite.concept_text import ConceptText
from trivium.concepts.change import ChangeConcepts
from trivium.concepts.check import CheckConcepts
from trivium.concepts.find import FindConcepts, NearestByChunks, NearestChunks
from trivium.concepts.follow import Alone, ProjectionRunner, nobody_else
from trivium.concepts.read import ReadConcepts
from trivium.concepts.room import Concepts
from trivium.concepts.transfer import TransferConcepts
from trivium.concepts.upkeep import CHECK_EVERY_S, Upkeep, read_stats
from trivium.model.embedding import EmbeddingModel
from trivium.ports.concept_graph import ConceptGraph
from trivium.ports.concept_ledger import ProjectionLedger
from trivium.ports.concept_projection import ConceptProjection
from trivium.ports.documents import DocumentStore
from trivium.ports.events import EventLog
from trivium.ports.sql import SqlConnection, SqlDatabase
from trivium.ports.tokens import TokenCounter

Reader = Callable[[ConceptGraph, EventLog, ProjectionLedger], ConceptGraph]


def open_concepts(
    database: SqlDatabase,
    documents: DocumentStore,
    tokens: TokenCounter,
    nearest: NearestChunks,
    model: Callable[[], EmbeddingModel],
    *,
    remote: Sequence[ConceptProjection] = (),
    index_positions: Callable[[], Mapping[str, int]] = dict,
    alone: Alone = nobody_else,
    reader: Reader | None = None,
    timeout_s: float = 30.0,
    check_every_s: float = CHECK_EVERY_S,
    clock: Clock = utc_now,
) -> Concepts:
    """`documents` must live in the same database: a concept and its search text commit together. `nearest` and `model`
    are those of the vector index; `index_positions` the change-log positions of the "keywords" and "vectors" indexes;
    `alone` keeps two processes from bringing the same remote projection along at once; `reader` is given the graph of
    this database and may answer questions from elsewhere."""
    tables = ConceptTables(database)
    log, ledger = SqliteEventLog(tables, clock), SqliteProjectionLedger(tables)
    catalogue, graph = SqliteConceptCatalogue(tables), SqliteConceptGraph(tables)
    together = (SqliteConceptRows(tables), ConceptText(tables, documents, tokens))
    runner = ProjectionRunner(
        log, catalogue, graph, ledger, remote, timeout_s=timeout_s, alone=alone, clock=lambda: clock().timestamp()
    )
    check = CheckConcepts(log, catalogue, ledger, together, runner)
    upkeep = Upkeep(runner, check, check_every_s)
    wake = upkeep.wake if remote else _nothing
    change = ChangeConcepts(log, catalogue, graph, SqliteRequestBook(tables), together, wake)
    return Concepts(
        change=change,
        read=ReadConcepts(log, catalogue, reader(graph, log, ledger) if reader else graph, clock),
        find=FindConcepts(catalogue, NearestByChunks(SqliteConceptChunks(tables), nearest), model),
        check=check,
        runner=runner,
        transfer=TransferConcepts(log, catalogue, change),
        upkeep=upkeep,
        log=log,
        ledger=ledger,
        stats=partial(read_stats, log, ledger, runner, partial(_behind, tables, index_positions)),
    )


def _nothing() -> None:
    """Nothing follows the log from elsewhere."""


def _behind(tables: ConceptTables, positions: Callable[[], Mapping[str, int]]) -> dict[str, int]:
    """For every index, how many concepts it has not taken in their present form: "keywords" wait for text, "vectors"
    for the text to be embedded and for the vectors."""
    with tables.snapshot() as db:
        return {
            name: _changed(db, "text" if name == "keywords" else "vectors", position)
            + (_unembedded(db) if name == "vectors" else 0)
            for name, position in positions().items()
        }


def _changed(db: SqlConnection, kind: str, position: int) -> int:
    row = db.execute(
        "SELECT COUNT(DISTINCT chunk_id) FROM changes JOIN chunks USING (chunk_id) JOIN documents USING (document_id)"
        " WHERE position > ? AND kind = ? AND source = 'concepts'",
        (position, kind),
    ).fetchone()
    return int(row[0])


def _unembedded(db: SqlConnection) -> int:
    row = db.execute(
        "SELECT COUNT(*) FROM embedding_queue JOIN models USING (model_id) JOIN chunks USING (chunk_id)"
        " JOIN documents USING (document_id) WHERE active = 1 AND source = 'concepts'"
    ).fetchone()
    return int(row[0])
