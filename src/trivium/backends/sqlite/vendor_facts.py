"""VendorFacts on SQLite: resolves names to entities, keeps mentions and proofs. Counts follow by trigger."""

import json
from collections.abc import Sequence

from trivium.backends.sqlite.vendor_names import Names, Resolved
from trivium.backends.sqlite.vendor_schema import SCHEMA
from trivium.model.vendor import SYMMETRIC
from trivium.ports.sql import SqlConnection, SqlDatabase
from trivium.ports.vendor_graph import FactBatch, LinkDraft, MentionDraft, Recorded

_DATE_OF_CHUNK = "(SELECT COALESCE(date, added_at) FROM chunks JOIN documents USING (document_id) WHERE chunk_id = ?)"


class SqliteVendorFacts:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        database.migrate("vendors", SCHEMA)

    def record(self, batch: FactBatch) -> Recorded:
        with self._database.transaction() as db:
            recorded = record(db, batch)
            if recorded.mentions_added or recorded.links_added:
                touch(db)
        return recorded

    def retract(self, batch: FactBatch) -> int:
        gone = 0
        with self._database.transaction() as db:
            names = Names(db, batch.origin)
            found = [names.find(entity) for entity in batch.entities]
            for link in batch.links:
                gone += _retract_link(db, batch.origin, link, found[link.head], found[link.tail])
            for mention in batch.mentions:
                gone += _retract_mention(db, batch.origin, mention, found[mention.entity])
            if gone:
                touch(db)
        return gone

    def merge(self, kept: int, other: int) -> None:
        with self._database.transaction() as db:
            Names(db, "import").merge(kept, other, lasting=True)
            touch(db)

    def split(self, entity_id: int, name: str, base: str, form: str) -> int:
        with self._database.transaction() as db:
            new = Names(db, "import").split(entity_id, name, base, form)
            touch(db)
        return new

    def recount(self) -> None:
        """Makes every derived count and link anew from mentions and proofs, after rows were put in as a whole."""
        with self._database.transaction() as db:
            for statement in _RECOUNT:
                db.execute(statement)
            touch(db)


_RECOUNT = (
    "DELETE FROM entity_links",
    "DELETE FROM entity_counts",
    "UPDATE entities SET mention_count = (SELECT SUM(count) FROM mentions m WHERE m.entity_id = entities.entity_id),"
    " confidence = (SELECT MAX(confidence) FROM mentions m WHERE m.entity_id = entities.entity_id),"
    " first_date = (SELECT MIN(date) FROM mentions m WHERE m.entity_id = entities.entity_id),"
    " last_date = (SELECT MAX(date) FROM mentions m WHERE m.entity_id = entities.entity_id)",
    "UPDATE relationships SET (mention_count, confidence, first_date, last_date) ="
    " (SELECT COUNT(*), MAX(p.confidence), MIN(p.date), MAX(p.date) FROM relationship_proofs p"
    "  WHERE p.relationship_id = relationships.relationship_id)",
    "INSERT INTO entity_counts SELECT entity_id, 'relationship', relationship_type, COUNT(*) FROM"
    " (SELECT source_id AS entity_id, relationship_type FROM relationships UNION ALL"
    "  SELECT target_id, relationship_type FROM relationships) AS ends GROUP BY 1, 3",
    "INSERT INTO entity_links SELECT a, b, entity_type, confidence, COUNT(*) FROM"
    " (SELECT source_id AS a, target_id AS b FROM relationships UNION ALL"
    "  SELECT target_id, source_id FROM relationships) AS ends JOIN entities ON entity_id = b"
    " GROUP BY a, b, entity_type, confidence",
)


def touch(db: SqlConnection) -> None:
    """Moves the log on, so that nothing answers from an older generation."""
    db.execute("INSERT INTO changes (kind, chunk_id) VALUES ('removed', 0)")


