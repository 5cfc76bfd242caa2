"""The mentions of one document become named entities and facts: one entity a name, whatever the spelling.

Within a document names help each other: a type is settled by all its mentions, an abbreviation introduced in brackets
means the name before it, a surname the person named in full.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trivium.documents.extract import gazetteer
from trivium.documents.extract.names import NameKey, clean, compact, is_abbreviation, name_key
from trivium.model.vendor import MAX_NAME, EntityType, Extraction
from trivium.ports.vendor_graph import FactBatch, LinkDraft, MentionDraft, NamedEntity

LEAST_CONFIDENCE = 0.45
_BRACKETED = re.compile(r"\s*\(\s*([^()]{2,60}?)\s*\)")
# what people add to a name in lower case is no part of it
_GENERIC = re.compile(
    r"(?<=\S)(?:\s+(?:team|teams|company|companies|staff|employees?|engineers?|lawyers?|customers?|users?|products?"
    r"|platform|software|services?|app|website|brand|subsidiary|division))+$"
)
_ABBREVIABLE = ("ORG", "PRODUCT", "EVENT")
_NOT_A_NAME = frozenset(
    [
        "it",
        "its",
        "they",
        "their",
        "we",
        "our",
        "he",
        "she",
        "this",
        "these",
        "that",
        "which",
        "who",
        "i",
        "you",
        "the",
        "a",
        "an",
        "company",
    ]
)

Key = tuple[EntityType, str, str]  # type, base, legal form


@dataclass(slots=True)
class _Seen:
    """A mention on its way: `kind` and `key` may still change."""

    chunk: int
    place: int
    start: int
    surface: str
    kind: EntityType
    confidence: float
    key: NameKey


@dataclass(slots=True)
class _Group:
    names: Counter[str] = field(default_factory=Counter)
    abbreviations: dict[str, str] = field(default_factory=dict)


def resolve_document(texts: Mapping[int, str], extractions: Mapping[int, Extraction]) -> FactBatch:
    """Facts of one document's chunks, by chunk id."""
    seen = [one for chunk in texts for one in _mentions(chunk, texts[chunk], extractions[chunk])]
    _settle_types(seen)
    introduced = _introduced(texts, seen)
    for one in seen:
        one.key = _meant(one, introduced)
    _join_surnames(seen)
    return _batch(seen, introduced, extractions)


def _mentions(chunk: int, text: str, found: Extraction) -> list[_Seen]:
    result = []
    for place, mention in enumerate(found.mentions):
        surface = clean(_GENERIC.sub("", text[mention.start : mention.end]))
        if mention.confidence < LEAST_CONFIDENCE or not _is_name(surface):
            continue
        key = key_of(surface, mention.entity_type)
        result.append(_Seen(chunk, place, mention.start, surface, mention.entity_type, mention.confidence, key))
    return result


def key_of(surface: str, kind: EntityType) -> NameKey:
    return name_key(surface, legal=kind == "ORG")


def _is_name(surface: str) -> bool:
    return (
        1 < len(surface) <= MAX_NAME
        and any(c.isalpha() for c in surface)
        and surface.casefold() not in _NOT_A_NAME
        and surface.isprintable()
    )


def _settle_types(seen: Sequence[_Seen]) -> None:
    """One name, one type in a document, where its mentions mostly agree."""
    weights: dict[str, Counter[EntityType]] = defaultdict(Counter)
    for one in seen:
        weights[compact(one.surface)][one.kind] += one.confidence  # type: ignore[assignment]  # weights, not counts
    for one in seen:
        kinds = weights[compact(one.surface)]
        best, most = kinds.most_common(1)[0]
        if best != one.kind and most >= 0.6 * sum(kinds.values()):
            one.kind, one.key = best, key_of(one.surface, best)


def _introduced(texts: Mapping[int, str], seen: Sequence[_Seen]) -> dict[tuple[EntityType, str], tuple[str, str]]:
    """(type, base of the abbreviation) -> (its spelling, the full name); both ways round."""
    found: dict[tuple[EntityType, str], tuple[str, str]] = {}
    for one in seen:
        if one.kind not in _ABBREVIABLE:
            continue
        bracket = _BRACKETED.match(texts[one.chunk], one.start + len(one.surface))
        if bracket is None:
            continue
        inner = clean(bracket.group(1))
        if is_abbreviation(inner, one.surface) and compact(inner) != one.key.base:
            found[one.kind, compact(inner)] = (inner, one.surface)
        elif is_abbreviation(one.surface, inner) and compact(inner) != one.key.base and inner[:1].isupper():
            found[one.kind, one.key.base] = (one.surface, inner)
    return found


