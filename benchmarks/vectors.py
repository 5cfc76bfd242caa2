"""The vector index on real embeddings: recall, CPU time and memory, beside a plain numpy scan and embedding a query.

    python benchmarks/vectors.py --texts DATA --cache FOLDER --size 100000

DATA holds folders with corpus.jsonl.gz (and queries.jsonl) at any depth; sentences and overlapping windows of its texts
are embedded once and kept in FOLDER. Where `--size` is more than `--embed` allows to embed, the rest are real vectors
moved along the difference of two others: good for time and memory, and said in the output. Times are medians of process
time.
"""

import argparse
import gzip
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from trivium.backends.bits import BitsVectorIndex
from trivium.backends.onnx import open_model
from trivium.model.embedding import Vectors

MODEL = "all-MiniLM-L6-v2"
PART = 5_000
QUERIES = 200


def main() -> None:
    options = parsed()
    if options.measure:
        print(json.dumps(measured(options.measure, options.cache, options.limit)))
        return
    vectors = collected(options)
    with TemporaryDirectory(dir=options.cache) as folder:
        seconds = cpu_s(lambda: fill(BitsVectorIndex(Path(folder), vectors.shape[1]), vectors))
        own = [
            sys.executable,
            __file__,
            "--measure",
            folder,
            "--cache",
            str(options.cache),
            "--limit",
            str(options.limit),
        ]
        figures = json.loads(subprocess.run(own, check=True, capture_output=True, text=True).stdout)
    report(options, vectors, seconds, figures)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument(
        "--embed", type=int, default=0, help="embed this many texts, in steps of 5000; 0: what the cache holds"
    )
    parser.add_argument("--limit", type=int, default=1000, help="results asked of nearest, ids asked of cosines")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


# Vectors


def collected(options: argparse.Namespace) -> Vectors:
    if options.texts is not None:
        embed_missing(options.texts, options.cache, min(options.embed, options.size))
    parts = [np.load(file) for file in sorted((options.cache / "parts").glob("*[0-9].npy"))]
    real = np.concatenate(parts)[: options.size]
    options.real = len(real)
    filled = np.empty((options.size, real.shape[1]), np.float16)
    filled[: len(real)] = real
    for start in range(len(real), options.size, 50_000):
        filled[start : start + 50_000] = moved(real, min(50_000, options.size - start), seed=start)
    return filled


def moved(real: Vectors, count: int, seed: int) -> Vectors:
    at = np.random.default_rng(seed).integers(0, len(real), (3, count))
    vectors = real[at[0]].astype(np.float32) + 0.4 * (real[at[1]].astype(np.float32) - real[at[2]])
    return unit(vectors)


def unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def embed_missing(texts: Path, cache: Path, count: int) -> None:
    (cache / "parts").mkdir(parents=True, exist_ok=True)
    (cache / "queries.json").write_text(json.dumps(list(queries_in(texts))))
    wanted = [start for start in range(0, count, PART) if not part_file(cache, start).exists()]
    passages = shuffled_passages(texts) if wanted else []
    model = open_model(MODEL, cache_dir=cache / "models")
    for start in wanted:
        np.save(part_file(cache, start), model.embed_passages(passages[start : start + PART]).astype(np.float16))


def part_file(cache: Path, start: int) -> Path:
    return cache / "parts" / f"{start // PART:03d}.npy"


def shuffled_passages(texts: Path) -> list[str]:
    """Sentences first, so that a small set is natural text; windows make up the numbers."""
    sentences, windows = set[str](), set[str]()
    for text in documents_in(texts):
        cut = (" ".join(sentence.split()) for sentence in re.split(r"(?<=[.!?])\s+|\n+", text))
        sentences.update(sentence for sentence in cut if 25 < len(sentence) < 220)
        words = text.split()
        for size, step in ((8, 3), (12, 5), (18, 7)):
            windows.update(" ".join(words[at : at + size]) for at in range(0, len(words), step))
    ordered = [sorted(sentences), sorted(windows - sentences)]
    for group in ordered:
        random.Random(1).shuffle(group)
    return ordered[0] + ordered[1]


