"""The shapes of the concept tools' answers. Compact: no empty fields, four decimals, short messages."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from trivium.doors.mcp.tools import Body, Failure, Reply
from trivium.errors import Conflict, InvalidInput, NotFound, RateLimited
from trivium.model.concept import Concept, Recorded, Relationship, body_of, compact_json
from trivium.ports.concept_catalogue import Place

if TYPE_CHECKING:
    from trivium.concepts.change import Updated
    from trivium.concepts.find import Similar
    from trivium.concepts.read import LearningOrder, Related
    from trivium.concepts.upkeep import ConceptStats

UNPLACED = "Uncategorized"
_METADATA = ("area", "topic", "subtopic", "certainty_score", "created_at", "last_modified", "version")


def _success(message: str, **fields: Any) -> Body:
    return {"success": True, "message": message, **fields}


def error_body(failure: Failure) -> Body:
    error = failure.error
    details: dict[str, Any] = {}
    if isinstance(error, Conflict):
        details |= error.details
    if isinstance(error, InvalidInput) and error.allowed:
        details["allowed"] = error.allowed
    if isinstance(error, NotFound) and error.nearest:
        details["nearest"] = error.nearest
    if isinstance(error, RateLimited):
        details |= {"remaining": error.remaining, "reset_in_seconds": error.reset_in_seconds}
    if error.hint:
        details["hint"] = error.hint
    if error.code == "INTERNAL_ERROR":
        details["request_id"] = failure.request_id
    field = error.field if isinstance(error, InvalidInput) else None
    shown = {"type": error.code, "message": error.message, "field": field, "details": details or None}
    return {"success": False, "error": shown}


def pong(event_count: int) -> Body:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _success("Server is healthy", status="healthy", timestamp=now, event_count=event_count)


def stats(found: "ConceptStats") -> Body:
    troubled = {
        name: {key: value for key, value in (("pending", s.pending), ("failed", s.failed), ("error", s.error)) if value}
        for name, s in found.projections.items()
        if s.pending or s.failed
    }
    body = _success(
        "Server statistics retrieved",
        status="degraded" if found.outbox_failed else "healthy",
        event_count=found.event_count,
        outbox_pending=found.outbox_pending,
        outbox_failed=found.outbox_failed,
    )
    return body | ({"projections": troubled} if troubled else {})


def created(concept: Concept, alike: Sequence["Similar"]) -> Body:
    body = _success("Concept created", concept_id=concept.concept_id)
    if alike:
        body["warning"] = "much like existing concepts; consider updating one of them instead"
        body["similar"] = [_entry(hit.concept, similarity=hit.similarity) for hit in alike]
    return body


def created_many(concepts: Sequence[Concept]) -> Body:
    return _success(f"Created {len(concepts)} concepts", concept_ids=[concept.concept_id for concept in concepts])


def concept(found: Concept, history: Sequence[Recorded] | None) -> Body:
    values = {
        name: value
        for name, value in found._asdict().items()
        if value is not None and name not in ("key", "changed", "deleted_at")
    }
    body = _success("Concept retrieved", concept=values)
    if history is not None:
        body["history"] = [_event(recorded) for recorded in history]
    return body


def _event(recorded: Recorded) -> dict[str, Any]:
    row = {"version": recorded.version, "type": type(recorded.event).__name__, "at": recorded.at}
    body = body_of(recorded.event)
    return row | ({"data": body} if body else {})


def updated(done: "Updated") -> Body:
    message = "Concept updated" if done.updated_fields else "Nothing to change"
    concept = done.concept
    return _success(
        message, concept_id=concept.concept_id, updated_fields=list(done.updated_fields), version=concept.version
    )


def deleted(found: Concept) -> Body:
    return _success("Concept deleted", concept_id=found.concept_id)


def restored(found: Concept) -> Body:
    return _success("Concept restored", concept_id=found.concept_id, version=found.version)


def similar(hits: Sequence["Similar"], include_metadata: bool) -> Reply:
    entries = [_entry(hit.concept, similarity=hit.similarity) for hit in hits]
    return _list("results", entries, [hit.concept for hit in hits], include_metadata)


def found(concepts: Sequence[Concept], include_metadata: bool) -> Reply:
    return _list("results", [_entry(concept) for concept in concepts], concepts, include_metadata)


def recent(concepts: Sequence[Concept], days: int, include_metadata: bool) -> Reply:
    entries = [_entry(concept, last_modified=concept.last_modified) for concept in concepts]
    return _list("results", entries, concepts, include_metadata, days=days)


def by_certainty(concepts: Sequence[Concept], low: float, high: float, include_metadata: bool) -> Reply:
    entries = [_entry(concept, certainty_score=concept.certainty_score) for concept in concepts]
    return _list("results", entries, concepts, include_metadata, min_certainty=low, max_certainty=high)


def related_now(made: Relationship) -> Body:
    return _success("Relationship created", relationship_id=made.relationship_id)


def unrelated(relationship_id: str, *, was_there: bool) -> Body:
    message = "Relationship deleted" if was_there else "Relationship was deleted before"
    return _success(message, relationship_id=relationship_id)


def related(concept_id: str, hits: Sequence["Related"], include_metadata: bool) -> Reply:
    entries = [
        _entry(
            hit.concept,
            relationship_type=hit.relationship.relationship_type,
            strength=hit.relationship.strength,
            distance=hit.distance,
        )
        for hit in hits
    ]
    return _list("related", entries, [hit.concept for hit in hits], include_metadata, concept_id=concept_id)


def prerequisites(concept_id: str, found: "LearningOrder") -> Reply:
    chain = [_entry(hit.concept, depth=hit.depth) for hit in found.steps]
    message = f"Found {len(chain)} prerequisites" + (
        "" if found.complete else "; there are more, the nearest are listed"
    )
    body = _success(message, concept_id=concept_id, chain=chain, total=len(chain))
    if not found.complete:
        body["truncated"] = True
    return Reply(body, seen=[hit.concept.concept_id for hit in found.steps])


def chain(concepts: Sequence[Concept]) -> Reply:
    length = max(0, len(concepts) - 1)
    message = f"Found path of length {length}" if concepts else "No path found"
    body = _success(message, path=[_entry(concept) for concept in concepts], length=length)
    return Reply(body, seen=[concept.concept_id for concept in concepts])


def hierarchy(places: Iterable[Place]) -> Reply:
    """Lists of names and counts; the text nests them by name, which costs half as much to read."""
    areas: dict[str, dict[str, Any]] = {}
    total = 0
    for place in places:
        total += place.concept_count
        area = _counted(areas, place.area, place.concept_count)
        if place.topic is None and place.subtopic is None:
            continue
        topic = _counted(area.setdefault("topics", {}), place.topic, place.concept_count)
        if place.subtopic is not None:
            _counted(topic.setdefault("subtopics", {}), place.subtopic, place.concept_count)
    body = _success("Hierarchy retrieved", areas=_listed(areas), total_concepts=total)
    brief = _success("Hierarchy retrieved", areas=_nested(body["areas"]), total_concepts=total)
    return Reply(body, compact_json(brief))


def _counted(level: dict[str, dict[str, Any]], name: str | None, count: int) -> dict[str, Any]:
    entry = level.setdefault(name or UNPLACED, {"name": name or UNPLACED, "concept_count": 0})
    entry["concept_count"] += count
    return entry


def _listed(level: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    rows = sorted(level.values(), key=lambda entry: str(entry["name"]))
    for entry in rows:
        for below in ("topics", "subtopics"):
            if below in entry:
                entry[below] = _listed(entry[below])
    return rows


def _nested(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Name to count, or to count and what is below."""
    nested: dict[str, Any] = {}
    for row in rows:
        below = {level: _nested(row[level]) for level in ("topics", "subtopics") if level in row}
        nested[row["name"]] = {"count": row["concept_count"], **below} if below else row["concept_count"]
    return nested


def _entry(concept: Concept, **more: Any) -> dict[str, Any]:
    given = {name: value for name, value in more.items() if value is not None}
    return {"concept_id": concept.concept_id, "name": concept.name, **given}


def _list(
    name: str, entries: Sequence[dict[str, Any]], concepts: Sequence[Concept], include_metadata: bool, **fields: Any
) -> Reply:
    """Every entry with its metadata in the structured answer; in the text only where it was asked for."""
    kind = "related concepts" if name == "related" else "concepts"
    message = f"Found {len(entries)} {kind}"
    full = [_metadata(concept) | entry for concept, entry in zip(concepts, entries, strict=True)]
    body = _success(message, **{name: full}, total=len(entries), **fields)
    text = None if include_metadata else compact_json(_success(message, **{name: list(entries)}))
    return Reply(body, text, seen=[concept.concept_id for concept in concepts])


def _metadata(concept: Concept) -> dict[str, Any]:
    given = concept._asdict()
    shown = ("concept_id", "name", *_METADATA)
    return {name: given[name] for name in shown if given[name] is not None}
