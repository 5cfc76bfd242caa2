"""Labels, constraints and indexes: the model that people who write Cypher meet (docs/servers.md).

(:Concept)-[:PREREQUISITE | RELATES_TO | CONTAINS]->(:Concept)
(:Symbol:File | Class | Interface | Enum | Function | Method | Package)
    -[:IMPORTS | CALLS | EXTENDS | IMPLEMENTS | REFERENCES | DEFINES]->(:Symbol)
(:Entity:Org | Product | Person | Location | Event)-[:PRODUCES | ACQUIRED | …]->(:Entity)
(:TriviumGraph {name})   one for each of the three: which installation it belongs to, which state it has
"""

from dataclasses import dataclass

from trivium.backends.neo4j.connection import Neo4jConnection
from trivium.errors import Conflict

VERSION = 1
CONCEPT_TYPES = ("PREREQUISITE", "RELATES_TO", "CONTAINS")

STATEMENTS = (
    "CREATE CONSTRAINT trivium_graph_name IF NOT EXISTS FOR (g:TriviumGraph) REQUIRE g.name IS UNIQUE",
    "CREATE CONSTRAINT concept_id IF NOT EXISTS FOR (c:Concept) REQUIRE c.concept_id IS UNIQUE",
    "CREATE CONSTRAINT concept_key IF NOT EXISTS FOR (c:Concept) REQUIRE c.key IS UNIQUE",
    "CREATE INDEX concept_name IF NOT EXISTS FOR (c:Concept) ON (c.name)",
    "CREATE INDEX concept_place IF NOT EXISTS FOR (c:Concept) ON (c.area, c.topic, c.subtopic)",
    "CREATE INDEX concept_certainty IF NOT EXISTS FOR (c:Concept) ON (c.certainty_score)",
    "CREATE INDEX concept_modified IF NOT EXISTS FOR (c:Concept) ON (c.last_modified)",
    *(
        f"CREATE INDEX {kind.lower()}_id IF NOT EXISTS FOR ()-[r:{kind}]-() ON (r.relationship_id)"
        for kind in CONCEPT_TYPES
    ),
    "CREATE CONSTRAINT symbol_id IF NOT EXISTS FOR (s:Symbol) REQUIRE s.symbol_id IS UNIQUE",
    "CREATE INDEX symbol_repository IF NOT EXISTS FOR (s:Symbol) ON (s.repository, s.path)",
    "CREATE INDEX symbol_name IF NOT EXISTS FOR (s:Symbol) ON (s.name)",
    "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE e.entity_id IS UNIQUE",
    "CREATE INDEX entity_name IF NOT EXISTS FOR (e:Entity) ON (e.name)",
)

_HELD = "MATCH (g:TriviumGraph) RETURN g.name, g.installation, g.state, g.schema"


@dataclass(frozen=True, slots=True)
class Held:
    installation: str
    state: str
    schema: int


class Neo4jSchema:
    """What this database is for. It holds the graphs of one installation: another one's are never written over."""

    def __init__(self, connection: Neo4jConnection, installation: str) -> None:
        self._connection, self._installation = connection, installation
        self._is_ready = False

    def migrate(self) -> None:
        """Safe to repeat. A Conflict where the database is another installation's, or newer than this version."""
        self._check(self.held())
        for statement in STATEMENTS:
            self._connection.change_schema(statement)
        self._connection.write([("CALL db.awaitIndexes(120)", {})])
        self._is_ready = True

    def ready(self) -> None:
        """`migrate` before the first write of this process."""
        if not self._is_ready:
            self.migrate()

    def held(self) -> dict[str, Held]:
        return {
            name: Held(installation or "", state or "", schema or 0)
            for name, installation, state, schema in self._connection.read(_HELD)
        }

    def mark(self, name: str, state: str) -> tuple[str, dict[str, object]]:
        """The statement that says which state a graph has."""
        return (
            "MERGE (g:TriviumGraph {name: $name}) SET g.installation = $installation, g.state = $state,"
            " g.schema = $schema",
            {"name": name, "installation": self._installation, "state": state, "schema": VERSION},
        )

    def state(self, name: str) -> str:
        """Empty where there is none of ours."""
        held = self.held().get(name)
        return held.state if held is not None and held.installation == self._installation else ""

    def clear(self) -> None:
        """Removes all three graphs, whosever they are; other data in the database stays."""
        for label in ("Concept", "Symbol", "Entity", "TriviumGraph"):
            self._connection.change_schema(
                f"MATCH (n:{label}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 5000 ROWS"
            )
        self._is_ready = False

    def counts(self) -> dict[str, int]:
        query = "MATCH (n:{0}) WITH count(n) AS nodes OPTIONAL MATCH (:{0})-[r]->(:{0}) RETURN nodes, count(r)"
        found: dict[str, int] = {}
        for label in ("Concept", "Symbol", "Entity"):
            [(nodes, links)] = self._connection.read_all(query.format(label))
            found |= {label: nodes, f"{label} relationships": links}
        return found

    def _check(self, held: dict[str, Held]) -> None:
        for name, one in held.items():
            if one.installation != self._installation:
                raise Conflict(
                    f"the graph database holds the {name} graph of another Trivium",
                    hint="name another database in TRIVIUM_GRAPH, or take this one over: trivium graph rebuild --all",
                )
            if one.schema > VERSION:
                raise Conflict("the graph database was written by a newer Trivium", hint="upgrade this one")
