"""An extractor with the rules and the gazetteer around it: they are there whatever model is, and also without one."""

from collections.abc import Iterator, Sequence

from trivium.documents.extract.rules import RULES_VERSION, known_mentions, spelled_out
from trivium.documents.extract.spans import tidied
from trivium.model.vendor import Extraction, Link, Mention
from trivium.ports.extractor import Extractor


class RuledExtractor:
    def __init__(self, model: Extractor | None = None) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return f"{self._model.name}+{RULES_VERSION}" if self._model else RULES_VERSION

    def extract(self, sentences: Sequence[str]) -> list[Extraction]:
        found = self._model.extract(sentences) if self._model else [Extraction()] * len(sentences)
        return [_completed(sentence, one) for sentence, one in zip(sentences, found, strict=True)]

    def link(self, sentences: Sequence[str], mentions: Sequence[Sequence[Mention]]) -> list[tuple[Link, ...]]:
        found = self._model.link(sentences, mentions) if self._model else [()] * len(sentences)
        return [
            (*links, *spelled_out(sentence, given, links))
            for sentence, given, links in zip(sentences, mentions, found, strict=True)
        ]


def _completed(sentence: str, found: Extraction) -> Extraction:
    named, kept = tidied(sentence, found.mentions)
    mentions = known_mentions(sentence, named)
    number = {mention.start: place for place, mention in enumerate(mentions)}
    places = [None if at is None else number[named[at].start] for at in kept]
    links = [*_moved(found, places, mentions)]
    return Extraction(tuple(mentions), (*links, *spelled_out(sentence, mentions, links)))


def _moved(found: Extraction, places: Sequence[int | None], mentions: Sequence[Mention]) -> Iterator[Link]:
    """The model's links between what is left of its mentions. What it said about a company does not hold for what
    turned out to be a product."""
    for link in found.links:
        head, tail = places[link.head], places[link.tail]
        if head is None or tail is None or head == tail:
            continue
        ends = ((link.head, head), (link.tail, tail))
        if all(found.mentions[old].entity_type == mentions[new].entity_type for old, new in ends):
            yield Link(head, tail, link.relationship_type, link.confidence)
