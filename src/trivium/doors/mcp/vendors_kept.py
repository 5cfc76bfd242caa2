"""What is around a vendor, cached: looked up once, it serves every response mode until something is written."""

import json
from collections.abc import Hashable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from pydantic_core import to_json

from trivium.model.answers import ResponseMode
from trivium.model.vendor import Entity, EntityType, Relationship, Statistics
from trivium.ports.results import Codec

if TYPE_CHECKING:
    from trivium.documents.vendors import Neighbourhood
    from trivium.doors.mcp.tools import Call

# entities and relationships a mode may show at once
LIMITS: dict[ResponseMode, tuple[int, int]] = {
    "ids_only": (100, 500),
    "metadata": (5, 0),
    "preview": (5, 5),
    "full": (100, 500),
}
# A vendor with more relationships is looked up for each mode by itself: sorting all of them is not worth five names.
HUB = 1000


@dataclass(frozen=True, slots=True)
class Lookup:
    """A page of a vendor's surroundings, in whatever mode it will be shown."""

    vendor: Entity
    types: tuple[EntityType, ...] | None
    with_relationships: bool
    page_size: int | None
    max_results: int | None
    offset: int

    def limits(self, mode: ResponseMode) -> tuple[int, int]:
        entities, relationships = LIMITS[mode]
        entities = min(self.page_size or entities, entities)
        if self.max_results is not None:
            entities = max(0, min(entities, self.max_results - self.offset))
        return entities, relationships if self.offset == 0 else 0


def around(call: "Call", lookup: Lookup, mode: ResponseMode, generation: int) -> tuple["Neighbourhood", bool]:
    """What the mode shows of it, and whether it was there already."""
    large = call.app.vendors.statistics(lookup.vendor).relationship_count > HUB
    view: ResponseMode = mode if large else "full"
    page = (lookup.vendor.entity_id, lookup.types, lookup.page_size, lookup.max_results, lookup.offset)
    key = ("around", page, view, generation, call.services.cache_epoch())
    try:
        found, hit = call.services.vendors.get(key, lambda: _looked_up(call, lookup, view), call.deadline.left_s)
    except TimeoutError:
        raise call.deadline.exceeded() from None
    call.services.guard.metrics.count("cache_requests_total", result="hit" if hit else "miss")
    return _cut(found, lookup, mode), hit


def _looked_up(call: "Call", lookup: Lookup, view: ResponseMode) -> "Neighbourhood":
    entities, relationships = lookup.limits(view)
    return call.app.vendors.around(
        lookup.vendor,
        types=lookup.types,
        entities=entities,
        relationships=relationships,
        offset=lookup.offset,
        snippets=view == "full",
    )


def _cut(found: "Neighbourhood", lookup: Lookup, mode: ResponseMode) -> "Neighbourhood":
    entities, relationships = lookup.limits(mode)
    return replace(
        found,
        entities=found.entities[:entities],
        relationships=found.relationships[:relationships] if lookup.with_relationships else (),
        snippets=found.snippets if mode == "full" else {},
    )


def _encoded(found: "Neighbourhood") -> bytes:
    return to_json(asdict(found))


def _decoded(key: Hashable, stored: bytes) -> "Neighbourhood | None":  # noqa: ARG001 -- the value says it all
    from trivium.documents.vendors import Neighbourhood

    try:
        fields = json.loads(stored)
        return Neighbourhood(
            Entity(**fields["vendor"]),
            Statistics(**fields["statistics"]),
            tuple(Entity(**one) for one in fields["entities"]),
            tuple(Relationship(**one) for one in fields["relationships"]),
            int(fields["total"]),
            {int(number): text for number, text in fields["snippets"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None  # written by something else: looked up again


SURROUNDINGS: "Codec[Neighbourhood]" = Codec(_encoded, _decoded)
