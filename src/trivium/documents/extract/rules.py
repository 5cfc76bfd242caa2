"""What wording alone says: known names the model missed, and relationships spelled out between two mentions."""

import re
from collections.abc import Sequence

from trivium.documents.extract import gazetteer
from trivium.documents.extract.names import compact
from trivium.documents.extract.wording import worded
from trivium.model.vendor import Link, Mention

RULES_VERSION = "rules-2"
KNOWN_NAME, SURE = 0.8, 0.95

_LEGAL = re.compile(
    r"\b[A-Z][\w&'’-]*(?: (?:(?:of|and|&|the) )?[A-Z][\w&'’-]*){0,4},? (?:Inc|Corp|Corporation|Ltd|LLC|GmbH|PLC|plc)\b\.?"
)

# SEOUL, May 3 (Yonhap) -- …: the place in capitals or marked off, then who reports
_DATELINE = re.compile(
    r"(?:\(\s?\w+\s?\)\s)?[A-Z][\w.'’-]*(?:[ ,]+[A-Z0-9][\w.'’-]*){0,7}\s*\(\s?(?P<agency>[A-Z][\w-]+(?: [A-Z][\w-]+){0,2})\s?\)"
    r"\s*(?:--|[-–—_:]|$)"
)


def known_mentions(sentence: str, found: Sequence[Mention]) -> list[Mention]:
    """The given mentions, with well-known names and names with a legal form where there are none; a well-known
    product that was half-heartedly taken for a company is one."""
    found = [_retyped(sentence, mention) for mention in found]
    taken = [(m.start, m.end) for m in found]
    more: list[Mention] = []
    for match in gazetteer.pattern().finditer(sentence):
        if _free(match.span(), taken):
            more.append(Mention(*match.span(), gazetteer.known_types()[match.group()], KNOWN_NAME))
            taken.append(match.span())
    named = [match.span() for match in _LEGAL.finditer(sentence)]
    if dateline := _DATELINE.match(sentence):
        named.append(dateline.span("agency"))
    for span in named:
        if _free(span, taken):
            more.append(Mention(*span, "ORG", KNOWN_NAME))
            taken.append(span)
    return sorted([*found, *more], key=lambda m: m.start)


def _retyped(sentence: str, mention: Mention) -> Mention:
    known = gazetteer.known_types().get(sentence[mention.start : mention.end])
    agrees = known == mention.entity_type and mention.confidence < KNOWN_NAME
    if agrees or (known == "PRODUCT" and mention.entity_type == "ORG" and mention.confidence < SURE):
        return Mention(mention.start, mention.end, known or mention.entity_type, KNOWN_NAME)
    return mention


def spelled_out(sentence: str, mentions: Sequence[Mention], found: Sequence[Link]) -> list[Link]:
    """What the wording says and whose a well-known product is, where the model saw nothing between the two."""
    known = {frozenset((link.head, link.tail)) for link in found}
    links: list[Link] = []
    for link in (*worded(sentence, mentions), *_known_makers(sentence, mentions)):
        pair = frozenset((link.head, link.tail))
        if pair not in known:
            known.add(pair)
            links.append(link)
    return links


def _known_makers(sentence: str, mentions: Sequence[Mention]) -> list[Link]:
    found = [_known_maker(sentence, left, left + 1, mentions) for left in range(len(mentions) - 1)]
    return [link for link in found if link]


def _known_maker(sentence: str, left: int, right: int, mentions: Sequence[Mention]) -> Link | None:
    for head, tail in ((left, right), (right, left)):
        if mentions[head].entity_type == "ORG" and mentions[tail].entity_type == "PRODUCT":
            names = [compact(sentence[mentions[n].start : mentions[n].end]) for n in (head, tail)]
            if gazetteer.makers().get(names[1]) in (names[0], compact(gazetteer.other_names().get(names[0], "-"))):
                return Link(head, tail, "PRODUCES", KNOWN_NAME)
    return None


def _free(span: tuple[int, int], taken: Sequence[tuple[int, int]]) -> bool:
    return all(span[1] <= start or end <= span[0] for start, end in taken)
