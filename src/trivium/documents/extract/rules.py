"""What wording alone says: known names the model missed, and relationships spelled out between two mentions."""

import re
from collections.abc import Sequence

from trivium.documents.extract import gazetteer
from trivium.documents.extract.names import clean, compact
from trivium.model.vendor import Link, Mention

RULES_VERSION = "rules-1"
KNOWN_NAME, SPELLED_OUT, SURE = 0.8, 0.75, 0.95

_ROLE = (
    r"(?:chief [\w ]{3,30} officer|c[etfiom]o|ceo|founder|co-?founder|president|vice[- ]president|chair(?:man|woman)?"
    r"|director|head|manager|engineer|developer|spokes(?:man|woman|person)|analyst|lead|partner)"
)
_LEGAL = re.compile(
    r"\b[A-Z][\w&'’-]*(?: (?:(?:of|and|&|the) )?[A-Z][\w&'’-]*){0,4},? (?:Inc|Corp|Corporation|Ltd|LLC|GmbH|PLC|plc)\b\.?"
)

# head types, tail types, the words between (between the two in the text's order), relationship, whether tail comes first
_Pattern = tuple[tuple[str, ...], tuple[str, ...], str, str, bool]
_BETWEEN: tuple[_Pattern, ...] = (
    (
        ("ORG",),
        ("ORG", "PRODUCT"),
        r"(?:has |have |had )?(?:acquired|acquires|bought|purchased|took over|to acquire|agreed to buy|will acquire|is acquiring)(?: the)?(?: company| startup| start-up)?",
        "ACQUIRED",
        False,
    ),
    (
        ("ORG",),
        ("ORG", "PRODUCT"),
        r"(?:(?:was|is|were|has been|being) )?(?:acquired|bought|purchased|taken over|owned) by",
        "ACQUIRED",
        True,
    ),
    (("ORG",), ("PRODUCT",), r"['’]s?(?: new| latest| own| popular| flagship)?", "PRODUCES", False),
    (
        ("ORG",),
        ("PRODUCT",),
        r"(?:has |have )?(?:develops?|developed|makes?|made|produces?|produced|launch(?:es|ed)|releas(?:es|ed)|offers?|announced|unveiled|introduced|ships?|sells?|maintains?|maker of|the maker of|manufactures?)(?: the| its| a| an)?(?: new)?",
        "PRODUCES",
        False,
    ),
    (
        ("ORG",),
        ("PRODUCT",),
        r"(?:(?:,? (?:is|was|are)? ?(?:an? [\w -]{0,40})?)?(?:developed|made|built|created|maintained|produced|manufactured|offered|released|sold|designed|published) )?(?:by|from)",
        "PRODUCES",
        True,
    ),
    (
        ("PERSON",),
        ("ORG",),
        rf",? ?(?:who is |is |was |as )?(?:the |an? )?(?:[\w-]+ ){{0,3}}{_ROLE}(?: of| at| for|,)(?: the)?",
        "WORKS_FOR",
        False,
    ),
    (("PERSON",), ("ORG",), rf"(?:['’]s )?(?:[\w-]+ ){{0,2}}{_ROLE},?", "WORKS_FOR", True),
    (
        ("PERSON",),
        ("ORG",),
        r"(?:works?|worked|working|is employed|has worked) (?:for|at|with)(?: the)?|joined|joins",
        "WORKS_FOR",
        False,
    ),
    (
        ("ORG",),
        ("ORG",),
        r"(?:has |have )?(?:partners?|partnered|is partnering|teamed up|collaborates?|collaborated|works closely|cooperates?|announced a partnership|entered (?:into )?a partnership|formed an alliance) with",
        "PARTNERS_WITH",
        False,
    ),
    (
        ("ORG", "PRODUCT"),
        ("ORG", "PRODUCT"),
        r"(?:(?:is|are) )?(?:competes?|competing|competed) (?:directly )?(?:with|against)|(?:is )?an? (?:direct )?(?:competitor|rival) (?:of|to)|rivals?",
        "COMPETES_WITH",
        False,
    ),
    (
        ("ORG",),
        ("LOCATION",),
        r",? ?(?:which |that )?(?:is |are |was )?(?:an? [\w -]{2,30})?(?:headquartered|based|located|domiciled) in(?: the)?",
        "LOCATED_IN",
        False,
    ),
    (("ORG",), ("LOCATION",), r"-based", "LOCATED_IN", True),
)
_COMPILED = [
    (heads, tails, re.compile(rf"\s*{words}\s*", re.I), name, swapped)
    for heads, tails, words, name, swapped in _BETWEEN
]


