"""The annotated sets as training sentences: units, what each unit may be labelled, entities and pairs.

A set that does not annotate a type says nothing about it: that type's labels are outside its universe and get no
gradient from it. Licences are named in the model card.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from trivium.documents.extract.peoples import names_people

TYPES = ("PRODUCT", "PERSON", "ORG", "LOCATION", "EVENT")
LABELS = ("O", *(f"{mark}-{kind}" for kind in TYPES for mark in "BI"))
# What the relation head tells apart; ACQUIRED runs from the buyer, the sets' OWNED_BY from the owned.
RELATIONS = (
    "NONE",
    "WORKS_FOR",
    "LOCATED_IN",
    "LIVES_IN",
    "PRODUCES",
    "PARTNERS_WITH",
    "COMPETES_WITH",
    "ACQUIRED",
    "OWNED_BY",
    "SUBSIDIARY_OF",
    "CUSTOMER_OF",
    "MERGED_WITH",
    "TRADED_ON",
    "REGULATED_BY",
    "MEMBER_OF",
    "FOUNDED_BY",
    "PARTICIPATES_IN",
)
SYMMETRIC = {"PARTNERS_WITH", "COMPETES_WITH", "MERGED_WITH"}
UNIT = re.compile(r"\w+|[^\w\s]")
SENTENCE = re.compile(r"(?<=[.!?]) +(?=[A-Z\"'(])")
CROSSNER = ("ai", "science", "politics", "literature", "music")

PRODUCT_RELATIONS = {"manufacturer", "developer", "product or material produced", "publisher", "platform"}


@dataclass(slots=True)
class Entity:
    start: int  # units
    end: int
    kind: int  # index in TYPES, -1 unknown
    chars: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Sentence:
    text: str
    units: list[tuple[int, int]]
    allowed: list[int]  # bit masks over LABELS
    universe: int
    entities: list[Entity] = field(default_factory=list)
    pairs: list[tuple[int, int, int]] = field(default_factory=list)  # head, tail, relation
    relation_universe: int = 0
    gold: list[tuple[int, int, str]] = field(default_factory=list)  # characters and type, for scoring
    origin: str = ""


def bits(kinds: tuple[str, ...]) -> int:
    return 1 | sum(1 << LABELS.index(f"{mark}-{kind}") for kind in kinds for mark in "BI")


ALL = bits(TYPES)


def records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def split_units(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in UNIT.finditer(text)]


def label_bit(mark: str, kind: str) -> int:
    return 1 << LABELS.index(f"{mark}-{kind}")


def sentence_of(
    record: dict[str, Any], kinds: tuple[str, ...], origin: str, soft: dict[int, int] | None = None, background: int = 1
) -> Sentence:
    """`soft` gives an entity (by number) a mask of its own; `background` is what all other units may be."""
    text = record["text"]
    units = split_units(text)
    starts = {start: number for number, (start, _) in enumerate(units)}
    ends = {end: number for number, (_, end) in enumerate(units)}
    sentence = Sentence(text, units, [background] * len(units), bits(kinds), origin=origin)
    for number, entity in enumerate(record["entities"]):
        first, last = starts.get(entity["start"]), ends.get(entity["end"])
        kind = entity["mapped"]
        known = first is not None and last is not None
        sentence.entities.append(
            Entity(
                first if known else 0,
                last if known else 0,
                TYPES.index(kind) if kind in TYPES else -1,
                (entity["start"], entity["end"]),
            )
        )
        if kind in kinds:
            sentence.gold.append((entity["start"], entity["end"], kind))
        if not known:
            continue
        if soft and number in soft:
            for unit in range(first, last + 1):
                sentence.allowed[unit] = soft[number]
        elif kind in kinds:
            sentence.allowed[first] = label_bit("B", kind)
            for unit in range(first + 1, last + 1):
                sentence.allowed[unit] = label_bit("I", kind)
    return sentence


def add_pairs(sentence: Sentence, record: dict[str, Any], names: tuple[str, ...], exhaustive: bool) -> None:
    relations: dict[tuple[int, int], int] = {}
    for relation in record["relations"]:
        name = refined(relation)
        if name is None or name not in RELATIONS:
            continue
        head, tail = relation["head"], relation["tail"]
        if relation.get("swap"):
            head, tail = tail, head
        if name == "ACQUIRED":
            head, tail = tail, head
        relations[head, tail] = RELATIONS.index(name)
        if name in SYMMETRIC:
            relations[tail, head] = RELATIONS.index(name)
    sentence.relation_universe = 1 | sum(1 << RELATIONS.index(name) for name in names)
    count = len(sentence.entities)
    for head in range(count):
        for tail in range(count):
            relation = relations.get((head, tail), 0)
            if head != tail and (exhaustive or relation) and (relation == 0 or RELATIONS[relation] in names):
                sentence.pairs.append((head, tail, relation))


def refined(relation: dict[str, Any]) -> str | None:
    if relation["type"] == "acquired_by":
        return "ACQUIRED"
    mapped = relation["mapped"]
    return str(mapped) if mapped else None


CONLL04_RELATIONS = ("WORKS_FOR", "LOCATED_IN", "LIVES_IN")
CORE_NAMES = (
    "PRODUCES",
    "PARTNERS_WITH",
    "COMPETES_WITH",
    "ACQUIRED",
    "OWNED_BY",
    "SUBSIDIARY_OF",
    "CUSTOMER_OF",
    "MERGED_WITH",
    "TRADED_ON",
    "REGULATED_BY",
)
# Wikidata's relations in our words; `True`: ours runs the other way.
REDOCRED_NAMES = {
    "employer": ("WORKS_FOR", False),
    "chairperson": ("WORKS_FOR", True),
    "member of sports team": ("WORKS_FOR", False),
    "military branch": ("WORKS_FOR", False),
    "located in administrative entity": ("LOCATED_IN", False),
    "country": ("LOCATED_IN", False),
    "contains administrative entity": ("LOCATED_IN", True),
    "headquarters location": ("LOCATED_IN", False),
    "location of formation": ("LOCATED_IN", False),
    "location": ("LOCATED_IN", False),
    "residence": ("LIVES_IN", False),
    "place of birth": ("LIVES_IN", False),
}
REDOCRED_RELATIONS = (
    "WORKS_FOR",
    "LOCATED_IN",
    "LIVES_IN",
    "PRODUCES",
    "OWNED_BY",
    "SUBSIDIARY_OF",
    "MEMBER_OF",
    "FOUNDED_BY",
    "PARTICIPATES_IN",
)
# These hold by what everybody knows as much as by what a sentence says: too far apart, they teach nothing.
NEARBY = {"LOCATED_IN": 6, "LIVES_IN": 12, "WORKS_FOR": 16}
# Said of a pair that ours does not hold between, and yet no proof against it.
UNCLEAR = {
    "country of citizenship",
    "place of death",
    "work location",
    "applies to jurisdiction",
    "head of government",
    "head of state",
    "position held",
    "educated at",
    "political party",
    "part of",
    "has part",
    "country of origin",
    "continent",
    "located on terrain feature",
    "capital of",
    "capital",
}
MOST_UNRELATED = 10  # pairs of one sentence


def conll04(folder: Path, part: str) -> list[Sentence]:
    result = []
    for record in records(folder / "conll04" / f"{part}.jsonl.gz"):
        soft = {
            n: ALL & ~bits(("PERSON", "ORG", "LOCATION")) | 1
            for n, e in enumerate(record["entities"])
            if not e["mapped"]
        }
        sentence = sentence_of(record, ("PERSON", "ORG", "LOCATION"), "conll04", soft)
        add_pairs(sentence, record, CONLL04_RELATIONS, exhaustive=True)
        result.append(sentence)
    return result


def wnut17(folder: Path, part: str) -> list[Sentence]:
    kinds = ("PRODUCT", "PERSON", "ORG", "LOCATION")
    return [sentence_of(r, kinds, "wnut17") for r in records(folder / "wnut17" / f"{part}.jsonl.gz")]


def crossner(folder: Path, domain: str, part: str) -> list[Sentence]:
    kinds = ("PERSON", "ORG", "LOCATION", "EVENT") + (("PRODUCT",) if domain == "ai" else ())
    path = folder / f"crossner_{domain}" / f"{part}.jsonl.gz"
    return [sentence_of(r, kinds, f"crossner_{domain}") for r in records(path)]


def wikigold(folder: Path) -> list[Sentence]:
    kinds = ("PERSON", "ORG", "LOCATION")
    return [sentence_of(r, kinds, "wikigold") for r in records(folder / "wikigold" / "all.jsonl.gz")]


def held_out(record: dict[str, Any]) -> bool:
    return hashlib.sha256(record["_id"].encode()).digest()[0] % 5 == 0


def core(folder: Path, *, held: bool) -> list[Sentence]:
    result = []
    for record in records(folder / "core_company_relations" / "train.jsonl.gz"):
        if held_out(record) != held:
            continue
        soft = {}
        kind_of = {0: "ORG", 1: "ORG"}
        relation = record["relations"][0] if record["relations"] else None
        if relation and relation["type"] in ("product_or_service_of", "brand_of"):
            kind_of[relation["tail"] if relation.get("invert") else relation["head"]] = "PRODUCT"
        elif relation and relation["type"] == "undefined":
            kind_of = {}
        sentence = sentence_of(record, TYPES, "core", soft, background=ALL)
        for number, entity in enumerate(record["entities"]):
            kind = kind_of.get(number)
            text, span = entity["text"], sentence.entities[number]
            named = (
                any(c.isupper() for c in text)
                and text.lower() not in PRONOUNS
                and not text.lower().startswith(("the company", "our "))
            )
            if kind and named and span.chars[1] > span.chars[0] and span.end >= span.start:
                sentence.allowed[span.start] = label_bit("B", kind)
                for unit in range(span.start + 1, span.end + 1):
                    sentence.allowed[unit] = label_bit("I", kind)
        add_pairs(sentence, record, CORE_NAMES, exhaustive=True)
        result.append(sentence)
    return result


PRONOUNS = {"it", "its", "they", "their", "we", "our", "he", "she", "this", "these", "which", "who", "the"}


def redocred(folder: Path, part: str = "dev") -> list[Sentence]:
    result = []
    for record in records(folder / "redocred" / f"{part}.jsonl.gz"):
        result.extend(_redocred_sentences(record))
    return result


Relations = dict[tuple[int, int], set[str]]


def _redocred_sentences(record: dict[str, Any]) -> Iterator[Sentence]:
    text, entities = record["text"], [_without_article(e) for e in record["entities"]]
    kinds, related = _redocred_facts(record)
    cuts = [0, *(m.end() for m in SENTENCE.finditer(text)), len(text)]
    for start, end in pairwise(cuts):
        kept, soft = [], {}
        for entity in entities:
            if not (start <= entity["start"] and entity["end"] <= end):
                continue
            copy = dict(entity, start=entity["start"] - start, end=entity["end"] - start)
            if not entity["mapped"] and entity["type"] == "MISC":
                kind = kinds.get(entity["cluster"])
                if kind:
                    copy["mapped"] = kind
                else:
                    soft[len(kept)] = 1 | bits(("PRODUCT", "EVENT"))
            elif not entity["mapped"] or names_people(entity["text"]):  # it takes "German" for a place
                continue
            kept.append(copy)
        sentence = sentence_of({"text": text[start:end], "entities": kept}, TYPES, "redocred", soft)
        sentence.universe = ALL
        _relate(sentence, kept, related)
        yield sentence


def _without_article(entity: dict[str, Any]) -> dict[str, Any]:
    if not entity["text"].startswith("the "):
        return entity
    return dict(entity, start=entity["start"] + 4, text=entity["text"][4:])


def _redocred_facts(record: dict[str, Any]) -> tuple[dict[int, str], Relations]:
    """What kind a cluster is where a relation tells, and every relation between two clusters in our words."""
    entities = record["entities"]
    kinds: dict[int, str] = {}
    related: Relations = {}
    for relation in record["relations"]:
        head, tail = entities[relation["head"]]["cluster"], entities[relation["tail"]]["cluster"]
        name = relation["type"]
        if name in PRODUCT_RELATIONS:
            kinds[head if name != "product or material produced" else tail] = "PRODUCT"
        if name in ("participant of", "conflict"):
            kinds[tail] = "EVENT"
        if name == "participant":
            kinds[head] = "EVENT"
        ours, turned = REDOCRED_NAMES.get(name, (relation["mapped"], bool(relation.get("swap"))))
        if name in UNCLEAR:
            related.setdefault((head, tail), set()).add("?")
            related.setdefault((tail, head), set()).add("?")
        elif ours:
            related.setdefault((tail, head) if turned else (head, tail), set()).add(ours)
    return kinds, related


def _relate(sentence: Sentence, kept: list[dict[str, Any]], related: Relations) -> None:
    """Of two clusters the pair of mentions that stand closest is related; of the others nothing is known."""
    sentence.relation_universe = 1 | sum(1 << RELATIONS.index(name) for name in REDOCRED_RELATIONS)
    closest: dict[tuple[int, int], tuple[int, int, int]] = {}
    for head, a in enumerate(kept):
        for tail, b in enumerate(kept):
            key, gap = (a["cluster"], b["cluster"]), _gap(sentence.entities[head], sentence.entities[tail])
            if key[0] != key[1] and (key not in closest or gap < closest[key][0]):
                closest[key] = (gap, head, tail)
    unrelated = []
    for key, (gap, head, tail) in closest.items():
        names = related.get(key, set())
        names = names - {"?"} or names
        if not names:
            unrelated.append((head, tail, 0))
        elif len(names) == 1 and gap <= NEARBY.get(name := next(iter(names)), 99) and name in REDOCRED_RELATIONS:
            sentence.pairs.append((head, tail, RELATIONS.index(name)))
    unrelated.sort(key=lambda pair: hashlib.sha256(f"{sentence.text}{pair}".encode()).digest())
    sentence.pairs += unrelated[:MOST_UNRELATED]


def _gap(one: Entity, two: Entity) -> int:
    return max(one.start, two.start) - min(one.end, two.end)


def training_sentences(folder: Path) -> list[Sentence]:
    """conll04 states no licence and wikigold stays unseen: both only measure."""
    sentences = wnut17(folder, "train") + core(folder, held=False)
    for domain in CROSSNER:
        sentences += crossner(folder, domain, "train") * 3  # small sets, hand annotated
    return sentences + redocred(folder)
