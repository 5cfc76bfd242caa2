"""When two spellings are one name: keys, legal forms, possessives, initials. Pure rules, no state.

Two names are the same where their letters and digits agree, whatever the case, blanks, hyphens, accents, possessive or
leading article. A legal form may be missing on one side; two different legal forms are two companies.
"""

import re
import unicodedata
from dataclasses import dataclass

# One row is one legal form; spellings are compared without dots and blanks.
_LEGAL_FORMS = (
    ("inc", "incorporated"),
    ("corp", "corporation"),
    ("ltd", "limited"),
    ("llc",),
    ("llp",),
    ("plc",),
    ("co", "company"),
    ("gmbh",),
    ("ag",),
    ("se",),
    ("kg",),
    ("sa",),
    ("sas",),
    ("sarl",),
    ("spa",),
    ("srl",),
    ("nv",),
    ("bv",),
    ("ab",),
    ("oy", "oyj"),
    ("asa",),
    ("kk",),
    ("pte",),
    ("pty",),
    ("pvt",),
    ("com",),
)
_FORM_OF = {spelling: forms[0] for forms in _LEGAL_FORMS for spelling in forms}
_ABBREVIATED = frozenset(_FORM_OF) | frozenset(
    [
        "ala",
        "ariz",
        "ark",
        "calif",
        "colo",
        "conn",
        "del",
        "fla",
        "ga",
        "ill",
        "ind",
        "kan",
        "ky",
        "la",
        "mass",
        "md",
        "mich",
        "minn",
        "miss",
        "mo",
        "mont",
        "neb",
        "nev",
        "okla",
        "ore",
        "pa",
        "tenn",
        "tex",
        "va",
        "vt",
        "wash",
        "wis",
        "wyo",
        "ont",
        "que",
        "jr",
        "sr",
        "bros",
        "st",
        "mt",
        "ft",
        "dept",
        "univ",
        "assn",
        "inst",
    ]
)
# Forms that are also ordinary words or initials: only after a comma, or written as a form ("S.A.", "Co.").
_NEEDS_CARE = {"co", "company", "se", "sa", "ab", "ag", "limited", "com", "spa", "nv", "kk"}
_TOKEN = re.compile(r"[^\s,]+")
_POSSESSIVE = re.compile(r"(?:['’]\s?s|(?<=s)['’]|\ss?['’]\ss)$", re.IGNORECASE)
_SMALL_WORDS = {"of", "the", "and", "for", "in", "on", "de", "du", "la", "le", "des", "und", "der", "&"}


@dataclass(frozen=True, slots=True)
class NameKey:
    """`base` is the compact name without its legal form, `form` that legal form or empty."""

    base: str
    form: str = ""


def clean(name: str) -> str:
    """The name as it is shown: one line, no possessive, no stray punctuation around it."""
    text = " ".join(name.replace("\u00a0", " ").split())
    text = _POSSESSIVE.sub("", text).strip(' \t,;:"“”‘’`*_')
    text = re.sub(r"\s+([.,;:!?)\]])", r"\1", re.sub(r"([(\[])\s+", r"\1", text))  # text of tokenised sources
    last = text.rpartition(" ")[2]
    if last.endswith(".") and "." not in last[:-1] and len(last) > 2 and compact(last) not in _ABBREVIATED:
        text = text[:-1]  # the end of a sentence, not of an abbreviation
    if text.count("(") != text.count(")"):
        text = text.strip("()").strip()
    return text


def compact(name: str) -> str:
    """Letters and digits alone, folded; signs that tell names apart (C++, C#) stay."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(c for c in plain if c.isalnum() or c in "+#")


def name_key(name: str, *, legal: bool = True) -> NameKey:
    """`legal=False` for names that are no companies: nothing is taken off them but article and possessive."""
    text = clean(name).replace("&", " and ")
    words = _TOKEN.findall(text)
    if len(words) > 1 and words[0].casefold() == "the":
        words = words[1:]
    form = ""
    while legal and len(words) > 1:
        spelling = compact(words[-1])
        if len(words) > 2 and spelling in {"co", "company"} and words[-2].casefold() == "and":
            words, form = words[:-2], "co"
            continue
        known = _FORM_OF.get(spelling)
        if known is None or not _is_form(words[-1], spelling, text):
            break
        words, form = words[:-1], known if not form else f"{known}{form}"
    base = "".join(compact(word) for word in words)
    if legal and base.endswith("com") and words and words[-1].casefold().endswith(".com"):
        base = base[:-3]
    return NameKey(base or compact(text) or name.casefold(), form)


def _is_form(word: str, spelling: str, text: str) -> bool:
    if spelling not in _NEEDS_CARE:
        return True
    if spelling == "com":
        return word.casefold() == ".com"
    return word.endswith(".") or word.isupper() or f", {word}" in text or word[:1].isupper()


def could_be_one(left: NameKey, right: NameKey) -> bool:
    return left.base == right.base and (left.form == right.form or not left.form or not right.form)


def initials(name: str) -> set[str]:
    """The abbreviations a name may be introduced with: AWS for Amazon Web Services, with and without small words."""
    words = [w for w in re.findall(r"[^\W_]+", clean(name)) if w]
    every = "".join(w[0] for w in words).casefold()
    large = "".join(w[0] for w in words if w.casefold() not in _SMALL_WORDS).casefold()
    unformed = [w for w in words if compact(w) not in _FORM_OF]
    short = "".join(w[0] for w in unformed if w.casefold() not in _SMALL_WORDS).casefold()
    caps = "".join(c for c in clean(name) if c.isupper()).casefold()
    return {form for form in (every, large, short, caps) if len(form) >= 2}


def is_abbreviation(short: str, name: str) -> bool:
    """Whether `short`, found in brackets after `name`, abbreviates it."""
    letters = compact(short)
    return 2 <= len(letters) <= 10 and " " not in short.strip() and letters in initials(name)
