"""VendorGraph and VendorSources on SQLite: reads from indexes and counters, never by scanning."""

import difflib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trivium.model.vendor import (
    Entity,
    EntityType,
    Relationship,
    Statistics,
    public_entity_id,
    public_relationship_id,
)
from trivium.ports.sql import SqlConnection, SqlDatabase
from trivium.ports.vendor_graph import Proof

_ENTITY = "e.entity_id, e.name, e.entity_type, e.confidence, e.mention_count, e.first_date, e.last_date"
_RELATIONSHIP = (
    "relationship_id, source_id, target_id, relationship_type, confidence, mention_count, first_date, last_date"
)
_NEAR_CANDIDATES = 400


class SqliteVendorGraph:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def named(self, base: str, form: str, name: str, entity_type: EntityType = "ORG") -> list[Entity]:
        with self._database.read() as db:
            rows = db.execute(
                f"SELECT {_ENTITY}, n.form, n.kind FROM entity_names n JOIN entities e USING (entity_id)"
                " WHERE n.entity_type = ? AND n.base = ? ORDER BY e.entity_id",
                (entity_type, base),
            ).fetchall()
        found = {row[0]: Entity(*row[:7]) for row in rows}
        exact = [entity for entity in found.values() if entity.name.casefold() == name.casefold()]
        if len(exact) == 1:
            return exact
        # A name with its legal form means that company; without, whoever goes by it.
        fitting = {row[0] for row in rows if not form or row[7] in ("", form)}
        formed = {row[0] for row in rows if form and row[7] == form}
        return [found[number] for number in sorted(formed or fitting)]

    def nearest(self, base: str, limit: int, entity_type: EntityType = "ORG") -> list[str]:
        near: dict[str, dict[str, None]] = defaultdict(dict)  # key -> the names that have it, in order
        with self._database.read() as db:
            for start in (base[:3], base[:2], base[:1]):
                for key, name in db.execute(
                    "SELECT n.base, e.name FROM entity_names n JOIN entities e USING (entity_id)"
                    " WHERE n.entity_type = ? AND n.base >= ? AND n.base < ? ORDER BY n.base, e.entity_id LIMIT ?",
                    (entity_type, start, start + "\U0010ffff", _NEAR_CANDIDATES),
                ):
                    near[key][name] = None
            for (name,) in db.execute(
                "SELECT e.name FROM entities e WHERE e.entity_type = ?"
                " ORDER BY e.mention_count DESC, e.entity_id LIMIT ?",
                (entity_type, _NEAR_CANDIDATES),
            ):
                near[name.casefold()][name] = None
        close = difflib.get_close_matches(base, near, n=limit, cutoff=0.5)
        contained = [key for key in near if base and (base in key or key in base) and key not in close]
        ordered = [name for key in [*close, *sorted(contained, key=len)] for name in near[key]]
        return list(dict.fromkeys(ordered))[:limit]

    def known(self, bases: Sequence[str]) -> set[str]:
        with self._database.read() as db:
            rows = db.execute(
                "SELECT DISTINCT e.name FROM entity_names n JOIN entities e USING (entity_id)"
                " WHERE n.entity_type = 'ORG' AND n.base IN (SELECT value FROM json_each(?))",
                (json.dumps(list(bases)),),
            )
            return {row[0] for row in rows}

    def statistics(self, entity_id: int) -> Statistics:
        counts: dict[str, dict[str, int]] = {"entity": {}, "relationship": {}}
        with self._database.read() as db:
            for counted, name, total in db.execute(
                "SELECT counted, name, total FROM entity_counts WHERE entity_id = ? ORDER BY total DESC, name",
                (entity_id,),
            ):
                counts[counted][name] = total
        return Statistics(counts["entity"], counts["relationship"])

    def neighbours(
        self, entity_id: int, types: Sequence[EntityType] | None, limit: int, offset: int = 0
    ) -> list[Entity]:
        where, values = _of_types("l.other_type", types)
        with self._database.read() as db:
            rows = db.execute(
                f"SELECT {_ENTITY} FROM (SELECT other_id, confidence FROM entity_links l WHERE l.entity_id = ?{where}"
                " ORDER BY l.confidence DESC, l.other_id LIMIT ? OFFSET ?) l JOIN entities e ON e.entity_id = other_id"
                " ORDER BY l.confidence DESC, l.other_id",
                (entity_id, *values, limit, offset),
            )
            return [Entity(*row) for row in rows]

    def relationships(
        self, entity_id: int, types: Sequence[EntityType] | None, limit: int, offset: int = 0
    ) -> list[Relationship]:
        with self._database.read() as db:
            rows = _relationships(db, entity_id, types, limit + offset)[offset : offset + limit]
            metadata = _metadata(db, [row[0] for row in rows])
        return [replace(Relationship(*row), metadata=metadata.get(row[0], {})) for row in rows]

    def entities(self, entity_type: EntityType | None, limit: int, offset: int = 0) -> list[Entity]:
        where, values = ("WHERE e.entity_type = ?", (entity_type,)) if entity_type else ("", ())
        with self._database.read() as db:
            rows = db.execute(
                f"SELECT {_ENTITY} FROM entities e {where} ORDER BY e.mention_count DESC, e.entity_id LIMIT ? OFFSET ?",
                (*values, limit, offset),
            )
            return [Entity(*row) for row in rows]

    def snippets(self, entity_ids: Sequence[int], length: int) -> dict[int, str]:
        found: dict[int, str] = {}
        with self._database.read() as db:
            for number in entity_ids:
                row = db.execute(
                    "SELECT c.text, m.start, m.surface FROM mentions m JOIN chunks c USING (chunk_id)"
                    " WHERE m.entity_id = ? ORDER BY m.confidence DESC, m.chunk_id LIMIT 1",
                    (number,),
                ).fetchone()
                if row:
                    found[number] = around(row[0], row[1], len(row[2]), length)
        return found

    def proofs(self, entity_ids: Sequence[int], relationship_ids: Sequence[int]) -> dict[str, list[Proof]]:
        found: dict[str, list[Proof]] = defaultdict(list)
        with self._database.read() as db:
            for number in entity_ids:
                for row in db.execute(
                    "SELECT chunk_id, origin, confidence, surface FROM mentions WHERE entity_id = ?"
                    " ORDER BY confidence DESC, chunk_id",
                    (number,),
                ):
                    found[public_entity_id(number)].append(Proof(*row))
            for number in relationship_ids:
                for row in db.execute(
                    "SELECT chunk_id, origin, confidence FROM relationship_proofs WHERE relationship_id = ?"
                    " ORDER BY confidence DESC, chunk_id",
                    (number,),
                ):
                    found[public_relationship_id(number)].append(Proof(*row))
        return dict(found)

    def chunks(self, entity_id: int) -> list[int]:
        with self._database.read() as db:
            rows = db.execute("SELECT DISTINCT chunk_id FROM mentions WHERE entity_id = ? ORDER BY 1", (entity_id,))
            return [row[0] for row in rows]

    def links_in(self, chunk_ids: Sequence[int]) -> dict[int, list[tuple[Relationship, str, str]]]:
        found: dict[int, list[tuple[Relationship, str, str]]] = defaultdict(list)
        columns = ", ".join(f"r.{name.strip()}" for name in _RELATIONSHIP.split(","))
        with self._database.read() as db:
            rows = db.execute(
                f"SELECT p.chunk_id, s.name, t.name, {columns} FROM relationship_proofs p"
                " JOIN relationships r USING (relationship_id) JOIN entities s ON s.entity_id = r.source_id"
                " JOIN entities t ON t.entity_id = r.target_id WHERE p.chunk_id IN (SELECT value FROM json_each(?))"
                " ORDER BY r.confidence DESC, r.relationship_id",
                (json.dumps(list(chunk_ids)),),
            )
            for chunk_id, source, target, *rest in rows:
                found[chunk_id].append((Relationship(*rest), source, target))
        return dict(found)


