"""Sentences made from patterns of news and business writing, filled with names of the training sets.

The licensed sets hold few sentences that say who works where or what lies where. A pattern has slots (`{P}` person,
`{O}` company, `{C}` city, `{S}` state or country, `{R}` product, `{E}` event, numbered where there are two) and says
which relationships hold; between all other pairs none does. Small letters are ordinary words, chosen at random.
"""

import random
import re
from collections.abc import Sequence

from training import sets
from training.sets import RELATIONS, TYPES, Sentence

KIND = {"P": "PERSON", "O": "ORG", "C": "LOCATION", "S": "LOCATION", "R": "PRODUCT", "E": "EVENT"}
PATTERNS = """
{O} {title} {P} {said} .|P W O
{say} {O} {title} {P} .|P W O
{P} , {a} {title} {of} {O} , {said} .|P W O
{P} , {title} {of} the {O} , {said} .|P W O
{say} {P} , {title} {of} {O} .|P W O
{say} {P} of {O} .|P W O
{P} , {O} 's {title} , {said} .|P W O
{O} 's {title} , {P} , {said} .|P W O
The {title} of {O} , {P} , {said} .|P W O
{P} , {title} , {O}|P W O
{P} ( {O} ) {said} .|P W O
{P} {joined} {O} in {year} .|P W O
{P} {joined} {O} as {title} .|P W O
{O} {named} {P} {title} .|P W O
{O} {named} {P} as its new {title} .|P W O
{P} resigned as {title} of {O} in {year} .|P W O
{P} has been {title} of {O} since {year} .|P W O
{P} is {a} {title} {of} {O} in {C} .|P W O;O L C
{P} , {a} {title} {of} {O} in {C} , {S} , {said} .|P W O;O L C;O L S;C L S
{P} , who {works} {O} , {said} .|P W O
{P1} and {P2} of {O} {said} .|P1 W O;P2 W O
{P} of {O} and {P2} , a lawyer , {said} .|P W O
{title} {P} of {O} met {P2} in {C} .|P W O
{O} {title} {P} told {O2} that {clause} .|P W O
{O} {title} {P} accused {O2} of {thing} .|P W O
{P} , a {title} with {O} , met officials of {O2} in {C} .|P W O
By {P} , {O} writer|P W O
{P} , formerly of {O} , {said} .|P W O
{P} {said} at {a} {event} of {O} .|
{P} criticised {O} for {thing} .|
{P} sued {O} over {thing} .|
{P} told {O} in an interview that {clause} .|
{P} bought shares of {O} in {year} .|
{P} praised the work of {O} in {C} .|
{O} in {C} {said} .|O L C
{O} of {C} {said} .|O L C
{O} , based in {C} , {said} .|O L C
{O} , based in {C} , {S} , {said} .|O L C;O L S;C L S
{O} , a {C} {firm} , {said} .|O L C
{O} , a {firm} in {C} , {S} , {said} .|O L C;O L S;C L S
{C} - based {O} {said} .|O L C
{C} 's {O} {said} .|O L C
The {C} {firm} {O} {said} .|O L C
{O} ( {C} ) {said} .|O L C
{O} , {C}|O L C
{O} , {C} , {S} .|O L C;O L S;C L S
{O} has its headquarters in {C} .|O L C
{O} moved its headquarters to {C} , {S} , in {year} .|O L C;O L S;C L S
{O} is a {firm} in {S} .|O L S
the {O} at {C} {said} .|O L C
{O} opened an office in {C} .|O L C
{P} studied at the {O} in {C} before {thing} .|O L C
It happened in {C} , {S} , {clause} .|C L S
In {C} , {S} , {clause} .|C L S
{C} , {S} ( {O} ) _ {clause} .|C L S
{clause} in {C} , {S} .|C L S
{C} in {S} is known for {thing} .|C L S
{C} , the capital of {S} , {said} .|C L S
the {S} city of {C} {said} .|C L S
{C} ( {S} ) and {C2} ( {S2} ) were chosen .|C L S;C2 L S2
{C} and {C2} , {S} , were chosen .|C L S;C2 L S
{clause} in {C} and {C2} .|
{O} sells to customers in {C} and {S} .|
{O} ships from {C} to {S} .|
{P} flew from {C} to {S} with {P2} .|
{P} arrived in {C} , {S} , on {day} .|C L S
{S} officials said {O} was warned .|
{P} , {number} , of {C} , {said} .|P V C
{P} , {number} , of {C} , {S} , {said} .|P V C;P V S;C L S
{P} of {C} , {S} , {said} .|P V C;P V S;C L S
{P} , a {C} resident , {said} .|P V C
{P} lives in {C} .|P V C
{P} , who lives in {C} , {S} , {said} .|P V C;P V S;C L S
{P} was born in {C} , {S} , in {year} .|P V C;P V S;C L S
{C} mayor {P} {said} .|P V C
{O} {released} {R} .|O M R
{O} {released} {R} and {R2} at {E} in {C} .|O M R;O M R2;E L C;O I E
{O} 's {R} {said} .|O M R
{R} by {O} is {adjective} .|O M R
{R} , {made} {O} , is {adjective} .|O M R
{O} , maker of {R} , {said} .|O M R
{O} {R} supports {thing} .|O M R
We replaced {R} with {R2} in {year} .|
The team runs {R} {version} on {R2} .|
Install {R} before you configure {R2} .|
{R} {version} adds {thing} .|
{R} integrates with {R2} and {R3} .|
{R} competes with {R2} .|R X R2;R2 X R
{O} {partners} {O2} .|O T O2;O2 T O
{O} and {O2} {partnership} .|O T O2;O2 T O
{O} competes with {O2} in {thing} .|O X O2;O2 X O
{O} , a rival of {O2} , {said} .|O X O2;O2 X O
{O} {bought} {O2} in {year} .|O A O2
{O2} was {taken} {O} in {year} .|O A O2
{O} {bought} {O2} of {C} for {money} .|O A O2;O2 L C
{O} is a customer of {O2} .|O U O2
{P} founded {O} in {C} in {year} .|O F P;O L C
{P} spoke at {E} in {C} .|P I E;E L C
{O} sponsored {E} in {C} .|O I E;E L C
{E} took place in {C} , {S} , in {year} .|E L C;E L S;C L S
"""
LETTERS = {
    "W": "WORKS_FOR",
    "L": "LOCATED_IN",
    "V": "LIVES_IN",
    "M": "PRODUCES",
    "T": "PARTNERS_WITH",
    "X": "COMPETES_WITH",
    "A": "ACQUIRED",
    "U": "CUSTOMER_OF",
    "F": "FOUNDED_BY",
    "I": "PARTICIPATES_IN",
}
WORDS = {
    "title": "chairman|president|chief executive|chief executive officer|CEO|CTO|vice president|senior vice president"
    "|director|managing director|executive director|deputy director|spokesman|spokeswoman|analyst|economist|professor"
    "|secretary|general secretary|manager|product manager|head of research|head of security|engineer|lead engineer"
    "|founder|co-founder|lawyer|attorney|editor|correspondent|reporter|officer|commissioner|coach|scientist|physicist"
    "|consultant|treasurer|administrator|superintendent|general counsel|chief financial officer|head|leader|minister",
    "of": "of|at|for|with",
    "a": "a|an|the|former|the former|a senior|a longtime",
    "said": "said|told reporters|announced|declined to comment|agreed|warned of delays|said on Monday|has confirmed it"
    "|was not available|reported better results|will take part|expects growth|did not answer|plans changes"
    "|said the results were strong|won a contract|is hiring",
    "say": "The plan is sound , said|It was a difficult year , says|Nothing was decided , according to"
    "|The letter was signed by|We asked|He was succeeded by|The meeting was led by|Questions go to",
    "joined": "joined|left|worked for|works for|was hired by|went to work for|retired from|has led|headed|runs",
    "works": "works for|worked for|works at|teaches at|once worked at|heads|leads|is employed by",
    "named": "named|appointed|hired|promoted|elected|chose",
    "event": "meeting|dinner|conference|rally|hearing",
    "thing": "late deliveries|the new rules|security|data retention|its pricing|cloud storage|high costs|poor service"
    "|single sign-on|a breach of contract|backups|research|wine|its old bridges",
    "clause": "prices rose again|the contract was signed|two people were hurt|work will start next year|sales fell"
    "|the trial ended|support ends in March|nobody was at fault|the migration took a week|the strike went on",
    "firm": "company|software company|bank|law firm|think tank|hospital|manufacturer|consulting firm|startup|supplier",
    "released": "released|launched|announced|introduced|unveiled|shipped|discontinued|will release|makes|sells|offers",
    "made": "made by|developed by|built by|sold by|released by|designed by|a product of|from",
    "adjective": "popular|free for small teams|written in Java|no longer supported|widely used|cheaper",
    "partners": "partnered with|is working with|signed a partnership with|teamed up with|has a joint venture with",
    "partnership": "announced a partnership|formed an alliance|work together on a service|signed a joint agreement",
    "bought": "acquired|bought|has agreed to buy|purchased|took over|completed its purchase of",
    "taken": "acquired by|bought by|taken over by|sold to",
}
STATES = (
    "Calif.|Texas|Fla.|Ohio|Mass.|N.Y.|Pa.|Va.|Md.|Mich.|Ill.|Conn.|Ga.|Wash.|Ore.|Colo.|Tenn.|Ky.|La.|Minn.|Wis.|Iowa"
    "|Maine|N.J.|N.C.|S.C.|Ala.|Miss.|Mo.|Kan.|Okla.|Ariz.|Nev.|Utah|N.M.|N.H.|Vt.|R.I.|D.C.|California|Florida|Michigan"
    "|Virginia|Washington|Oregon|Georgia|Illinois|Indiana|Arizona|Colorado|Germany|France|Italy|Spain|Japan|China|India"
    "|Canada|Brazil|Mexico|Russia|Poland|Sweden|Norway|Egypt|Kenya|Israel|Turkey|Australia|England|Scotland|Ireland"
    "|Switzerland|Austria|Belgium|the Netherlands|South Korea|South Africa|Argentina|Chile|Ontario|Quebec|Bavaria"
)
COINED = "Atlas Beacon Cinder Delta Echo Falcon Grid Harbor Iris Juno Kite Lumen Mesa Nimbus Orbit Pulse Quartz Relay"
ENDINGS = (
    " Suite| Cloud| Server| Studio| Pro| Manager| Desktop| One| 3| 2.0| X| DB|DB|Hub|Flow|Base|Stack|Sync| Analytics"
)
_SLOT = re.compile(r"\{(\w+)\}")


