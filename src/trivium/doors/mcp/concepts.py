"""The concepts toolset: the 16 tools of the concept server, and four beyond them.

The structured answer carries everything; its text, which is what a model reads, leaves out the metadata of list entries
unless `include_metadata` asks for it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from trivium.doors.mcp import concept_answers as answers
from trivium.doors.mcp.tools import Body, Call, Reply, Tool, tool
from trivium.model.concept import CONTENT_FIELDS
from trivium.ports.concept_catalogue import Selection

if TYPE_CHECKING:
    from trivium.concepts.room import Concepts

ConceptId = Annotated[str, Field(description="UUID of the concept")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Explanation = Annotated[str, Field(min_length=1)]
Place = Annotated[str | None, Field(max_length=100)]
Certainty = Annotated[float | None, Field(ge=0, le=100)]
Version = Annotated[int | None, Field(ge=1, description="refuse unless this is the current version")]
IncludeMetadata = Annotated[bool, Field(description="area, topic, certainty and dates in the text too")]
RelationshipKind = Literal["prerequisite", "relates_to", "includes"]
Way = Literal["outgoing", "incoming", "both"]


class NewConcept(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: Name
    explanation: Explanation
    area: Place = None
    topic: Place = None
    subtopic: Place = None
    certainty_score: Certainty = None
    examples: str | None = None
    prerequisites: str | None = None


def tools(served: frozenset[str]) -> Sequence[Tool]:  # noqa: ARG001 - the names are the same in every company
    return (
        ping,
        get_server_stats,
        create_concept,
        create_concepts,
        get_concept,
        update_concept,
        delete_concept,
        restore_concept,
        search_concepts_semantic,
        search_concepts_exact,
        get_recent_concepts,
        create_relationship,
        delete_relationship,
        get_related_concepts,
        get_prerequisites,
        get_concept_chain,
        list_hierarchy,
        get_concepts_by_certainty,
    )


def _concepts(call: Call) -> "Concepts":
    return call.app.concepts


@tool(scope="read", errors=answers.error_body)
def ping(call: Call) -> Body:
    """Test that the server and its store answer."""
    return answers.pong(_concepts(call).log.head())


@tool(scope="read", errors=answers.error_body)
def get_server_stats(call: Call) -> Body:
    """Events stored, and how many of them a view has still to take (outbox_pending) or could not (outbox_failed)."""
    return answers.stats(_concepts(call).stats())


@tool(scope="write", errors=answers.error_body, idempotent=False)
def create_concept(
    call: Call,
    name: Name,
    explanation: Explanation,
    area: Place = None,
    topic: Place = None,
    subtopic: Place = None,
    certainty_score: Certainty = None,
    examples: str | None = None,
    prerequisites: Annotated[str | None, Field(description="in words; links are create_relationship")] = None,
) -> Body:
    """Store a concept. Durable and searchable when it returns. Says so when a concept much like it exists."""
    concepts = _concepts(call)
    content = dict(
        zip(
            CONTENT_FIELDS,
            (name, explanation, area, topic, subtopic, certainty_score, examples, prerequisites),
            strict=True,
        )
    )
    alike = concepts.find.duplicates(name, explanation)
    return answers.created(concepts.change.create(content), alike)


@tool(scope="write", errors=answers.error_body)
def create_concepts(
    call: Call,
    concepts: Annotated[list[NewConcept], Field(min_length=1, max_length=1000)],
    idempotency_key: Annotated[
        str | None, Field(min_length=1, max_length=200, description="makes a retry safe")
    ] = None,
) -> Body:
    """Store many concepts at once: all or none. Ids come back in order."""
    contents = [concept.model_dump() for concept in concepts]
    return answers.created_many(_concepts(call).change.create_many(contents, idempotency_key))


@tool(scope="read", errors=answers.error_body)
def get_concept(
    call: Call,
    concept_id: ConceptId,
    include_history: Annotated[bool, Field(description="also every event")] = False,
    as_of: Annotated[str | int | None, Field(description="version, date or time: the concept as it was then")] = None,
) -> Body:
    """One concept in full."""
    read = _concepts(call).read
    concept = read.get(concept_id, as_of)
    return answers.concept(concept, read.history(concept_id) if include_history else None)


@tool(scope="write", errors=answers.error_body)
def update_concept(
    call: Call,
    concept_id: ConceptId,
    name: Annotated[str | None, Field(min_length=1, max_length=200)] = None,
    explanation: Annotated[str | None, Field(min_length=1)] = None,
    area: Annotated[
        str | None, Field(max_length=100, description='"" empties it, as in the other optional texts')
    ] = None,
    topic: Place = None,
    subtopic: Place = None,
    certainty_score: Certainty = None,
    examples: str | None = None,
    prerequisites: str | None = None,
    expected_version: Version = None,
) -> Body:
    """Change the given fields of a concept; the others stay."""
    values = (name, explanation, area, topic, subtopic, certainty_score, examples, prerequisites)
    changes = dict(zip(CONTENT_FIELDS, values, strict=True))
    return answers.updated(_concepts(call).change.update(concept_id, changes, expected_version))


@tool(scope="write", errors=answers.error_body, destructive=True)
def delete_concept(call: Call, concept_id: ConceptId, expected_version: Version = None) -> Body:
    """Delete a concept. It leaves all searches; its history stays, and restore_concept undoes it."""
    return answers.deleted(_concepts(call).change.delete(concept_id, expected_version))


@tool(scope="write", errors=answers.error_body)
def restore_concept(call: Call, concept_id: ConceptId, expected_version: Version = None) -> Body:
    """Bring a deleted concept back, with its relationships."""
    return answers.restored(_concepts(call).change.restore(concept_id, expected_version))


@tool(scope="read", errors=answers.error_body)
def search_concepts_semantic(
    call: Call,
    query: Annotated[str, Field(min_length=1, max_length=10_000)],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    min_certainty: Certainty = None,
    area: str | None = None,
    topic: str | None = None,
    subtopic: str | None = None,
    include_metadata: IncludeMetadata = False,
) -> Reply:
    """Find concepts by meaning. Similarity: 0.7 strongly, 0.5 somewhat, 0.3 weakly related."""
    wanted = Selection(area=area, topic=topic, subtopic=subtopic, min_certainty=min_certainty)
    return answers.similar(_concepts(call).find.semantic(query, wanted, limit), include_metadata)


@tool(scope="read", errors=answers.error_body)
def search_concepts_exact(
    call: Call,
    name: Annotated[str | None, Field(description="part of the name, any case")] = None,
    area: str | None = None,
    topic: str | None = None,
    subtopic: str | None = None,
    min_certainty: Certainty = None,
    max_certainty: Certainty = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    include_metadata: IncludeMetadata = False,
) -> Reply:
    """Find concepts by name and metadata, newest first. All conditions must hold."""
    wanted = Selection(name or None, area, topic, subtopic, min_certainty, max_certainty)
    return answers.found(_concepts(call).read.exact(wanted, limit), include_metadata)


@tool(scope="read", errors=answers.error_body)
def get_recent_concepts(
    call: Call,
    days: Annotated[int, Field(ge=1, le=365)] = 7,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    include_metadata: IncludeMetadata = False,
) -> Reply:
    """Concepts changed in the last days, latest first."""
    return answers.recent(_concepts(call).read.recent(days, limit), days, include_metadata)


@tool(scope="write", errors=answers.error_body, idempotent=False)
def create_relationship(
    call: Call,
    source_concept_id: Annotated[str, Field(description="prerequisite: learned first; includes: the whole")],
    target_concept_id: str,
    relationship_type: RelationshipKind,
    strength: Annotated[float, Field(ge=0, le=1)] = 1.0,
    description: str | None = None,
) -> Body:
    """Link two concepts. Refuses duplicates, self-links and circular prerequisites."""
    change = _concepts(call).change
    return answers.related_now(
        change.relate(source_concept_id, target_concept_id, relationship_type, strength, description)
    )


@tool(scope="write", errors=answers.error_body, destructive=True)
def delete_relationship(
    call: Call, relationship_id: Annotated[str, Field(min_length=1, description="rel- and 12 characters")]
) -> Body:
    """Remove a link; the history keeps it."""
    return answers.unrelated(relationship_id, was_there=_concepts(call).change.unrelate(relationship_id))


@tool(scope="read", errors=answers.error_body)
def get_related_concepts(
    call: Call,
    concept_id: ConceptId,
    direction: Annotated[Way, Field(description="outgoing: what depends on it; incoming: what it depends on")] = "both",
    relationship_type: RelationshipKind | None = None,
    max_depth: Annotated[int, Field(ge=1, le=5)] = 2,
    limit: Annotated[int, Field(ge=1, le=50)] = 50,
    include_metadata: IncludeMetadata = False,
) -> Reply:
    """Concepts connected to this one, nearest first, with their distance in hops."""
    read = _concepts(call).read
    found = read.related(concept_id, direction, relationship_type, max_depth, limit)
    return answers.related(concept_id, found, include_metadata)


@tool(scope="read", errors=answers.error_body)
def get_prerequisites(
    call: Call,
    concept_id: ConceptId,
    max_depth: Annotated[int, Field(ge=1, le=10)] = 5,
    also_concept_ids: Annotated[
        list[str] | None, Field(max_length=50, description="more targets: one order for all of them")
    ] = None,
) -> Reply:
    """What to learn before this concept, in learning order, deepest first."""
    found = _concepts(call).read.prerequisites(concept_id, max_depth, also_concept_ids or ())
    return answers.prerequisites(concept_id, found)


@tool(scope="read", errors=answers.error_body)
def get_concept_chain(
    call: Call,
    start_concept_id: str,
    end_concept_id: str,
    relationship_type: RelationshipKind | None = None,
    direction: Annotated[Way, Field(description="outgoing follows the arrows only")] = "both",
) -> Reply:
    """Shortest path between two concepts; empty if there is none."""
    read = _concepts(call).read
    return answers.chain(read.chain(start_concept_id, end_concept_id, relationship_type, direction))


@tool(scope="read", errors=answers.error_body)
def list_hierarchy(call: Call) -> Reply:
    """Areas, topics and subtopics with the number of concepts in each."""
    return answers.hierarchy(_concepts(call).read.hierarchy())


@tool(scope="read", errors=answers.error_body)
def get_concepts_by_certainty(
    call: Call,
    min_certainty: Annotated[float, Field(ge=0, le=100)] = 0,
    max_certainty: Annotated[float, Field(ge=0, le=100)] = 100,
    limit: Annotated[int, Field(ge=1, le=100)] = 50,
    order: Literal["asc", "desc"] = "asc",
    include_metadata: IncludeMetadata = False,
) -> Reply:
    """Concepts whose certainty lies in a range, sorted by it. Concepts without one are left out."""
    low, high = sorted((min_certainty, max_certainty))
    found = _concepts(call).read.by_certainty(low, high, limit, order)
    return answers.by_certainty(found, low, high, include_metadata)
