"""GlinerExtractor: entities by a GLiNER model, where it is installed. Relationships are left to rules."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from trivium.errors import ModelUnavailable
from trivium.model.vendor import EntityType, Extraction, Link, Mention

DEFAULT_MODEL = "urchade/gliner_small-v2.1"
THRESHOLD = 0.5
_TYPES: dict[str, EntityType] = {
    "person": "PERSON", "organization": "ORG", "location": "LOCATION", "product": "PRODUCT", "event": "EVENT",
}  # fmt: skip


class GlinerExtractor:
    def __init__(self, model: str = "") -> None:
        self._model = model or DEFAULT_MODEL

    @property
    def name(self) -> str:
        return f"gliner-{self._model}"

    def extract(self, sentences: Sequence[str]) -> list[Extraction]:
        found = self._predict(list(sentences), list(_TYPES), threshold=THRESHOLD) if sentences else []
        return [Extraction(tuple(_mentions(rows))) for rows in found]

    def link(self, sentences: Sequence[str], mentions: Sequence[Sequence[Mention]]) -> list[tuple[Link, ...]]:
        return [() for _ in zip(sentences, mentions, strict=True)]

    @cached_property
    def _predict(self) -> Any:
        try:
            from gliner import GLiNER

            model = GLiNER.from_pretrained(self._model)
            return getattr(model, "inference", None) or model.batch_predict_entities  # the older name
        except (ImportError, OSError, ValueError) as error:
            raise ModelUnavailable(
                f"the GLiNER model {self._model} cannot be loaded: {error}",
                hint="install gliner and the model, or set TRIVIUM_EXTRACTOR=onnx",
            ) from error


def _mentions(rows: Sequence[dict[str, Any]]) -> list[Mention]:
    """In order and without overlaps: the surer one stays."""
    kept: list[Mention] = []
    for row in sorted(rows, key=lambda row: -row["score"]):
        if all(row["end"] <= one.start or one.end <= row["start"] for one in kept):
            kept.append(Mention(row["start"], row["end"], _TYPES[row["label"]], round(float(row["score"]), 4)))
    return sorted(kept, key=lambda one: one.start)
