"""What every projection of concepts promises."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sql_databases import KINDS, open_database

from trivium.backends.memory.concepts import MemoryConceptProjection
from trivium.backends.neo4j.concepts import Neo4jConceptProjection
from trivium.backends.neo4j.schema import Neo4jSchema
from trivium.backends.quicktok import QuicktokCounter
from trivium.backends.sqlite.concept_rows import SqliteConceptRows
from trivium.backends.sqlite.concept_tables import ConceptTables
from trivium.backends.sqlite.concept_text import ConceptText
from trivium.backends.sqlite.documents import SqliteDocumentStore
from trivium.model.concept import Concept, Item, Relationship, item_id
from trivium.ports.concept_projection import ConceptProjection

WHEN = "2026-03-01T12:00:00.000Z"


def concept(number: int, **more: object) -> Concept:
    plain = Concept(
        f"c{number}", f"name {number}", "text", "A", None, None, 50.0, None, None, WHEN, WHEN, 1, number, number
    )
    return plain._replace(**more)


ONE, TWO = concept(1), concept(2, area=None, examples="e", prerequisites="p", certainty_score=None)
LINK = Relationship("rel-000000000001", "c1", "c2", "includes", 0.5, None, WHEN, 3)


@pytest.fixture(params=["memory", *(f"{name} on {kind}" for kind in KINDS for name in ("graph", "text")), "neo4j"])
def projection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ConceptProjection]:
    name, _, kind = request.param.partition(" on ")
    if name == "neo4j":
        connection = request.getfixturevalue("neo4j")
        yield Neo4jConceptProjection(connection, Neo4jSchema(connection, "contract"))
        return
    database = open_database(kind or "sqlite", tmp_path)
    documents = SqliteDocumentStore(database)
    tables = ConceptTables(database)
    made: dict[str, ConceptProjection] = {
        "memory": MemoryConceptProjection(),
        "graph": SqliteConceptRows(tables),
        "text": ConceptText(tables, documents, QuicktokCounter()),
    }
    yield made[name]
    database.close()


def wanted(projection: ConceptProjection, *items: Item) -> dict[str, str]:
    expected = {item_id(item): projection.expected(item) for item in items}
    return {one: print_ for one, print_ in expected.items() if print_ is not None}


def test_it_holds_what_was_put(projection: ConceptProjection) -> None:
    projection.apply([LINK, TWO, ONE], [])
    assert dict(projection.contents()) == wanted(projection, ONE, TWO, LINK)


def test_putting_the_same_twice_changes_nothing(projection: ConceptProjection) -> None:
    for _ in range(2):
        projection.apply([ONE, TWO, LINK], [])
    assert dict(projection.contents()) == wanted(projection, ONE, TWO, LINK)


def test_a_later_state_replaces_an_earlier_one(projection: ConceptProjection) -> None:
    later = ONE._replace(name="other", area=None, topic="T", certainty_score=None, version=2, changed=4)
    projection.apply([ONE, TWO], [])
    projection.apply([later], [])
    assert dict(projection.contents()) == wanted(projection, later, TWO)
    assert wanted(projection, later) != wanted(projection, ONE)


def test_a_deleted_concept_is_held_as_deleted_or_not_at_all_and_comes_back(projection: ConceptProjection) -> None:
    gone = ONE._replace(deleted_at=WHEN, version=2, changed=3)
    back = gone._replace(deleted_at=None, version=3, changed=4)
    projection.apply([ONE, TWO, LINK], [])
    projection.apply([gone], [])
    assert dict(projection.contents()) == wanted(projection, gone, TWO, LINK)
    projection.apply([back], [])
    assert dict(projection.contents()) == wanted(projection, back, TWO, LINK)


def test_what_is_dropped_is_gone_and_dropping_the_unknown_is_fine(projection: ConceptProjection) -> None:
    projection.apply([ONE, TWO, LINK], [])
    projection.apply([], ["rel-000000000001", "rel-000000000009", "nobody"])
    assert dict(projection.contents()) == wanted(projection, ONE, TWO)
    projection.apply([], ["c1"])
    assert dict(projection.contents()) == wanted(projection, TWO)


def test_a_new_relationship_may_take_the_place_of_a_dropped_one_in_one_step(projection: ConceptProjection) -> None:
    again = LINK._replace(relationship_id="rel-000000000002", key=5)
    projection.apply([ONE, TWO, LINK], [])
    projection.apply([again], ["rel-000000000001"])
    assert dict(projection.contents()) == wanted(projection, ONE, TWO, again)
