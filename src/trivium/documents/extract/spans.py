"""Where a name begins and ends, and what is none: articles, stray signs, words for peoples.

Models disagree with people at the edges of names. What is done here holds for any of them.
"""

import re
from collections.abc import Sequence

from trivium.documents.extract.names import clean
from trivium.documents.extract.peoples import names_people
from trivium.model.vendor import Mention

_LETTER = re.compile(r"[^\W\d_]")
_BEFORE = re.compile(r"(?:the\s+(?=\S)|[\s,;:&/`'\"“”‘’«»–—-]+(?=\w))+")
_AFTER = re.compile(r"(?:[\s,;:&/`\"“”«»–—-]+)$")
_POSSESSIVE = re.compile(r"\s?['’]\s?s$")
_TOKENISED = re.compile(r"\w [,.](?:\s|$)")
_WRITTEN = re.compile(r"\w[,;](?:\s|$)")

_ORDINARY = re.compile(r"(?<![^\W\d_])[a-z]{3}")


def tidied(sentence: str, mentions: Sequence[Mention]) -> tuple[list[Mention], list[int | None]]:
    """The mentions that are names, trimmed to them; and for each given one its number among these."""
    kept: list[Mention] = []
    places: list[int | None] = []
    in_tokens = is_tokenised(sentence)
    for mention in mentions:
        trimmed = _trimmed(sentence, mention)
        if trimmed and in_tokens:
            trimmed = _to_tokens(sentence, trimmed)
        if trimmed and kept and trimmed.start < kept[-1].end:  # two parts of one token
            if trimmed.end > kept[-1].end:
                kept[-1] = Mention(kept[-1].start, trimmed.end, kept[-1].entity_type, kept[-1].confidence)
            places.append(len(kept) - 1)
        elif trimmed:
            kept.append(trimmed)
            places.append(len(kept) - 1)
        else:
            places.append(None)
    return kept, places


def is_tokenised(text: str) -> bool:
    """Whether somebody put blanks around the signs: then a sign that touches a word belongs to it ("Calif.")."""
    return bool(_TOKENISED.search(text)) and not _WRITTEN.search(text)


def _trimmed(sentence: str, mention: Mention) -> Mention | None:
    start, end = mention.start, mention.end
    before = _BEFORE.match(sentence, start, end)
    start = before.end() if before else start
    text = _AFTER.sub("", sentence[start:end])
    if mention.entity_type != "ORG":  # a company may be called McDonald's
        text = _POSSESSIVE.sub("", text)
    text = _without_full_stop(sentence, start, text)
    nothing = not _LETTER.search(text) or (mention.entity_type in ("LOCATION", "ORG") and names_people(text))
    return None if nothing else Mention(start, start + len(text), mention.entity_type, mention.confidence)


def _without_full_stop(sentence: str, start: int, text: str) -> str:
    """The sentence's own full stop is no part of its last name."""
    if not text.endswith(".") or sentence[start + len(text) :].strip() or clean(text).endswith("."):
        return text
    return text[:-1].rstrip()


def _to_tokens(sentence: str, mention: Mention) -> Mention:
    """Out to the blanks, except into a word that only begins with the name (U.S.-based)."""
    start, end = mention.start, mention.end
    while start and not sentence[start - 1].isspace():
        start -= 1
    while end < len(sentence) and not sentence[end].isspace():
        end += 1
    if _ORDINARY.search(sentence[mention.end : end]) or _ORDINARY.search(sentence[start : mention.start]):
        return mention
    return Mention(start, end, mention.entity_type, mention.confidence)