def known_mentions(sentence: str, found: Sequence[Mention]) -> list[Mention]:
    """The model's mentions, with well-known names and names with a legal form where it saw nothing; a well-known
    product that it half-heartedly took for a company is one."""
    found = [_retyped(sentence, _without_full_stop(sentence, mention)) for mention in found]
    taken = [(m.start, m.end) for m in found]
    more: list[Mention] = []
    for match in gazetteer.pattern().finditer(sentence):
        if _free(match.span(), taken):
            more.append(Mention(*match.span(), gazetteer.known_types()[match.group()], KNOWN_NAME))
            taken.append(match.span())
    for match in _LEGAL.finditer(sentence):
        if _free(match.span(), taken):
            more.append(Mention(*match.span(), "ORG", KNOWN_NAME))
            taken.append(match.span())
    return sorted([*found, *more], key=lambda m: m.start)


def _without_full_stop(sentence: str, mention: Mention) -> Mention:
    """The sentence's own full stop is no part of its last name."""
    text = sentence[mention.start : mention.end]
    if not text.endswith(".") or sentence[mention.end :].strip() or clean(text).endswith("."):
        return mention
    return Mention(mention.start, mention.start + len(text[:-1].rstrip()), mention.entity_type, mention.confidence)


def _retyped(sentence: str, mention: Mention) -> Mention:
    known = gazetteer.known_types().get(sentence[mention.start : mention.end])
    if known == "PRODUCT" and mention.entity_type == "ORG" and mention.confidence < SURE:
        return Mention(mention.start, mention.end, known, KNOWN_NAME)
    return mention


def spelled_out(sentence: str, mentions: Sequence[Mention], found: Sequence[Link]) -> list[Link]:
    """Relationships between neighbouring mentions that the words between them name, where the model saw none."""
    related = {frozenset((link.head, link.tail)) for link in found}
    links: list[Link] = []
    for left in range(len(mentions) - 1):
        right = left + 1
        if frozenset((left, right)) in related:
            continue
        between = sentence[mentions[left].end : mentions[right].start]
        link = _worded(between, left, right, mentions) if len(between) <= 80 else None
        link = link or _known_maker(sentence, left, right, mentions)
        if link:
            links.append(link)
    return links


def _worded(between: str, left: int, right: int, mentions: Sequence[Mention]) -> Link | None:
    for heads, tails, words, name, swapped in _COMPILED:
        head, tail = (right, left) if swapped else (left, right)
        fits = mentions[head].entity_type in heads and mentions[tail].entity_type in tails
        if fits and words.fullmatch(between):
            return Link(head, tail, name, SPELLED_OUT)
    return None


def _known_maker(sentence: str, left: int, right: int, mentions: Sequence[Mention]) -> Link | None:
    for head, tail in ((left, right), (right, left)):
        if mentions[head].entity_type == "ORG" and mentions[tail].entity_type == "PRODUCT":
            names = [compact(sentence[mentions[n].start : mentions[n].end]) for n in (head, tail)]
            if gazetteer.makers().get(names[1]) in (names[0], compact(gazetteer.other_names().get(names[0], "-"))):
                return Link(head, tail, "PRODUCES", KNOWN_NAME)
    return None


def _free(span: tuple[int, int], taken: Sequence[tuple[int, int]]) -> bool:
    return all(span[1] <= start or end <= span[0] for start, end in taken)
