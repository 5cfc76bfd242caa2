"""The rows of concepts and relationships: the projection that every read of them uses. Commits with the log."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.model.concept import SHOWN_AS, STORED_AS, Concept, Item, Relationship, fingerprint
from trivium.ports.sql import SqlConnection

CONCEPT = (
    "concept_id, name, explanation, area, topic, subtopic, certainty_score, examples, prerequisites, created_at,"
    " last_modified, version, key, changed, deleted_at"
)
RELATIONSHIP = (
    "SELECT r.relationship_id, s.concept_id, t.concept_id, r.type, r.strength, r.description, r.created_at, r.key"
    " FROM concept_relationships r JOIN concepts s ON s.key = r.source JOIN concepts t ON t.key = r.target"
)
_PUT_CONCEPT = (
    f"INSERT INTO concepts ({CONCEPT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE"
    " SET " + ", ".join(f"{name} = excluded.{name}" for name in CONCEPT.split(", ") if name != "key")
)
_PUT_RELATIONSHIP = (
    "INSERT INTO concept_relationships (relationship_id, source, target, type, strength, description, created_at, key)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET relationship_id = excluded.relationship_id,"
    " source = excluded.source, target = excluded.target, type = excluded.type, strength = excluded.strength,"
    " description = excluded.description, created_at = excluded.created_at"
)
MANY = 500
COUNTS = "concept_counts"  # shows up among the contents only where the counters are wrong; dropping it recounts
_COUNTED = (
    "SELECT area, topic, subtopic, COUNT(*) FROM concepts WHERE deleted_at IS NULL GROUP BY area, topic, subtopic"
)


class SqliteConceptRows:
    name = "graph"

    def __init__(self, tables: ConceptTables) -> None:
        self._tables = tables

    def apply(self, put: Sequence[Item], drop: Sequence[str]) -> None:
        with self._tables.writing() as db:
            if len(put) >= MANY:
                self._tables.make_room(db)
            db.executemany(_PUT_CONCEPT, [_concept_row(item) for item in put if isinstance(item, Concept)])
            if drop:  # before the rest: a dropped relationship may make room for a new one between the same two
                _drop(db, drop)
            if relationships := [item for item in put if isinstance(item, Relationship)]:
                keys = _keys(db, relationships)
                db.executemany(_PUT_RELATIONSHIP, [_relationship_row(item, keys) for item in relationships])

    def contents(self) -> Iterator[tuple[str, str]]:
        with self._tables.reading() as db:
            for row in db.execute(f"SELECT {CONCEPT} FROM concepts"):
                yield row[0], fingerprint(concept_of(row))
            for row in db.execute(RELATIONSHIP):
                yield row[0], fingerprint(relationship_of(row))
            kept = db.execute("SELECT * FROM concept_counts ORDER BY area, topic, subtopic").fetchall()
            if kept != db.execute(f"{_COUNTED} ORDER BY area, topic, subtopic").fetchall():
                yield COUNTS, "differ from the concepts"

    def expected(self, item: Item) -> str | None:
        return fingerprint(item)


def concept_of(row: tuple[Any, ...]) -> Concept:
    values: list[Any] = [*row[:3], row[3] or None, row[4] or None, row[5] or None, *row[6:]]
    return Concept(*values)


def relationship_of(row: tuple[Any, ...]) -> Relationship:
    return Relationship(row[0], row[1], row[2], SHOWN_AS[row[3]], *row[4:])


def _concept_row(concept: Concept) -> tuple[Any, ...]:
    return (*concept[:3], concept.area or "", concept.topic or "", concept.subtopic or "", *concept[6:])


def _drop(db: SqlConnection, ids: Sequence[str]) -> None:
    db.executemany("DELETE FROM concept_relationships WHERE relationship_id = ?", [(i,) for i in ids])
    db.executemany("DELETE FROM concepts WHERE concept_id = ?", [(i,) for i in ids if not i.startswith("rel-")])
    if COUNTS in ids:
        db.execute("DELETE FROM concept_counts")
        db.execute(f"INSERT INTO concept_counts {_COUNTED}")


def _keys(db: SqlConnection, relationships: Sequence[Relationship]) -> dict[str, int]:
    ids = {item.source_concept_id for item in relationships} | {item.target_concept_id for item in relationships}
    rows = db.execute(
        "SELECT concept_id, key FROM concepts WHERE concept_id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(ids)),),
    )
    return dict(rows.fetchall())


def _relationship_row(item: Relationship, keys: Mapping[str, int]) -> tuple[Any, ...]:
    return (
        item.relationship_id,
        keys[item.source_concept_id],
        keys[item.target_concept_id],
        STORED_AS[item.relationship_type],
        item.strength,
        item.description,
        item.created_at,
        item.key,
    )
