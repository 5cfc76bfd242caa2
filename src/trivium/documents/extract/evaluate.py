"""Scores an extractor on labelled text: precision, recall and F1, exact span and type.

A set is one JSON object a line: text, entities (start, end, mapped), relations (head, tail, mapped, swap). Types that
a set does not annotate are left out of its score. Relations are scored twice: given the set's entities, and end to end.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from trivium.errors import InvalidInput
from trivium.model.vendor import ENTITY_TYPES, SYMMETRIC, EntityType, Extraction, Link, Mention
from trivium.ports.extractor import Extractor

Triple = tuple[tuple[int, int], str, tuple[int, int]]
Scores = dict[str, dict[str, float]]


def evaluate_extraction(path: Path, extractor: Extractor) -> dict[str, Any]:
    """`entities` and `relations` by type, with `micro` over all; `relations_end_to_end` where there are relations."""
    records = list(read_set(path))
    texts = [record["text"] for record in records]
    found = extractor.extract(texts)
    report: dict[str, Any] = {"entities": _entity_scores(records, found)}
    gold = [_gold_triples(record) for record in records]
    names = {name for triples in gold for _, name, _ in triples}
    if names:
        given = [_given(record) for record in records]
        links = extractor.link(texts, given)
        report["relations"] = score(
            gold, [_triples(m, found_links) for m, found_links in zip(given, links, strict=True)], names
        )
        ends = [_triples(extraction.mentions, extraction.links) for extraction in found]
        report["relations_end_to_end"] = score(gold, ends, names)
    else:
        report["relations"] = {}
    return report


def read_set(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _record(line, number, path)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}", field="file") from error


def _record(line: str, number: int, path: Path) -> dict[str, Any]:
    try:
        record = json.loads(line)
        text, entities = record["text"], record["entities"]
        record.setdefault("relations", [])
        if isinstance(text, str) and all(0 <= e["start"] < e["end"] <= len(text) for e in entities):
            return dict(record)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InvalidInput(
        f"{path.name}, line {number}: expected text, entities (start, end, mapped) and relations (head, tail, mapped)",
        field="file",
    )


def _entity_scores(records: Sequence[dict[str, Any]], found: Sequence[Extraction]) -> Scores:
    gold = [{(e["start"], e["end"], e["mapped"]) for e in r["entities"] if e.get("mapped")} for r in records]
    kinds = {kind for row in gold for _, _, kind in row}
    predicted = [{(m.start, m.end, m.entity_type) for m in e.mentions if m.entity_type in kinds} for e in found]
    counts: Counter[tuple[str, str]] = Counter()
    for right, guessed in zip(gold, predicted, strict=True):
        for item in right:
            counts[item[2], "gold"] += 1
        for item in guessed:
            counts[item[2], "found"] += 1
            counts[item[2], "right"] += item in right
    return _table(counts, [kind for kind in ENTITY_TYPES if kind in kinds])


def _given(record: dict[str, Any]) -> list[Mention]:
    """The set's entities; one without a type of ours goes in as unknown."""
    return [
        Mention(e["start"], e["end"], cast(EntityType, e.get("mapped") or "UNKNOWN"), 1.0) for e in record["entities"]
    ]


def _gold_triples(record: dict[str, Any]) -> set[Triple]:
    places = [(e["start"], e["end"]) for e in record["entities"]]
    triples = set()
    for relation in record["relations"]:
        if relation.get("mapped"):
            head, tail = relation["head"], relation["tail"]
            if relation.get("swap"):
                head, tail = tail, head
            triples.add(normal((places[head], relation["mapped"], places[tail])))
    return triples


def _triples(mentions: Sequence[Mention], links: Iterable[Link]) -> set[Triple]:
    places = [(m.start, m.end) for m in mentions]
    return {normal((places[link.head], link.relationship_type, places[link.tail])) for link in links}


def normal(triple: Triple) -> Triple:
    """One form for what means the same: a buyer ACQUIRED what is then OWNED_BY it; some relations have no direction."""
    head, name, tail = triple
    if name == "ACQUIRED":
        head, name, tail = tail, "OWNED_BY", head
    if name in SYMMETRIC and tail < head:
        head, tail = tail, head
    return head, name, tail


def score(gold: Sequence[set[Triple]], found: Sequence[set[Triple]], names: set[str]) -> Scores:
    counts: Counter[tuple[str, str]] = Counter()
    for right, guessed in zip(gold, found, strict=True):
        for item in right:
            counts[item[1], "gold"] += 1
        for item in guessed:
            if item[1] in names:
                counts[item[1], "found"] += 1
                counts[item[1], "right"] += item in right
    return _table(counts, sorted(names))


def _table(counts: Counter[tuple[str, str]], kinds: Sequence[str]) -> Scores:
    totals = {what: sum(counts[kind, what] for kind in kinds) for what in ("gold", "found", "right")}
    table = {"micro": _figures(totals["right"], totals["found"], totals["gold"])}
    for kind in kinds:
        table[kind] = _figures(counts[kind, "right"], counts[kind, "found"], counts[kind, "gold"])
    return table


def _figures(right: int, found: int, gold: int) -> dict[str, float]:
    return {
        "precision": round(right / found, 4) if found else 0.0,
        "recall": round(right / gold, 4) if gold else 0.0,
        "f1": round(2 * right / (found + gold), 4) if found + gold else 0.0,
    }