def documents_in(texts: Path) -> Iterator[str]:
    for file in sorted(texts.rglob("corpus.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                document = json.loads(line)
                yield f"{document.get('title') or ''}\n{document['text']}"


def queries_in(texts: Path) -> Iterator[str]:
    found = {
        json.loads(line).get("text") or ""
        for file in sorted(texts.rglob("queries.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    }
    ordered = sorted(found - {""})
    random.Random(1).shuffle(ordered)
    yield from ordered


# Measuring


def fill(index: BitsVectorIndex, vectors: Vectors) -> None:
    for start in range(0, len(vectors), 10_000):
        block = unit(vectors[start : start + 10_000].astype(np.float32))
        index.apply(((start + row, block[row : row + 1]) for row in range(len(block))), [], start + 1)


def measured(folder: Path, cache: Path, limit: int) -> dict[str, object]:
    """In a process of its own, so that memory is that of an index and an encoder that search, and nothing else."""
    model = open_model(MODEL, cache_dir=cache / "models")
    texts = json.loads((cache / "queries.json").read_text())[:QUERIES]
    embedded = [timed(lambda text=text: model.embed_queries([text])[0]) for text in texts]
    opening_s = cpu_s(lambda: BitsVectorIndex(folder, len(embedded[0][0])))
    index = BitsVectorIndex(folder, len(embedded[0][0]))
    ids = index.ids()
    asked = [
        np.random.default_rng(number).choice(ids, min(limit, len(ids)), replace=False) for number in range(QUERIES)
    ]
    index.nearest(embedded[0][0], limit)
    found = [timed(lambda query=query: index.nearest(query, limit)) for query, _ in embedded]
    compared = [timed(lambda q=q, a=a: index.cosines(q, a)) for (q, _), a in zip(embedded, asked, strict=False)]
    return {
        "queries": [query.tolist() for query, _ in embedded],
        "found": [result[0].tolist() for result, _ in found],
        "embed_ms": median_ms(embedded),
        "nearest_ms": median_ms(found),
        "cosines_ms": median_ms(compared),
        "opening_ms": 1e3 * opening_s,
        **memory_mb(),
    }


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = action()
    return result, time.process_time() - start


def cpu_s(action: Callable[[], object]) -> float:
    return timed(action)[1]


def median_ms(results: list[tuple[object, float]]) -> float:
    return 1e3 * float(np.median([seconds for _, seconds in results]))


def memory_mb() -> dict[str, float]:
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return {"resident_mb": sizes["VmRSS"], "peak_mb": sizes["VmHWM"]}


def exact_best(vectors: Vectors, queries: Vectors, depth: int) -> np.ndarray:
    """Row numbers of the best `depth` of every query, by float32 products over all vectors."""
    rows, scores = np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32)
    for start in range(0, len(vectors), 50_000):
        block = queries @ unit(vectors[start : start + 50_000].astype(np.float32)).T
        best = np.argpartition(-block, min(depth, block.shape[1] - 1), axis=1)[:, :depth]
        rows = np.concatenate([rows, best + start], axis=1)
        scores = np.concatenate([scores, np.take_along_axis(block, best, axis=1)], axis=1)
        keep = np.argsort(-scores, axis=1)[:, :depth]
        rows, scores = np.take_along_axis(rows, keep, axis=1), np.take_along_axis(scores, keep, axis=1)
    return rows


def recall(best: np.ndarray, found: list[list[int]], depth: int) -> float:
    return float(
        np.mean([len(set(b[:depth].tolist()) & set(f[:depth])) / depth for b, f in zip(best, found, strict=True)])
    )


def scan_ms(vectors: Vectors, queries: Vectors) -> float:
    """The plain way: one product over all float32 vectors. Measured on up to 100 000 and scaled, to spare memory."""
    part = vectors[:100_000].astype(np.float32)
    return (
        median_ms([timed(lambda q=q: np.argpartition(-(part @ q), 50)[:50]) for q in queries[:15]])
        * len(vectors)
        / len(part)
    )


def report(options: argparse.Namespace, vectors: Vectors, building_s: float, figures: dict[str, object]) -> None:
    queries = np.array(figures["queries"], np.float32)
    best = exact_best(vectors, queries, min(options.limit, 1000))
    plain = scan_ms(vectors, queries)
    embed, nearest, cosines = (float(str(figures[f"{name}_ms"])) for name in ("embed", "nearest", "cosines"))
    print(
        f"{options.size} vectors ({options.real} of embedded text), {len(queries)} real queries, limit {options.limit}"
    )
    for depth in (10, 50, 200, 1000):
        if depth <= options.limit:
            print(f"  recall@{depth:<5}       {recall(best, figures['found'], depth):.4f}")  # type: ignore[arg-type]
    print(f"  embedding a query  {embed:.2f} ms CPU")
    print(f"  nearest            {nearest:.2f} ms = {nearest / embed:.2f} x embedding = {nearest / plain:.3f} x numpy")
    print(f"  cosines            {cosines:.2f} ms = {cosines / embed:.2f} x embedding")
    print(f"  numpy f32 scan     {plain:.2f} ms")
    print(f"  resident           {figures['resident_mb']:.0f} MB (peak {figures['peak_mb']:.0f}), encoder included")
    print(f"  building {building_s:.1f} s CPU, opening {figures['opening_ms']:.0f} ms CPU")


if __name__ == "__main__":
    main()