def _of_types(column: str, types: Sequence[EntityType] | None) -> tuple[str, tuple[Any, ...]]:
    if types is None:
        return "", ()
    return f" AND {column} IN (SELECT value FROM json_each(?))", (json.dumps(list(types)),)


def _relationships(
    db: SqlConnection, entity_id: int, types: Sequence[EntityType] | None, limit: int
) -> list[tuple[Any, ...]]:
    """The best of both directions, each from its own index, then the best of those."""
    rows: list[tuple[Any, ...]] = []
    for own, other in (("source_id", "target_id"), ("target_id", "source_id")):
        where, values = "", ()  # type: tuple[str, tuple[Any, ...]]
        if types is not None:
            where = (
                f" AND (SELECT entity_type FROM entities WHERE entity_id = {other}) IN (SELECT value FROM json_each(?))"
            )
            values = (json.dumps(list(types)),)
        rows += db.execute(
            f"SELECT {_RELATIONSHIP} FROM relationships WHERE {own} = ?{where}"
            " ORDER BY confidence DESC, relationship_id LIMIT ?",
            (entity_id, *values, limit),
        ).fetchall()
    return sorted(rows, key=lambda row: (-row[4], row[0]))[:limit]


def _metadata(db: SqlConnection, relationship_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What the proofs add: given metadata, who says so, up to three chunks."""
    found: dict[int, dict[str, Any]] = {}
    for number in relationship_ids:
        rows = db.execute(
            "SELECT chunk_id, origin, metadata FROM relationship_proofs WHERE relationship_id = ?"
            " ORDER BY confidence DESC, chunk_id LIMIT 3",
            (number,),
        ).fetchall()
        merged: dict[str, Any] = {}
        for _, _, metadata in reversed(rows):
            merged |= json.loads(metadata) if metadata != "{}" else {}
        found[number] = merged | {
            "origin": sorted({row[1] for row in rows}),
            "chunk_ids": [row[0] for row in rows],
        }
    return found


def around(text: str, start: int, size: int, length: int) -> str:
    """`length` characters around a mention, cut at blanks where possible, on one line."""
    spare = max(length - size, 0)
    begin = max(0, start - spare // 3)
    cut = text[begin : begin + length]
    if begin > 0 and " " in cut[:20]:
        cut = cut[cut.index(" ") + 1 :]
    return " ".join(cut.split())
