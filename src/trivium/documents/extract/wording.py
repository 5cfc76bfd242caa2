"""Relationships that the words between two names spell out, whatever model is there, and also without one.

A pattern is tried on neighbouring names only: what stands between them must match as a whole.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from trivium.documents.extract.regions import rank
from trivium.model.vendor import Link, Mention

SPELLED_OUT = 0.75
LONGEST = 90  # characters between two names

_ROLE = (
    r"(?:(?:co-?|vice[- ]|deputy |chief |senior |managing |executive |assistant |associate |acting |general |former )*"
    r"(?:\w*chair(?:man|woman|person)?|president|director|head|chief|c[etfiom]o|founder|owner|partner|executive|officer"
    r"|manager|managing editor|editor|reporter|correspondent|writer|columnist|photographer|spokes(?:man|woman|person)"
    r"|analyst|economist|professor|lecturer|teacher|researcher|fellow|scientist|engineer|developer|architect|designer"
    r"|administrator|commissioner|commander|captain|colonel|general|admiral|sergeant|secretary|treasurer|minister"
    r"|ambassador|official|representative|leader|member|lawyer|attorney|counsel|consultant|adviser|advisor|expert"
    r"|specialist|coordinator|supervisor|superintendent|inspector|agent|judge|justice|dean|coach|player|pilot|lead|boss"
    r"|employee|worker|\w+ologist|physicist|physician|chemist|curator|librarian|producer|publisher|strategist"
    r"|candidate|aide|assistant|lobbyist|deputy|anchor(?:man|woman)?|trader|broker|sponsor|trustee|governor|clerk|host|programmer|buyer))"
)
_HONORIFIC = r"(?: ?\b(?:Mr|Mrs|Ms|Dr|Prof|Lt|Col|Gen|Maj|Capt|Sgt|Adm|Cmdr|Sen|Rep|Gov)\b ?\.?)*"
_RANK = r"(?:Lt|Col|Gen|Maj|Capt|Sgt|Adm|Cmdr|Det|Officer|Detective|Captain|Sergeant|Lieutenant)\b ?\.?"
_OF_THE = (
    r"(?: the| a| an)?(?: (?!(?:who|that|which|to|and|or|but|against|by|over|from|said|told)\b)[\w-]+){0,4}(?: ?, the)?"
)
_AGE = r" ?,? ?(?:(?:\d\d|[DRI]-[A-Z][\w.]*) ?, ?)?"  # or the party and state of a politician
_SITE = (
    r"bureau|store|plant|offices?|branch|site|facility|factory|campus|headquarters|center|laboratory|station"
    r"|division"
)
_DATE = r" (?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*\.?(?: \d{1,2})?(?: ?,? \d{4})?"
_IN = r"(?:in|of|near|at|outside|north of|south of|east of|west of)"

_OF_A_PLACE = (
    r"(?:resident|native|citizen|mayor|governor|senator|congress(?:man|woman)|president|premier|king|queen"
    r"|prince|emperor|sheriff|farmer|dictator)"
)

# head types, tail types, the words between, relationship, whether the tail stands first in the text
_Pattern = tuple[tuple[str, ...], tuple[str, ...], str, str, bool]
_BETWEEN: tuple[_Pattern, ...] = (
    (
        ("ORG",),
        ("ORG", "PRODUCT"),
        r"(?:has |have |had )?(?:acquired|acquires|bought|purchased|took over|to acquire|agreed to buy|will acquire"
        r"|is acquiring)(?: the)?(?: company| startup| start-up)?",
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
        r"(?:has |have )?(?:develops?|developed|makes?|made|produces?|produced|launch(?:es|ed)|releas(?:es|ed)|offers?"
        r"|announced|unveiled|introduced|ships?|sells?|maintains?|maker of|the maker of|manufactures?)"
        r"(?: the| its| a| an)?"
        r"(?: new)?",
        "PRODUCES",
        False,
    ),
    (
        ("ORG",),
        ("PRODUCT",),
        r"(?:(?:,? (?:is|was|are)? ?(?:an? [\w -]{0,40})?)?(?:developed|made|built|created|maintained|produced"
        r"|manufactured|offered|released|sold|designed|published) )?(?:by|from)",
        "PRODUCES",
        True,
    ),
    (
        ("PERSON",),
        ("ORG",),
        rf"{_AGE}(?:who |has been |is |was |as |now |then |also )*(?:the |an? |one of the |its )?"
        rf"(?:[\w'-]+ ){{0,4}}{_ROLE}s?(?: emeritus)?(?: (?:of|for|in|at) [a-z]+(?: (?:and )?[a-z]+){{0,3}})?"
        rf",? ?(?:of|at|for|with|from|in|on|to){_OF_THE}",
        "WORKS_FOR",
        False,
    ),
    (("PERSON",), ("ORG",), r" ?,? ?(?:of|at|from)(?: the)?(?: [a-z-]+)?|\(", "WORKS_FOR", False),
    (("PERSON",), ("ORG",), rf",? ?{_ROLE} ?,", "WORKS_FOR", False),
    (
        ("PERSON",),
        ("ORG",),
        rf"(?: ?['’]s)?(?: [\w-]+){{0,3}} ?{_ROLE}s? ?,?(?: ?{_ROLE})?{_HONORIFIC}",
        "WORKS_FOR",
        True,
    ),
    (
        ("PERSON",),
        ("ORG",),
        rf"{_AGE}(?:who )?(?:has |had |is |was |once |later |now |currently )*"
        r"(?:works?|worked|working|employed|teaches|taught|served) (?:for|at|with|by|in)(?: the)?",
        "WORKS_FOR",
        False,
    ),
    (
        ("PERSON",),
        ("ORG",),
        rf"{_AGE}(?:who )?(?:has )?(?:joined|joins|heads|headed|leads|led|runs|ran|directs|directed|chairs|chaired"
        rf"|manages|managed|owns|owned|founded|co-founded){_OF_THE}",
        "WORKS_FOR",
        False,
    ),
    (("PERSON",), ("ORG",), _RANK, "WORKS_FOR", True),
    (
        ("PERSON",),
        ("ORG",),
        r" ?,? ?(?:which |that )?(?:is |was )?(?:headed|led|run|founded|chaired|directed|owned)(?: in \d{4})? by",
        "WORKS_FOR",
        True,
    ),
    (
        ("PERSON",),
        ("ORG",),
        r"(?:has )?(?:covers?|covered|writes?|wrote|reports?|reported|plays?|played)(?: [\w-]+){0,4} for(?: the)?",
        "WORKS_FOR",
        False,
    ),
    (("PERSON",), ("ORG",), r"(?:has )?(?:named|appointed|hired|promoted|elected)", "WORKS_FOR", True),
    (
        ("ORG",),
        ("ORG",),
        r"(?:has |have )?(?:partners?|partnered|is partnering|teamed up|collaborates?|collaborated|works closely"
        r"|cooperates?|announced a partnership|entered (?:into )?a partnership|formed an alliance) with",
        "PARTNERS_WITH",
        False,
    ),
    (
        ("ORG", "PRODUCT"),
        ("ORG", "PRODUCT"),
        r"(?:(?:is|are) )?(?:competes?|competing|competed) (?:directly )?(?:with|against)"
        r"|(?:is )?an? (?:direct )?(?:competitor|rival) (?:of|to)|rivals?",
        "COMPETES_WITH",
        False,
    ),
    (
        ("ORG", "EVENT"),
        ("LOCATION",),
        r",? ?(?:which |that )?(?:is |are |was )?(?:an? [\w -]{2,30})?"
        r"(?:headquartered|headquarters|based|located|domiciled|held|takes place|took place|offices?|campus) in"
        r"(?: the)?",
        "LOCATED_IN",
        False,
    ),
    (
        ("ORG", "EVENT"),
        ("LOCATION",),
        rf"(?: (?:{_SITE}))?,? ?(?:here )?{_IN}(?: the)?(?: [a-z-]+){{0,2}}(?: of)?",
        "LOCATED_IN",
        False,
    ),
    (("ORG",), ("LOCATION",), rf" ?, an? [\w -]{{2,50}} {_IN}(?: [a-z]+)?", "LOCATED_IN", False),
    (("ORG", "EVENT"), ("LOCATION",), r",|\(", "LOCATED_IN", False),
    (("ORG",), ("LOCATION",), r" ?['’]s", "LOCATED_IN", False),
    (("ORG",), ("LOCATION",), rf"(?: ?,{_DATE})? ?\(", "LOCATED_IN", True),  # a dateline: where an agency reports from
    (("ORG",), ("LOCATION",), r"(?:-| - )based(?: [a-z-]+){0,3}", "LOCATED_IN", True),
    (("ORG",), ("LOCATION",), r" ?['’]s(?: [a-z-]+){0,2}|", "LOCATED_IN", True),
    (
        ("PERSON",),
        ("LOCATION",),
        rf"{_AGE}(?:who )?(?:lives|lived|resides|grew up|was born|born) (?:in|near)",
        "LIVES_IN",
        False,
    ),
    (("PERSON",), ("LOCATION",), rf"{_AGE}of", "LIVES_IN", False),
    (
        ("PERSON",),
        ("LOCATION",),
        rf"{_AGE}(?:the |an? )?(?:[\w-]+ ){{0,3}}{_OF_A_PLACE} (?:of|in|from)(?: the)?",
        "LIVES_IN",
        False,
    ),
    (
        ("PERSON",),
        ("LOCATION",),
        rf"(?: ?['’]s)?(?: [\w-]+){{0,2}} ?(?:{_OF_A_PLACE}|Gov\\b ?\\.?) ?,?{_HONORIFIC}",
        "LIVES_IN",
        True,
    ),
)
_COMPILED = [
    (heads, tails, re.compile(rf"\s*(?:{words})\s*", re.I), name, swapped)
    for heads, tails, words, name, swapped in _BETWEEN
]
_DIRECTION = r"(?: [a-z-]+){0,2}"
_PART = r" (?:section|area|district|provinces?|county|region|part|suburb|plant|site|islands?|airport|coast|side)"
_WITHIN = re.compile(rf"\s*(?:,|,? ?in(?: the)?{_DIRECTION}|\()\s*")
_INSIDE = re.compile(rf"(?:(?:{_PART})? ?,? ?in|{_PART} of)(?: the)?{_DIRECTION}\s*")
_CITY_OF = re.compile(
    r"\s*(?:(?:['’]s )?(?:\w+ )?(?:capital|city|town|village|port|province|state|region)(?: city)?(?: of|,)?"
    r"|['’]s(?: \w+)?)\s*"
)
_AND = re.compile(r"\s*,?\s*(?:and|or|&)\s*")
_OPENED, _CLOSED = re.compile(r"\s*\(\s*"), re.compile(r"\s*\)")
_APPOSED = re.compile(rf"(?=.*\S){_AGE}(?:is |was )?(?:the |an? |another |former )*\s*")
_ASIDE = re.compile(r"\s*\([^()]*\)|[\"“”`]")  # brackets and quotation marks between two names
_ROLE_AFTER = re.compile(rf" ?(?:['’]s)?(?: [a-z-]+){{0,3}} ?{_ROLE}\b", re.I)
_ROLE_BEFORE = re.compile(rf"\b{_ROLE} (?:of|for|at)(?: the)?(?: [\w-]+){{0,2}} ?$", re.I)
_THEN_NAMED = re.compile(rf"\s*,?{_HONORIFIC}\s*")
_OF = re.compile(r"\s*,?\s*(?:of|at|from)\s*")
_OWN = re.compile(r"\s*['’]s\s*")
_SHARED = ("WORKS_FOR", "LOCATED_IN", "LIVES_IN")


def worded(sentence: str, mentions: Sequence[Mention]) -> list[Link]:
    """By neighbouring names; two that are joined, or are one name and its abbreviation, share what is said of either;
    and what is in a town is also in the country where the town lies."""
    order = sorted(range(len(mentions)), key=lambda n: mentions[n].start)
    near = list(pairwise(order))
    links = [link for left, right in near if (link := _between(sentence, left, right, mentions))]
    links += _over_places(sentence, order, mentions)
    links += _in_lists(sentence, near, links, mentions)
    for left, right in near:
        if _share(sentence, mentions[left], mentions[right]):
            links += [_handed(link, {left: right, right: left}) for link in links if _hands(link, left, right)]
    return [*links, *_carried_on(links)]


def _between(sentence: str, left: int, right: int, mentions: Sequence[Mention]) -> Link | None:
    between = sentence[mentions[left].end : mentions[right].start]
    if len(between) > LONGEST:
        return None
    if (mentions[left].entity_type, mentions[right].entity_type) == ("LOCATION", "LOCATION"):
        return _place(sentence, between, left, right, mentions)
    between = _ASIDE.sub("", _CLOSED.sub("", between, count=1) if between.lstrip().startswith(")") else between)
    if link := _matched(between, left, right, mentions):
        return link
    kinds = mentions[left].entity_type, mentions[right].entity_type
    after = sentence[mentions[right].end :]
    if kinds == ("PERSON", "ORG") and _APPOSED.fullmatch(between) and _ROLE_AFTER.match(after):
        return Link(left, right, "WORKS_FOR", SPELLED_OUT)
    before = sentence[max(0, mentions[left].start - LONGEST) : mentions[left].start]
    if kinds == ("ORG", "PERSON") and _THEN_NAMED.fullmatch(between) and _ROLE_BEFORE.search(before):
        return Link(right, left, "WORKS_FOR", SPELLED_OUT)
    return None


def _matched(between: str, left: int, right: int, mentions: Sequence[Mention]) -> Link | None:
    for heads, tails, words, name, swapped in _COMPILED:
        head, tail = (right, left) if swapped else (left, right)
        fits = mentions[head].entity_type in heads and mentions[tail].entity_type in tails
        if fits and words.fullmatch(between):
            return Link(head, tail, name, SPELLED_OUT)
    return None


def _over_places(sentence: str, order: Sequence[int], mentions: Sequence[Mention]) -> list[Link]:
    """ "Ann Lee of Ohio, chairman of Globex": what stands between a person and a company may hold one place."""
    found = []
    for left, middle, right in zip(order, order[1:], order[2:], strict=False):
        kinds = [mentions[n].entity_type for n in (left, middle, right)]
        if (kinds[0], kinds[2]) == ("PERSON", "ORG") and kinds[1] not in ("PERSON", "ORG"):
            inner = sentence[mentions[middle].end : mentions[right].start]
            outer = sentence[mentions[left].end : mentions[middle].start]
            if _OWN.fullmatch(inner) and _OF.fullmatch(outer):  # of New York's Globex
                found.append(Link(left, right, "WORKS_FOR", SPELLED_OUT))
            elif inner.lstrip(". ").startswith(",") and (link := _matched(inner.lstrip(". "), left, right, mentions)):
                found.append(link)
    return found


def _place(sentence: str, between: str, left: int, right: int, mentions: Sequence[Mention]) -> Link | None:
    """A town, then what it lies in; or "the Texas city of Austin"."""
    ranks = [_rank(sentence, mentions[n]) for n in (left, right)]
    if (ranks[1] > ranks[0] and _WITHIN.fullmatch(between)) or (ranks[1] >= ranks[0] and _INSIDE.fullmatch(between)):
        return Link(left, right, "LOCATED_IN", SPELLED_OUT)
    if ranks[0] > ranks[1] and _CITY_OF.fullmatch(between):
        return Link(right, left, "LOCATED_IN", SPELLED_OUT)
    return None


def _in_lists(
    sentence: str, near: Sequence[tuple[int, int]], links: Sequence[Link], mentions: Sequence[Mention]
) -> list[Link]:
    """ "Place, town, state": the place lies in the town."""
    towns = {link.head for link in links if link.relationship_type == "LOCATED_IN" and link.head < link.tail}
    return [
        Link(left, right, "LOCATED_IN", SPELLED_OUT)
        for left, right in near
        if right in towns
        and mentions[left].entity_type == mentions[right].entity_type == "LOCATION"
        and not _rank(sentence, mentions[left])
        and sentence[mentions[left].end : mentions[right].start].strip() == ","
    ]


def _rank(sentence: str, mention: Mention) -> int:
    return rank(sentence[mention.start : mention.end])


def _share(sentence: str, left: Mention, right: Mention) -> bool:
    between = sentence[left.end : right.start]
    if left.entity_type != right.entity_type or left.entity_type not in ("PERSON", "ORG", "LOCATION"):
        return False
    if left.entity_type == "ORG":  # the name with its abbreviation, or a part with its whole
        introduced = _OPENED.fullmatch(between) and _CLOSED.match(sentence, right.end)
        return bool(introduced or _OWN.fullmatch(between))
    ranked = left.entity_type == "LOCATION" and (_rank(sentence, left) or _rank(sentence, right))
    return bool(not ranked and _AND.fullmatch(between))


def _hands(link: Link, left: int, right: int) -> bool:
    return link.relationship_type in _SHARED and len({link.head, link.tail} & {left, right}) == 1


def _handed(link: Link, other: dict[int, int]) -> Link:
    head, tail = other.get(link.head, link.head), other.get(link.tail, link.tail)
    return Link(head, tail, link.relationship_type, link.confidence)


def _carried_on(links: Sequence[Link]) -> list[Link]:
    places = {link.head: link.tail for link in links if link.relationship_type == "LOCATED_IN"}
    return [
        Link(link.head, places[link.tail], link.relationship_type, SPELLED_OUT)
        for link in links
        if link.relationship_type in ("LOCATED_IN", "LIVES_IN") and places.get(link.tail, link.head) != link.head
    ]
