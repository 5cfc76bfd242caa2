"""Words that mean the same when someone asks for a function, and what is left of a question without its particulars."""

import re
from collections import defaultdict
from collections.abc import Set

_THESAURUS = """
add: add create store save record register note jot write remember memorise memorize insert new enter document teach log
 put capture
delete: delete erase remove discard drop trash purge throw forget cut unlink disconnect rid wipe clear
change: change edit modify update correct rename move fix adjust improve reclassify revise amend raise lower rewrite
 replace
restore: restore undelete recover undo revert mistake accidentally back
find: find search look locate query grep lookup seek discover hunt
show: show print display open read fetch view pull give get see retrieve
list: list enumerate which all every names
concept: concept idea notion term definition flashcard glossary thought knowledge
company: company vendor supplier firm manufacturer corporation corp organisation organization business enterprise
 industries inc ltd gmbh brand contractor
person: person people employee executive staff cto ceo founder works work manager
product: product goods service sells makes produce manufacture
buy: acquire acquired bought buy merger merged takeover owns partnership partner competitor
document: document documentation file manual handbook archive page wiki material guide report contract policy paper
 article written text corpus
passage: passage chunk excerpt paragraph snippet hit result fragment section
around: neighbour neighbor surrounding around before after context nearby adjacent
repository: repository repo codebase project git github
code: code source function method class module helper implementation implement implemented snippet script
call: call calls called invoke invoked caller callers usage usages used uses using reference referenced
import: import imports imported importing library libraries package packages
impact: impact affect affected break breaks blast safe consequence consequences rely relies
architecture: architecture structure layout organised organized overview diagram map layers component picture
path: path chain route trace reach steps step bridge through via lead leads
metric: metric metrics statistics latency timing timings performance average counter counters often fast time times
index: index indexed indexing scan ingest sync clone crawl refresh reindex searchable
progress: progress status far finished done ready percentage still yet complete already
alive: alive up reachable connectivity health ping heartbeat respond responds responding hello home there
event: event events outbox projection projections projected pending backlog failed lag view views
many: many multiple several bulk batch list dozens hundred fifty twenty once mass load upload
history: history revision revisions version versions earlier past previous changed
recent: recent recently latest newest fresh lately yesterday today week hours days new last touched modified
link: link links linked tie connect connected connection relate related relationship edge included part belongs
 association
prerequisite: prerequisite prerequisites beforehand first learn learning study background foundation foundations
 beginner required curriculum order understand
certain: certain certainty sure unsure uncertain confidence confident shaky doubtful percent reliable weakest doubt
area: area areas topic topics subject subjects taxonomy hierarchy category categories field tree organised
name: name named called title titled exact exactly contains
similar: similar close resemble like alike meaning semantically semantic about
hop: hop hops away neighbour neighbours neighborhood adjacent around
number: number id identifier
"""
_STOP_WORDS = """
a an and are as at be by do does for from how i in is it me my of on or our the their there this that to us was we
what when where which will with you your give show tell get all one two these those have has had
"""
STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[a-z0-9]+")
_TOKEN = re.compile(r"[\w./'-]+|\S")
_SOMETHING = "something"


def stem(word: str) -> str:
    """Enough to bring "repos" to "repo" and "importing" to "import"."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


def _meanings() -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in _THESAURUS.replace("\n ", " ").strip().splitlines():
        meaning, _, words = line.partition(":")
        for word in words.split():
            found[stem(word)].append(f"={meaning}")
    return {word: tuple(dict.fromkeys(meanings)) for word, meanings in found.items()}


MEANINGS = _meanings()


def plain_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def words(text: str) -> set[str]:
    """The stems of a text and what they stand for."""
    stems = [(word, stem(word)) for word in plain_words(text)]
    return {one for word, one in stems if word not in STOP} | {
        meaning for _, one in stems for meaning in MEANINGS.get(one, ())
    }


def without_particulars(question: str, known: Set[str]) -> str:
    """The question with names and topics made "something": what is asked for does not depend on them, and the model
    would see little else."""
    kept: list[str] = []
    for token in _TOKEN.findall(question):
        word = token.lower()
        if word in STOP or stem(word) in known or stem(word) in MEANINGS:
            kept.append(token)
        elif kept[-1:] != [_SOMETHING]:
            kept.append(_SOMETHING)
    return " ".join(kept)
