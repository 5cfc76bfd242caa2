"""Which entity a name means: exact key, then a legal form that is missing on one side, then abbreviations and rules.

Names of different types never meet. Two legal forms are two companies. What a person merged or split stays so.
"""

from dataclasses import dataclass

from trivium.errors import Conflict, InvalidInput
from trivium.model.vendor import Origin
from trivium.ports.sql import SqlConnection
from trivium.ports.vendor_graph import NamedEntity


@dataclass(frozen=True, slots=True)
class Resolved:
    entity_id: int
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    """A row of entity_names: a key by which an entity goes. `kind`: name, abbreviation."""

    entity_id: int
    form: str
    kind: str


class Names:
    """Inside one transaction."""

    def __init__(self, db: SqlConnection, origin: Origin) -> None:
        self._db, self._origin = db, origin
        self._made: list[int] = []

    def resolve(self, entity: NamedEntity) -> Resolved:
        """The entity this name means, made where there is none."""
        entity, alone = self._ruled(entity)
        found = self._exact(entity) if alone else self._match(entity)
        number = found if found is not None else self._make(entity)
        self._remember(number, entity.entity_type, entity.base, entity.form, entity.name, "name")
        for spelling, base in entity.abbreviations:
            self._abbreviate(number, entity, spelling, base)
        return Resolved(number, found is None)

    def find(self, entity: NamedEntity) -> Resolved | None:
        entity, alone = self._ruled(entity)
        found = self._exact(entity) if alone else self._match(entity)
        return Resolved(found) if found is not None else None

    def drop_unsupported(self) -> None:
        """An entity that was made for a fact whose chunk is gone has nothing to stand on."""
        for number in self._made:
            self._db.execute(
                "DELETE FROM entities WHERE entity_id = ? AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity_id = ?)",
                (number, number),
            )

    def merge(self, kept: int, other: int, *, lasting: bool) -> None:
        """Moves everything of `other` to `kept`; `lasting` keeps it so for names that come later."""
        if kept == other:
            raise InvalidInput("an entity cannot be merged with itself", field="name")
        kinds = dict(
            self._db.execute("SELECT entity_id, entity_type FROM entities WHERE entity_id IN (?, ?)", (kept, other))
        )
        if kinds[kept] != kinds[other]:
            raise Conflict(f"a {kinds[other]} cannot become a {kinds[kept]}", hint="merge entities of one type")
        if lasting:
            self._rule_all(other, kept)
        self._move_links(kept, other)
        self._db.execute(
            "INSERT OR IGNORE INTO mentions SELECT chunk_id, ?, origin, base, form, surface, start, count, confidence,"
            " date FROM mentions WHERE entity_id = ?",
            (kept, other),
        )
        self._db.execute(
            "INSERT OR IGNORE INTO entity_names SELECT entity_type, base, form, ?, name, kind FROM entity_names"
            " WHERE entity_id = ?",
            (kept, other),
        )
        self._db.execute("DELETE FROM entities WHERE entity_id = ?", (other,))

    def split(self, entity_id: int, name: str, base: str, form: str) -> int:
        row = self._db.execute(
            "SELECT entity_type FROM entity_names WHERE entity_id = ? AND base = ? AND form = ?",
            (entity_id, base, form),
        ).fetchone()
        keys = self._db.execute("SELECT COUNT(*) FROM entity_names WHERE entity_id = ?", (entity_id,)).fetchone()[0]
        supported = self._db.execute(
            "SELECT COUNT(*) FROM mentions WHERE entity_id = ? AND base = ? AND form = ?", (entity_id, base, form)
        ).fetchone()[0]
        if row is None or keys < 2 or not supported:
            known = [r[0] for r in self._db.execute("SELECT name FROM entity_names WHERE entity_id = ?", (entity_id,))]
            raise InvalidInput(f"{name!r} is not one of several names of this entity", field="name", allowed=known)
        kind = row[0]
        new = self._insert(kind, name)
        self._db.execute(
            "DELETE FROM entity_names WHERE entity_id = ? AND base = ? AND form = ?", (entity_id, base, form)
        )
        self._remember(new, kind, base, form, name, "name")
        self._db.execute("INSERT OR REPLACE INTO name_rules VALUES (?, ?, ?, NULL, NULL, NULL)", (kind, base, form))
        moved = "SELECT chunk_id FROM mentions WHERE entity_id = ? AND base = ? AND form = ?"
        self._split_links(entity_id, new, moved, (entity_id, base, form))
        self._db.execute(
            "INSERT INTO mentions SELECT chunk_id, ?, origin, base, form, surface, start, count, confidence, date"
            " FROM mentions WHERE entity_id = ? AND base = ? AND form = ?",
            (new, entity_id, base, form),
        )
        self._db.execute("DELETE FROM mentions WHERE entity_id = ? AND base = ? AND form = ?", (entity_id, base, form))
        return new

    def _ruled(self, entity: NamedEntity) -> tuple[NamedEntity, bool]:
        """What a person decided about this name: another name to read it as, or that it stands alone."""
        row = self._db.execute(
            "SELECT target_base, target_form, target_name FROM name_rules"
            " WHERE entity_type = ? AND base = ? AND form = ?",
            (entity.entity_type, entity.base, entity.form),
        ).fetchone()
        if row is None:
            return entity, False
        if row[0] is None:
            return entity, True
        return NamedEntity(row[2], entity.entity_type, row[0], row[1], entity.abbreviations), False

    def _exact(self, entity: NamedEntity) -> int | None:
        rows = [k for k in self._known(entity) if k.form == entity.form and k.kind == "name"]
        return rows[0].entity_id if rows else None

    def _match(self, entity: NamedEntity) -> int | None:
        known = self._known(entity)
        exact = [k for k in known if k.form == entity.form]
        named = [k for k in exact if k.kind == "name"]
        if named or len({k.entity_id for k in exact}) == 1:
            return (named or exact)[0].entity_id
        if exact:  # an abbreviation of several: nobody can tell
            return None
        if not entity.form:
            formed = {k.entity_id for k in known if k.kind == "name"}
            return formed.pop() if len(formed) == 1 else None
        bare = {k.entity_id for k in known if not k.form and k.kind == "name"}
        taken = {k.entity_id for k in known if k.form and k.form != entity.form}
        free = bare - taken
        # A person's "Acme Inc" is its own company even where a text spoke of "Acme" before.
        return free.pop() if len(free) == 1 and self._origin in ("extracted", "front_matter") else None

    def _known(self, entity: NamedEntity) -> list[_Known]:
        rows = self._db.execute(
            "SELECT entity_id, form, kind FROM entity_names WHERE entity_type = ? AND base = ? ORDER BY entity_id",
            (entity.entity_type, entity.base),
        )
        return [_Known(*row) for row in rows]

    def _make(self, entity: NamedEntity) -> int:
        number = self._insert(entity.entity_type, entity.name)
        self._made.append(number)
        return number

    def _insert(self, kind: str, name: str) -> int:
        row = self._db.execute(
            "INSERT INTO entities (entity_type, name) VALUES (?, ?) RETURNING entity_id", (kind, name)
        ).fetchone()
        return int(row[0])

    def _remember(self, number: int, kind: str, base: str, form: str, name: str, how: str) -> None:
        self._db.execute(
            "INSERT INTO entity_names VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET kind = excluded.kind WHERE excluded.kind = 'name'",
            (kind, base, form, number, name, how),
        )

    def _abbreviate(self, number: int, entity: NamedEntity, spelling: str, base: str) -> None:
        """It means this entity from now on; one that stood alone before joins, unless somebody else claims it."""
        rows = self._known(NamedEntity(spelling, entity.entity_type, base))
        claimed = {k.entity_id for k in rows if k.kind == "abbreviation"} - {number}
        alone = [k.entity_id for k in rows if k.kind == "name" and not k.form and k.entity_id != number]
        self._remember(number, entity.entity_type, base, "", spelling, "abbreviation")
        if not claimed and len(alone) == 1 and len(base) >= 3 and self._single_name(alone[0]):
            self.merge(number, alone[0], lasting=False)

    def _single_name(self, number: int) -> bool:
        rows = self._db.execute("SELECT COUNT(*) FROM entity_names WHERE entity_id = ?", (number,)).fetchone()
        return int(rows[0]) == 1

    def _rule_all(self, other: int, kept: int) -> None:
        target = self._db.execute(
            "SELECT base, form, name FROM entity_names WHERE entity_id = ? ORDER BY kind = 'name' DESC, form, base",
            (kept,),
        ).fetchone()
        self._db.execute(
            "INSERT OR REPLACE INTO name_rules SELECT entity_type, base, form, ?, ?, ? FROM entity_names"
            " WHERE entity_id = ?",
            (*target, other),
        )

    def _move_links(self, kept: int, other: int) -> None:
        rows = self._db.execute(
            "SELECT relationship_id, source_id, target_id, relationship_type FROM relationships"
            " WHERE source_id = ? OR target_id = ?",
            (other, other),
        ).fetchall()
        for number, source, target, kind in rows:
            self._copy_link(number, kept if source == other else source, kept if target == other else target, kind)

    def _split_links(self, old: int, new: int, chunks: str, arguments: tuple[object, ...]) -> None:
        """Proofs from chunks that name only the part that leaves go with it."""
        only = f"chunk_id IN ({chunks}) AND chunk_id NOT IN (SELECT chunk_id FROM mentions WHERE entity_id = ?"
        only += " AND NOT (base = ? AND form = ?))"
        rows = self._db.execute(
            "SELECT relationship_id, source_id, target_id, relationship_type FROM relationships"
            " WHERE source_id = ? OR target_id = ?",
            (old, old),
        ).fetchall()
        for number, source, target, kind in rows:
            where = f"relationship_id = ? AND {only}"
            values = (number, *arguments, *arguments)
            if self._db.execute(f"SELECT 1 FROM relationship_proofs WHERE {where}", values).fetchone():
                self._copy_link(
                    number, new if source == old else source, new if target == old else target, kind, where, values
                )
                self._db.execute(f"DELETE FROM relationship_proofs WHERE {where}", values)

    def _copy_link(
        self,
        number: int,
        source: int,
        target: int,
        kind: str,
        where: str = "relationship_id = ?",
        values: tuple[object, ...] | None = None,
    ) -> None:
        if source == target:
            return
        row = self._db.execute(
            "INSERT INTO relationships (source_id, target_id, relationship_type) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET relationship_type = excluded.relationship_type RETURNING relationship_id",
            (source, target, kind),
        ).fetchone()
        self._db.execute(
            "INSERT OR IGNORE INTO relationship_proofs SELECT chunk_id, ?, origin, confidence, date, metadata"
            f" FROM relationship_proofs WHERE {where}",
            (row[0], *(values or (number,))),
        )