def record(db: SqlConnection, batch: FactBatch) -> Recorded:
    """Inside the caller's transaction."""
    names = Names(db, batch.origin)
    resolved = [names.resolve(entity) for entity in batch.entities]
    alive = _alive(db, {m.chunk_id for m in batch.mentions} | {link.chunk_id for link in batch.links})
    mentions = sum(_put_mention(db, batch, m, resolved) for m in batch.mentions if m.chunk_id in alive)
    relationship_ids, links = [], 0
    for link in batch.links:
        if link.chunk_id in alive and resolved[link.head].entity_id != resolved[link.tail].entity_id:
            number, is_new = _put_link(db, batch.origin, link, resolved)
            relationship_ids.append(number)
            links += is_new
    names.drop_unsupported()
    return Recorded(tuple(r.entity_id for r in resolved), tuple(relationship_ids), mentions, links)


def _alive(db: SqlConnection, chunk_ids: set[int]) -> set[int]:
    rows = db.execute(
        "SELECT chunk_id FROM chunks WHERE chunk_id IN (SELECT value FROM json_each(?))", (json.dumps(list(chunk_ids)),)
    )
    return {row[0] for row in rows}


def _put_mention(db: SqlConnection, batch: FactBatch, draft: MentionDraft, resolved: Sequence[Resolved]) -> int:
    entity, own = resolved[draft.entity], batch.entities[draft.entity]
    return db.execute(
        "INSERT OR IGNORE INTO mentions (chunk_id, entity_id, origin, base, form, surface, start, count, confidence,"
        f" date) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, {_DATE_OF_CHUNK})",
        (
            draft.chunk_id,
            entity.entity_id,
            batch.origin,
            own.base,
            own.form,
            draft.surface,
            draft.start,
            draft.count,
            draft.confidence,
            draft.chunk_id,
        ),
    ).rowcount


def _put_link(db: SqlConnection, origin: str, link: LinkDraft, resolved: Sequence[Resolved]) -> tuple[int, int]:
    source, target = ends(link.relationship_type, resolved[link.head].entity_id, resolved[link.tail].entity_id)
    row = db.execute(
        "SELECT relationship_id FROM relationships WHERE source_id = ? AND target_id = ? AND relationship_type = ?",
        (source, target, link.relationship_type),
    ).fetchone()
    if row is None:
        row = db.execute(
            "INSERT INTO relationships (source_id, target_id, relationship_type) VALUES (?, ?, ?)"
            " RETURNING relationship_id",
            (source, target, link.relationship_type),
        ).fetchone()
    added = db.execute(
        "INSERT OR IGNORE INTO relationship_proofs (chunk_id, relationship_id, origin, confidence, metadata, date)"
        f" VALUES (?, ?, ?, ?, ?, {_DATE_OF_CHUNK})",
        (
            link.chunk_id,
            row[0],
            origin,
            link.confidence,
            json.dumps(dict(link.metadata), ensure_ascii=False, sort_keys=True),
            link.chunk_id,
        ),
    ).rowcount
    return int(row[0]), added


def ends(relationship_type: str, head: int, tail: int) -> tuple[int, int]:
    """A relationship without direction is kept once, the older entity first."""
    return (tail, head) if relationship_type in SYMMETRIC and tail < head else (head, tail)


def _retract_mention(db: SqlConnection, origin: str, draft: MentionDraft, entity: Resolved | None) -> int:
    if entity is None:
        return 0
    return db.execute(
        "DELETE FROM mentions WHERE chunk_id = ? AND entity_id = ? AND origin = ?",
        (draft.chunk_id, entity.entity_id, origin),
    ).rowcount


def _retract_link(db: SqlConnection, origin: str, link: LinkDraft, head: Resolved | None, tail: Resolved | None) -> int:
    if head is None or tail is None:
        return 0
    source, target = ends(link.relationship_type, head.entity_id, tail.entity_id)
    return db.execute(
        "DELETE FROM relationship_proofs WHERE chunk_id = ? AND origin = ? AND relationship_id IN (SELECT"
        " relationship_id FROM relationships WHERE source_id = ? AND target_id = ? AND relationship_type = ?)",
        (link.chunk_id, origin, source, target, link.relationship_type),
    ).rowcount
