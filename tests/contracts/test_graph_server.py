"""Our graphs on a Neo4j server: what is copied there, and that questions asked there have the answers of the store."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from code_repository import FILES
from trivium.backends.memory.code_graph import MemoryCodeGraph
from trivium.backends.neo4j.code_walks import Neo4jCodeWalks
from trivium.backends.neo4j.concepts import Neo4jConceptGraph, Neo4jConceptProjection
from trivium.backends.neo4j.connection import Neo4jConnection
from trivium.backends.neo4j.mirror import Neo4jMirror
from trivium.backends.neo4j.schema import STATEMENTS, Neo4jSchema
from trivium.backends.sqlite.code_repositories import SqliteRepositories
from trivium.backends.sqlite.database import Database
from trivium.backends.sqlite.graph_sources import SqliteCodeSource
from trivium.code.analyse import analyse
from trivium.concepts import walk
from trivium.errors import Conflict
from trivium.model.code import PACKAGES, RELATIONSHIPS, CodeGraph, Edge, Symbol, package_id, symbol_id
from trivium.model.concept import SHOWN_AS, Concept, Relationship
from trivium.ports.concept_graph import ConceptGraph
from trivium.ports.graph_mirror import GraphCopy, MirroredLink, MirroredNode
from trivium.ports.repositories import Repository

WHEN = "2026-03-01T12:00:00.000Z"


@pytest.fixture
def schema(neo4j: Neo4jConnection) -> Neo4jSchema:
    return Neo4jSchema(neo4j, "contract")


def test_migrating_twice_makes_every_constraint_and_index_once(neo4j: Neo4jConnection, schema: Neo4jSchema) -> None:
    schema.migrate()
    schema.migrate()
    names = {name for (name,) in neo4j.read("SHOW INDEXES YIELD name RETURN name")}
    assert {statement.split()[2] for statement in STATEMENTS} <= names


def test_another_installations_graph_is_not_written_over(neo4j: Neo4jConnection, schema: Neo4jSchema) -> None:
    Neo4jMirror(neo4j, schema).write("vendors", GraphCopy("1"))
    with pytest.raises(Conflict, match="another Trivium"):
        Neo4jMirror(neo4j, Neo4jSchema(neo4j, "someone else")).write("vendors", GraphCopy("1"))


def test_only_what_differs_is_written(neo4j: Neo4jConnection, schema: Neo4jSchema) -> None:
    mirror = Neo4jMirror(neo4j, schema)
    nodes = [MirroredNode(f"e_{n}", "Org", {"name": f"vendor {n}"}) for n in range(4)]
    links = [MirroredLink("e_0", f"e_{n}", "PARTNERS_WITH", {"confidence": 0.5}) for n in (1, 2, 3)]
    assert mirror.write("vendors", GraphCopy("1", nodes, links)) == 7
    assert mirror.write("vendors", GraphCopy("2", nodes, links)) == 0
    assert mirror.state("vendors") == "2"
    product = MirroredNode("e_1", "Product", {"name": "vendor 1"})
    assert mirror.write("vendors", GraphCopy("3", [nodes[0], product, nodes[2]], links[:1])) == 3
    assert neo4j.read("MATCH (n:Entity) RETURN n.entity_id, labels(n) ORDER BY n.entity_id") == [
        ("e_0", ["Entity", "Org"]),
        ("e_1", ["Entity", "Product"]),
        ("e_2", ["Entity", "Org"]),
    ]
    assert schema.counts()["Entity relationships"] == 1


# --- code


def random_code(seed: int) -> list[CodeGraph]:
    """Files, classes, methods and functions in two repositories, with packages, hubs, chains, and dangling ends."""
    chance = random.Random(seed)
    symbols: dict[str, list[Symbol]] = {}
    packages = [Symbol(package_id(f"pkg{n}"), "package", "", f"pkg{n}", "", f"pkg{n}", 0, 0) for n in range(4)]
    for repository in ("one", "two"):
        symbols[repository] = []
        for file in range(12):
            path = f"src/f{file}.py"
            rows = [("file", ""), ("class", "C"), ("method", "C.run"), ("method", "C.stop"), ("function", "go")]
            for line, (kind, name) in enumerate(rows, start=1):
                symbols[repository].append(
                    Symbol(
                        symbol_id(repository, path, name),
                        kind,  # type: ignore[arg-type]
                        repository,
                        path,
                        name,
                        name.rpartition(".")[2] or path,
                        line,
                        line,
                    )
                )
    everyone = [*packages, *(s for rows in symbols.values() for s in rows)]
    graphs = []
    for repository, own in symbols.items():
        edges = {}
        for _ in range(110):
            source = chance.choice(own)
            target = chance.choice(everyone if chance.random() < 0.3 else own)
            kind = chance.choice(RELATIONSHIPS)
            how = chance.choice(("exact", "inferred", "name_match"))
            edges[source.symbol_id, target.symbol_id, kind] = Edge(
                source.symbol_id, target.symbol_id, kind, chance.randrange(1, 99), how, 1.0
            )
        gone = f"symbol:{repository}:src/gone.py::lost"
        edges[own[0].symbol_id, gone, "calls"] = Edge(own[0].symbol_id, gone, "calls", 1, "exact", 1.0)
        ordered = sorted(edges.values(), key=lambda e: (e.source, e.target, e.relationship))
        used = [p for p in packages if any(e.target == p.symbol_id for e in ordered)]
        graphs.append(CodeGraph(repository, (*own, *used), tuple(ordered)))
    return graphs


@pytest.fixture
def source(tmp_path: Path) -> Iterator[SqliteCodeSource]:
    database = Database(tmp_path / "code.db")
    store = SqliteRepositories(database)
    for graph in random_code(1):
        store.replace(Repository(graph.repository, "", ""), graph, [])
    yield SqliteCodeSource(database)
    database.close()


def test_a_thousand_random_questions_about_code_have_the_same_answers(
    neo4j: Neo4jConnection, schema: Neo4jSchema, source: SqliteCodeSource
) -> None:
    Neo4jMirror(neo4j, schema).write("code", source.copy())
    assert schema.state("code") == source.state()
    embedded, server = MemoryCodeGraph(random_code(1)), Neo4jCodeWalks(neo4j)
    known = [*embedded.symbols(None), *embedded.symbols(None, [package_id("pkg1")])]
    chance, paths = random.Random(2), 0
    for number in range(500):
        start, goal = chance.sample(known, 2)
        kinds = RELATIONSHIPS if number % 2 else tuple(chance.sample(RELATIONSHIPS, chance.randrange(1, 5)))
        repositories = chance.choice([None, ["one"], ["one", "two", PACKAGES], ["two", PACKAGES]])
        asked = {"repositories": repositories, "backwards": bool(number % 3)}
        depth = chance.randrange(1, 6)
        here, there = (graph.reach(start, depth, kinds, **asked) for graph in (embedded, server))
        assert (there.counts, there.sure) == (here.counts, here.sure)
        assert there.steps(0, sum(there.counts)) == here.steps(0, sum(here.counts))
        hops = chance.randrange(1, 10)
        way = embedded.path(start, goal, hops, kinds, repositories=repositories)
        assert server.path(start, goal, hops, kinds, repositories=repositories) == way
        paths += way is not None
    assert paths > 50


def test_a_real_repository_is_there_with_its_labels_and_definitions(
    neo4j: Neo4jConnection, schema: Neo4jSchema, tmp_path: Path
) -> None:
    database = Database(tmp_path / "code.db")
    graph = analyse("one", {path: text.encode() for path, text in FILES.items() if path.startswith("src/")})
    SqliteRepositories(database).replace(Repository("one", "", ""), graph, [])
    Neo4jMirror(neo4j, schema).write("code", SqliteCodeSource(database).copy())
    database.close()
    found = neo4j.read(
        "MATCH (f:File {path: 'src/services/auth.ts'})-[:DEFINES]->(:Class {name: 'AuthService'})-[:DEFINES]->"
        "(m:Method) RETURN m.qualified_name"
    )
    assert ("AuthService.check",) in found


# --- concepts


def random_concepts(seed: int, count: int = 120, links: int = 260) -> tuple[list[Concept], list[Relationship]]:
    chance = random.Random(seed)
    concepts = [
        Concept(f"c{n}", f"n{n}", "x", "A", None, None, 1.0, None, None, WHEN, WHEN, 1, n, n)._replace(
            deleted_at=WHEN if chance.random() < 0.1 else None
        )
        for n in range(1, count + 1)
    ]
    pairs = {}
    for number in range(links):
        source, target = sorted(chance.sample(range(count), 2))
        kind = chance.choice(list(SHOWN_AS.values()))
        pairs[source, target, kind] = Relationship(
            f"rel-{number}",
            concepts[source].concept_id,
            concepts[target].concept_id,
            kind,
            chance.choice((0.2, 0.5, 1.0)),
            None,
            WHEN,
            1000 + number,
        )
    return concepts, list(pairs.values())


class PlainGraph:
    """The same relationships, looked up in a list."""

    def __init__(self, concepts: list[Concept], links: list[Relationship]) -> None:
        self._concepts = {concept.concept_id: concept for concept in concepts}
        self._links = links

    def edges(self, keys, direction, relationship_type=None, *, deleted=False):  # type: ignore[no-untyped-def]
        found = []
        for link in self._links:
            ends = [self._concepts[link.source_concept_id], self._concepts[link.target_concept_id]]
            ways = {"outgoing": [ends], "incoming": [ends[::-1]], "both": [ends, ends[::-1]]}[direction]
            for near, far in ways:
                wanted = near.key in keys and relationship_type in (None, link.relationship_type)
                if wanted and (deleted or far.deleted_at is None):
                    found.append((near.key, far.key, link.key, link.strength))
        return found


def test_a_thousand_random_questions_about_concepts_have_the_same_answers(
    neo4j: Neo4jConnection, schema: Neo4jSchema
) -> None:
    concepts, links = random_concepts(3)
    Neo4jConceptProjection(neo4j, schema).apply([*links, *concepts], [])
    store: ConceptGraph = PlainGraph(concepts, links)  # type: ignore[assignment]
    server, chance = Neo4jConceptGraph(neo4j), random.Random(4)
    keys = [concept.key for concept in concepts if concept.deleted_at is None]
    for _ in range(333):
        start, end = chance.sample(keys, 2)
        way = chance.choice(("outgoing", "incoming", "both"))
        kind = chance.choice((None, *SHOWN_AS.values()))
        depth, limit = chance.randrange(1, 6), chance.randrange(1, 50)
        assert walk.around(server, start, way, kind, depth, limit) == walk.around(store, start, way, kind, depth, limit)
        assert walk.before(server, [start], 10, 200) == walk.before(store, [start], 10, 200)
        assert walk.shortest(server, start, end, way, kind) == walk.shortest(store, start, end, way, kind)
    some = links[5]
    assert server.get([some.relationship_id, "rel-none"]) == [some]
    assert server.by_key([some.key]) == {some.key: some}
    ends = {concept.concept_id: concept.key for concept in concepts}
    source, target = ends[some.source_concept_id], ends[some.target_concept_id]
    assert server.between(source, target, some.relationship_type) == some
    assert server.between(target, source, some.relationship_type) is None
