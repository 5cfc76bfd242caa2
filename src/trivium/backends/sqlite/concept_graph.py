"""ConceptGraph on SQLite: one query a step, however many concepts it starts from."""

import json
from collections.abc import Sequence

from trivium.backends.sqlite.concept_rows import RELATIONSHIP, relationship_of
from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.model.concept import STORED_AS, Direction, Relationship, RelationshipType
from trivium.ports.concept_graph import Edge

_OUTGOING = (
    "SELECT source, target, key, strength FROM concept_relationships"
    " WHERE source IN (SELECT value FROM json_each(:keys))"
)
_INCOMING = (
    "SELECT target, source, key, strength FROM concept_relationships"
    " WHERE target IN (SELECT value FROM json_each(:keys))"
)
_OF_TYPE = " AND type = :type"
# The partial index holds the deleted ones alone, so that this is one probe into a small tree.
_LIVE = (
    " AND NOT EXISTS (SELECT 1 FROM concepts d INDEXED BY concepts_that_are_deleted"
    " WHERE d.key = {} AND d.deleted_at IS NOT NULL)"
)


class SqliteConceptGraph:
    def __init__(self, tables: ConceptTables) -> None:
        self._tables = tables

    def edges(
        self,
        keys: Sequence[int],
        direction: Direction,
        relationship_type: RelationshipType | None = None,
        *,
        deleted: bool = False,
    ) -> list[Edge]:
        of_type = _OF_TYPE if relationship_type else ""
        parts = []
        if direction != "incoming":
            parts.append(_OUTGOING + of_type + ("" if deleted else _LIVE.format("target")))
        if direction != "outgoing":
            parts.append(_INCOMING + of_type + ("" if deleted else _LIVE.format("source")))
        arguments = {"keys": json.dumps(list(keys)), "type": STORED_AS.get(relationship_type or "", "")}
        with self._tables.reading() as db:
            return db.execute(" UNION ALL ".join(parts), arguments).fetchall()

    def get(self, relationship_ids: Sequence[str]) -> list[Relationship]:
        with self._tables.reading() as db:
            rows = db.execute(
                RELATIONSHIP + " WHERE r.relationship_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(relationship_ids)),),
            )
            found = {row[0]: relationship_of(row) for row in rows}
        return [found[i] for i in relationship_ids if i in found]

    def by_key(self, keys: Sequence[int]) -> dict[int, Relationship]:
        with self._tables.reading() as db:
            rows = db.execute(
                RELATIONSHIP + " WHERE r.key IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),)
            )
            return {row[7]: relationship_of(row) for row in rows}

    def between(self, source: int, target: int, relationship_type: RelationshipType) -> Relationship | None:
        with self._tables.reading() as db:
            row = db.execute(
                RELATIONSHIP + " WHERE r.source = ? AND r.target = ? AND r.type = ?",
                (source, target, STORED_AS[relationship_type]),
            ).fetchone()
        return relationship_of(row) if row else None
