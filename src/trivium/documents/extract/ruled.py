"""An extractor with the rules and the gazetteer around it: they are there whatever model is, and also without one."""

from collections.abc import Sequence

from trivium.documents.extract.rules import RULES_VERSION, known_mentions, spelled_out
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
    mentions = known_mentions(sentence, found.mentions)
    place = {mention.start: number for number, mention in enumerate(mentions)}
    starts = [mention.start for mention in found.mentions]
    # what the model said about a company does not hold for what turned out to be a product
    retyped = {m.start for m in found.mentions if mentions[place[m.start]].entity_type != m.entity_type}
    links = [
        Link(place[starts[link.head]], place[starts[link.tail]], link.relationship_type, link.confidence)
        for link in found.links
        if not {starts[link.head], starts[link.tail]} & retyped
    ]
    return Extraction(tuple(mentions), (*links, *spelled_out(sentence, mentions, links)))
