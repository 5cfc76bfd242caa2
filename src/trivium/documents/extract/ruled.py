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
    place = {mention: number for number, mention in enumerate(mentions)}
    links = [
        Link(place[found.mentions[link.head]], place[found.mentions[link.tail]], link.relationship_type, link.confidence)
        for link in found.links
    ]
    return Extraction(tuple(mentions), (*links, *spelled_out(sentence, mentions, links)))
