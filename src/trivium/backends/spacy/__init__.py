"""SpacyExtractor: entities by a spaCy pipeline, where one is installed. Relationships are left to rules."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from trivium.errors import ModelUnavailable
from trivium.model.vendor import EntityType, Extraction, Link, Mention

DEFAULT_MODEL = "en_core_web_sm"
CONFIDENCE = 0.7  # spaCy does not say how sure it is
_TYPES: dict[str, EntityType] = {
    "PERSON": "PERSON", "PER": "PERSON", "ORG": "ORG", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION",
    "PRODUCT": "PRODUCT", "EVENT": "EVENT",
}  # fmt: skip


class SpacyExtractor:
    def __init__(self, model: str = "") -> None:
        self._model = model or DEFAULT_MODEL

    @property
    def name(self) -> str:
        return f"spacy-{self._model}"

    def extract(self, sentences: Sequence[str]) -> list[Extraction]:
        return [Extraction(tuple(_mentions(document))) for document in self._pipeline.pipe(sentences)]

    def link(self, sentences: Sequence[str], mentions: Sequence[Sequence[Mention]]) -> list[tuple[Link, ...]]:
        return [() for _ in zip(sentences, mentions, strict=True)]

    @cached_property
    def _pipeline(self) -> Any:
        try:
            import spacy

            return spacy.load(self._model, exclude=["lemmatizer"])
        except (ImportError, OSError) as error:
            raise ModelUnavailable(
                f"the spaCy model {self._model} cannot be loaded: {error}",
                hint="install spaCy and the model, or set TRIVIUM_EXTRACTOR=onnx",
            ) from error


def _mentions(document: Any) -> list[Mention]:
    return [
        Mention(found.start_char, found.end_char, _TYPES[found.label_], CONFIDENCE)
        for found in document.ents
        if found.label_ in _TYPES
    ]