def _meant(one: _Seen, introduced: Mapping[tuple[EntityType, str], tuple[str, str]]) -> NameKey:
    full = introduced.get((one.kind, one.key.base))
    if full:
        return key_of(full[1], one.kind)
    known = gazetteer.other_names().get(compact(one.surface)) if one.kind == "ORG" else None
    return key_of(known, one.kind) if known else one.key


def _join_surnames(seen: Sequence[_Seen]) -> None:
    """A person named by one word is the one person of the document whose full name ends with it."""
    full: dict[str, set[NameKey]] = defaultdict(set)
    for one in seen:
        words = one.surface.split()
        if one.kind == "PERSON" and len(words) > 1:
            full[compact(words[-1])].add(one.key)
    for one in seen:
        candidates = full.get(one.key.base, set())
        if one.kind == "PERSON" and " " not in one.surface and len(candidates) == 1:
            one.key = next(iter(candidates))


def _batch(
    seen: Sequence[_Seen],
    introduced: Mapping[tuple[EntityType, str], tuple[str, str]],
    extractions: Mapping[int, Extraction],
) -> FactBatch:
    groups: dict[Key, _Group] = defaultdict(_Group)
    where: dict[tuple[int, int], Key] = {}
    for one in seen:
        key = (one.kind, one.key.base, one.key.form)
        where[one.chunk, one.place] = key
        groups[key].names[_shown(one)] += 1
        for (kind, short), (spelling, _) in introduced.items():
            if kind == one.kind and key_of(introduced[kind, short][1], kind) == one.key:
                groups[key].abbreviations[short] = spelling
    numbers = {key: number for number, key in enumerate(groups)}
    entities = [_named(key, group) for key, group in groups.items()]
    return FactBatch("extracted", entities, _mention_drafts(seen, numbers), _link_drafts(where, numbers, extractions))


def _shown(one: _Seen) -> str:
    """The spelling that stands for the name: an alias shows what it stands for."""
    if compact(one.surface).startswith(one.key.base) or one.key == key_of(one.surface, one.kind):
        return one.surface
    return gazetteer.other_names().get(compact(one.surface), one.surface)


def _named(key: Key, group: _Group) -> NamedEntity:
    """Spelled as the document mostly does, rather by a spelling that fits the key than by surname or abbreviation."""
    kind, base, form = key
    fitting = {n: c for n, c in group.names.items() if key_of(n, kind) == NameKey(base, form)} or group.names
    name = max(fitting, key=lambda n: (fitting[n], not n.isupper(), len(n), n))
    return NamedEntity(name, kind, base, form, tuple((s, short) for short, s in group.abbreviations.items()))


def _mention_drafts(seen: Sequence[_Seen], numbers: Mapping[Key, int]) -> list[MentionDraft]:
    """One row a chunk and entity: how often, and where it is clearest."""
    by_chunk: dict[tuple[int, int], list[_Seen]] = defaultdict(list)
    for one in seen:
        by_chunk[one.chunk, numbers[one.kind, one.key.base, one.key.form]].append(one)
    drafts = []
    for (chunk, entity), group in by_chunk.items():
        best = max(group, key=lambda one: (one.confidence, -one.start))
        drafts.append(MentionDraft(entity, chunk, best.surface, best.start, len(group), best.confidence))
    return drafts


def _link_drafts(
    where: Mapping[tuple[int, int], Key], numbers: Mapping[Key, int], extractions: Mapping[int, Extraction]
) -> list[LinkDraft]:
    best: dict[tuple[int, int, str, int], float] = {}
    for chunk, extraction in extractions.items():
        for link in extraction.links:
            head, tail = where.get((chunk, link.head)), where.get((chunk, link.tail))
            if head is None or tail is None or head == tail:
                continue
            key = (numbers[head], numbers[tail], link.relationship_type, chunk)
            best[key] = max(best.get(key, 0.0), link.confidence)
    return [LinkDraft(head, tail, kind, chunk, sure) for (head, tail, kind, chunk), sure in best.items()]
