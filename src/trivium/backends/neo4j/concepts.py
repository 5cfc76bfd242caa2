"""ConceptProjection and ConceptGraph on Neo4j: a node a concept, a relationship a relationship, by seed 004's names."""

from collections.abc import Iterator, Sequence
from typing import Any

from trivium.backends.neo4j.connection import Neo4jConnection, Statement
from trivium.backends.neo4j.schema import CONCEPT_TYPES, Neo4jSchema
from trivium.model.concept import (
    SHOWN_AS,
    STORED_AS,
    Concept,
    Direction,
    Item,
    Relationship,
    RelationshipType,
    fingerprint,
)
from trivium.ports.concept_graph import Edge

NAME = "neo4j"
GRAPH = "concepts"
_TYPES = "|".join(CONCEPT_TYPES)
_PUT = "UNWIND $rows AS row MERGE (c:Concept {concept_id: row.concept_id}) SET c = row"
_LINK = (
    "UNWIND $rows AS row MATCH (a:Concept {{concept_id: row.source}}), (b:Concept {{concept_id: row.target}})"
    " MERGE (a)-[r:{0} {{relationship_id: row.properties.relationship_id}}]->(b) SET r = row.properties"
)
_UNLINK = "UNWIND $ids AS id MATCH (:Concept)-[r:{0} {{relationship_id: id}}]->(:Concept) DELETE r"
_DROP = "UNWIND $ids AS id MATCH (c:Concept {concept_id: id}) DETACH DELETE c"
_RELATIONSHIP = (
    f"MATCH (a:Concept)-[r:{_TYPES}]->(b:Concept){{where}} RETURN a.concept_id, b.concept_id, type(r), properties(r)"
)


class Neo4jConceptProjection:
    """Deleted concepts stay, marked by `deleted_at`: a restored one still has its relationships."""

    name = NAME

    def __init__(self, connection: Neo4jConnection, schema: Neo4jSchema) -> None:
        self._connection, self._schema = connection, schema

    def apply(self, put: Sequence[Item], drop: Sequence[str]) -> None:
        self._schema.ready()
        concepts = [item._asdict() for item in put if isinstance(item, Concept)]
        links = [item for item in put if isinstance(item, Relationship)]
        statements: list[Statement] = [self._schema.mark(GRAPH, "followed"), (_PUT, {"rows": concepts})]
        for kind in CONCEPT_TYPES:
            rows = [_row(link) for link in links if STORED_AS[link.relationship_type] == kind]
            statements += [(_LINK.format(kind), {"rows": rows})] if rows else []
        if drop:
            ids = {"ids": list(drop)}
            statements += [*((_UNLINK.format(kind), ids) for kind in CONCEPT_TYPES), (_DROP, ids)]
        self._connection.write(statements)

    def contents(self) -> Iterator[tuple[str, str]]:
        """Told by what is really there, so that what someone changed by hand is found."""
        for (properties,) in self._connection.read_all("MATCH (c:Concept) RETURN properties(c)"):
            concept = _concept(properties)
            yield concept.concept_id, fingerprint(concept)
        for row in self._connection.read_all(_RELATIONSHIP.format(where="")):
            relationship = _relationship(*row)
            yield relationship.relationship_id, fingerprint(relationship)

    def expected(self, item: Item) -> str | None:
        return fingerprint(item)

    def is_there(self) -> bool:
        """False where the database lost what it had, or never had it."""
        return self._schema.state(GRAPH) != ""


class Neo4jConceptGraph:
    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    def edges(
        self,
        keys: Sequence[int],
        direction: Direction,
        relationship_type: RelationshipType | None = None,
        *,
        deleted: bool = False,
    ) -> list[Edge]:
        kind = STORED_AS[relationship_type] if relationship_type else _TYPES
        live = "" if deleted else " AND b.deleted_at IS NULL"
        query = "MATCH (a:Concept){}-[r:{}]-{}(b:Concept) WHERE a.key IN $keys{} RETURN a.key, b.key, r.key, r.strength"
        arrows = {"outgoing": [("", ">")], "incoming": [("<", "")], "both": [("", ">"), ("<", "")]}[direction]
        parts = [query.format(left, kind, right, live) for left, right in arrows]
        return self._connection.read(" UNION ALL ".join(parts), keys=list(keys))

    def get(self, relationship_ids: Sequence[str]) -> list[Relationship]:
        rows = self._some("r.relationship_id IN $ids", ids=list(relationship_ids))
        found = {one.relationship_id: one for one in rows}
        return [found[one] for one in relationship_ids if one in found]

    def by_key(self, keys: Sequence[int]) -> dict[int, Relationship]:
        return {one.key: one for one in self._some("r.key IN $keys", keys=list(keys))}

    def between(self, source: int, target: int, relationship_type: RelationshipType) -> Relationship | None:
        rows = self._some(
            "a.key = $source AND b.key = $target AND type(r) = $kind",
            source=source,
            target=target,
            kind=STORED_AS[relationship_type],
        )
        return rows[0] if rows else None

    def _some(self, condition: str, **parameters: Any) -> list[Relationship]:
        rows = self._connection.read(_RELATIONSHIP.format(where=f" WHERE {condition}"), **parameters)
        return [_relationship(*row) for row in rows]


def _row(link: Relationship) -> dict[str, Any]:
    properties = {
        "relationship_id": link.relationship_id,
        "strength": link.strength,
        "description": link.description,
        "created_at": link.created_at,
        "key": link.key,
    }
    return {"source": link.source_concept_id, "target": link.target_concept_id, "properties": properties}


def _concept(properties: dict[str, Any]) -> Concept:
    return Concept(*(properties.get(name) for name in Concept._fields))  # type: ignore[arg-type]


def _relationship(source: str, target: str, kind: str, properties: dict[str, Any]) -> Relationship:
    return Relationship(
        str(properties.get("relationship_id")),
        source,
        target,
        SHOWN_AS[kind],
        properties.get("strength", 0.0),
        properties.get("description"),
        str(properties.get("created_at")),
        properties.get("key", 0),
    )