def names_of(sentences: Sequence[Sentence]) -> dict[str, list[str]]:
    """Names of each type in the annotated sets, without those that are a whole phrase."""
    found: dict[str, set[str]] = {kind: set() for kind in TYPES}
    for sentence in sentences:
        for start, end, kind in sentence.gold:
            text = sentence.text[start:end]
            if text[0].isupper() and 3 <= len(text) <= 40 and len(text.split()) <= 5:
                found[kind].add(text)
    return {kind: sorted(names) for kind, names in found.items()}


def made_up(sentences: Sequence[Sentence], count: int, seed: int) -> list[Sentence]:
    rng = random.Random(seed)
    names = names_of([s for s in sentences if s.origin != "wnut17"])
    patterns = [line.split("|") for line in PATTERNS.strip().splitlines()]
    return [_filled(*patterns[number % len(patterns)], names, rng) for number in range(count)]


def _filled(pattern: str, relations: str, names: dict[str, list[str]], rng: random.Random) -> Sentence:
    text, entities, slots = "", [], []
    at = 0
    for match in _SLOT.finditer(pattern):
        text += pattern[at : match.start()]
        at = match.end()
        slot = match.group(1)
        if slot[0].isupper():
            name = _name(slot[0], names, rng)
            inner = 4 if name.startswith("the ") else 0
            entities.append(
                {"start": len(text) + inner, "end": len(text) + len(name), "mapped": KIND[slot[0]], "text": name}
            )
            slots.append(slot)
            text += name
        else:
            text += _word(slot, rng)
    text += pattern[at:]
    text = text[0].upper() + text[1:]
    record = {"text": text, "entities": entities, "relations": []}
    sentence = sets.sentence_of(record, TYPES, "made up")
    _relate(sentence, slots, relations)
    return sentence


