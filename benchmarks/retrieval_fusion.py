"""Ways to fuse words and vectors, on the same indexes; and whether the one constant was tuned to a set.

    python benchmarks/retrieval_fusion.py DATA --keep DIR [--model NAME] [--sets scifact,mbpp]

Prints nDCG@10 per set for reciprocal rank fusion and for several weights of the keyword side, and the gain over the
better half. Then leaves one set out at a time: the weight that is best on all the others is used on the one left out.
DIR holds the indexes of benchmarks/retrieval.py (or will).
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from retrieval import SETS
from trivium.app import embedder_opener, open_app
from trivium.model.embedding import EmbeddingModel, Vectors
from trivium.model.hits import SearchMode, SearchQuery
from trivium.ports.embedder import Embedder
from trivium.search import evidence
from trivium.search.evaluate import EvalSet, load_set, ndcg
from trivium.search.hybrid import HybridSearch
from trivium.settings import Settings

WEIGHTS = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
RRF = "rrf"


class RememberingEmbedder:
    """Every setting asks the same queries: they are embedded once."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, Vectors] = {}

    @property
    def model(self) -> EmbeddingModel:
        return self._inner.model

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        for text in texts:
            if text not in self._known:
                self._known[text] = self._inner.embed_queries([text])
        return np.concatenate([self._known[text] for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)


def remembering(opener: Callable[[str], Embedder], name: str) -> Embedder:
    return RememberingEmbedder(opener(name))


def quality(search: HybridSearch, data: EvalSet, record_of: dict[int, str], mode: SearchMode) -> float:
    return 100 * float(
        np.mean(
            [
                ndcg(list(dict.fromkeys(record_of[hit.chunk_id] for hit in ranking.hits)), data.judged[key])
                for key, text in data.queries.items()
                for ranking in [search.search(SearchQuery(text, limit=100, mode=mode))]
            ]
        )
    )


def compared(folder: Path, model: str, keep: Path) -> tuple[float, dict[str | float, float]]:
    """The better half, and every fusion."""
    data = load_set(folder)
    found: dict[str | float, float] = {}
    better = 0.0
    for fusion in ("adaptive", RRF):
        settings = Settings(data=keep / f"{folder.name}-{model}", model=model, fusion=fusion)
        open_inner = embedder_opener(settings)
        app = open_app(settings, partial(remembering, open_inner))
        app.documents.add_texts("evaluation", ((r.record_id, r.title, r.full_text) for r in data.records))
        app.embedding.run()
        record_of = {c.chunk_id: c.source_file for c in app.chunks.get(app.log.chunk_ids().tolist())}
        if fusion == RRF:
            found[RRF] = quality(app.search, data, record_of, "hybrid")
        else:
            better = max(quality(app.search, data, record_of, "bm25"), quality(app.search, data, record_of, "vector"))
            for weight in WEIGHTS:
                evidence.KEYWORD_WEIGHT = weight
                found[weight] = quality(app.search, data, record_of, "hybrid")
        app.close()
    return better, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    names = options.sets.split(",")
    results = {name: compared(options.data / name, options.model, options.keep) for name in names}
    print(f"{options.model}\n{'':16s}" + " ".join(f"{name[:8]:>8s}" for name in names) + "   mean gain  worst")
    for fusion in (RRF, *WEIGHTS):
        row = [results[name][1][fusion] for name in names]
        gains = [results[name][1][fusion] - results[name][0] for name in names]
        label = fusion if fusion == RRF else f"weight {fusion}"
        figures = " ".join(f"{value:8.2f}" for value in row)
        print(f"{label:16s}{figures}   {np.mean(gains):+9.2f} {min(gains):+6.2f}")
    if len(names) > 1:
        print("\nleft out: the weight the others choose, and what it gains there")
        for name in names:
            others = [other for other in names if other != name]
            best = max(WEIGHTS, key=lambda w: float(np.mean([results[o][1][w] - results[o][0] for o in others])))
            print(f"{name:16s} {best}  {results[name][1][best] - results[name][0]:+.2f}")


if __name__ == "__main__":
    main()
