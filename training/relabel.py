"""Soft labels from exported models, for a second round: `python -m training.relabel DATA OUT MODEL-FOLDER…`.

Written as bytes (probability · 255), all units of all training and unlabelled sentences in order.
"""

import sys
from pathlib import Path

import numpy as np

from training import sets
from training.sets import LABELS
from trivium.backends.onnx_extract.decoding import softmax
from trivium.backends.onnx_extract.encoding import batches
from trivium.backends.onnx_extract.extractor import OnnxExtractor


def log_chances(model: OnnxExtractor, texts: list[str]) -> list[np.ndarray]:
    tokenizer = model._load().tokenizer
    encoded = [tokenizer.encode(text) for text in texts]
    found: list[np.ndarray] = [np.zeros((0, len(LABELS)), np.float32)] * len(texts)
    for rows in batches(encoded):
        scores, _ = model._scores([encoded[row] for row in rows])
        for place, row in enumerate(rows):
            found[row] = np.log(softmax(scores[place, encoded[row].firsts]) + 1e-9)
    return found


def main(data: Path, out: Path, folders: list[Path]) -> None:
    sentences = sets.training_sentences(data) + sets.unlabelled(data)
    texts = sorted({s.text for s in sentences})
    totals: dict[str, np.ndarray] = {}
    for folder in folders:
        for text, own in zip(texts, log_chances(OnnxExtractor(folder), texts), strict=True):
            totals[text] = totals[text] + own if text in totals else own
    parts = []
    for sentence in sentences:
        rows = np.full((len(sentence.units), len(LABELS)), 0, np.uint8)
        own = np.exp(totals[sentence.text] / len(folders))
        own = own / own.sum(-1, keepdims=True) if len(own) else own
        rows[: len(own)] = np.round(own * 255)
        parts.append(rows)
    np.savez_compressed(out, rows=np.concatenate(parts))
    print(len(sentences), "sentences,", sum(map(len, parts)), "units")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