def _relate(sentence: Sentence, slots: list[str], relations: str) -> None:
    known = {}
    for part in filter(None, relations.split(";")):
        head, letter, tail = part.split()
        known[slots.index(head), slots.index(tail)] = RELATIONS.index(LETTERS[letter])
    sentence.relation_universe = 1 | sum(1 << RELATIONS.index(name) for name in LETTERS.values())
    sentence.pairs = [
        (head, tail, known.get((head, tail), 0))
        for head in range(len(slots))
        for tail in range(len(slots))
        if head != tail
    ]


def _name(slot: str, names: dict[str, list[str]], rng: random.Random) -> str:
    if slot == "S" and rng.random() < 0.8:
        return rng.choice(STATES.split("|"))
    if slot == "R" and rng.random() < 0.5:
        return rng.choice(COINED.split()) + rng.choice(ENDINGS.split("|"))
    name = rng.choice(names[KIND[slot]])
    return name.split()[-1] if slot == "P" and rng.random() < 0.15 else name


def _word(slot: str, rng: random.Random) -> str:
    if slot == "year":
        return str(rng.randint(1950, 2026))
    if slot == "number":
        return str(rng.randint(18, 90))
    if slot == "version":
        return f"{rng.randint(1, 14)}.{rng.randint(0, 9)}"
    if slot == "money":
        return f"$ {rng.randint(2, 900)} million"
    if slot == "day":
        return rng.choice(["Monday", "Friday", "3 May", "a Tuesday"])
    return rng.choice(WORDS[slot].split("|"))
