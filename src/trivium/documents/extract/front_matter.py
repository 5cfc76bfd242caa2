"""What a document says about itself in its front matter, as facts that its first chunk stands for."""

from collections.abc import Mapping
from typing import Any

from trivium.documents.extract.names import clean
from trivium.documents.extract.resolve import key_of
from trivium.model.vendor import MAX_NAME, EntityType
from trivium.ports.vendor_graph import FactBatch, LinkDraft, MentionDraft, NamedEntity

_FIELDS: dict[str, EntityType] = {
    "vendor": "ORG", "vendors": "ORG", "company": "ORG", "companies": "ORG", "organization": "ORG",
    "product": "PRODUCT", "products": "PRODUCT", "person": "PERSON", "people": "PERSON", "contact": "PERSON",
    "location": "LOCATION", "locations": "LOCATION", "event": "EVENT", "events": "EVENT",
}  # fmt: skip
_TO_VENDOR = {"PRODUCT": ("PRODUCES", False), "PERSON": ("WORKS_FOR", True), "LOCATION": ("LOCATED_IN", False)}


def front_matter_facts(metadata: Mapping[str, Any], chunk_id: int) -> FactBatch | None:
    """Entities by field; where exactly one vendor is named, it makes the products, employs the people and so on."""
    entities = [
        NamedEntity(name, kind, key.base, key.form)
        for field, kind in _FIELDS.items()
        for name in _names(metadata.get(field))
        for key in [key_of(name, kind)]
    ]
    if not entities:
        return None
    mentions = [MentionDraft(n, chunk_id, entity.name, 0, 1, 1.0) for n, entity in enumerate(entities)]
    vendors = [n for n, entity in enumerate(entities) if entity.entity_type == "ORG"]
    links = []
    if len(vendors) == 1:
        for number, entity in enumerate(entities):
            if entity.entity_type in _TO_VENDOR:
                name, swapped = _TO_VENDOR[entity.entity_type]
                ends = (number, vendors[0]) if swapped else (vendors[0], number)
                links.append(LinkDraft(*ends, name, chunk_id, 1.0, {"field": "front matter"}))
    return FactBatch("front_matter", entities, mentions, links)


def _names(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    names = [clean(one) for one in values if isinstance(one, str)]
    return [name for name in dict.fromkeys(names) if 1 <= len(name) <= MAX_NAME and name.isprintable()]
