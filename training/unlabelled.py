"""Sentences of real documentation for the teachers to label: `python -m training.unlabelled CORPORA-FOLDER OUT-FOLDER`.

Kubernetes (CC BY 4.0), FastAPI (MIT) and PostHog's handbook (MIT); code, tables and links are left out.
"""

import gzip
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CORPORA = ("corpus_posthog_handbook", "corpus_kubernetes_docs", "corpus_fastapi_docs")
LIMIT = 12_000
_CODE = re.compile(r"```.*?```|~~~.*?~~~|<!--.*?-->|^---.*?^---|\{\{.*?\}\}", re.S | re.M)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]+")


def sentences(text: str) -> Iterator[str]:
    plain = _LINK.sub(r"\1", _CODE.sub("\n", text))
    for line in plain.splitlines():
        line = re.sub(r"<[^>]+>|[`*]|^[#>\-\s\d.]+", "", line).strip()
        if "|" in line or "{" in line:
            continue
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", line):
            if 40 <= len(sentence) <= 300 and _NAME.search(sentence):
                yield " ".join(sentence.split())


def main(corpora: Path, out: Path) -> None:
    found: set[str] = set()
    for name in CORPORA:
        with gzip.open(corpora / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                found.update(sentences(json.loads(line)["text"]))
    chosen = sorted(found)
    random.Random(0).shuffle(chosen)
    with gzip.open(out / "unlabelled.txt.gz", "wt", encoding="utf-8") as stream:
        stream.write("\n".join(chosen[:LIMIT]) + "\n")
    print(len(found), "found,", min(LIMIT, len(chosen)), "kept")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
