"""What embedding costs, beside the bare ONNX Runtime session that does the same arithmetic, in the same run.

    python benchmarks/embedding.py DIR [--model NAME] [--cache FOLDER]   queries, bulk, load time
    python benchmarks/embedding.py DIR --layouts                         two callers of one thread, or one of two
    python benchmarks/embedding.py DIR --fit-map                         granite's cosine onto MiniLM's spread

DIR holds retrieval sets: */corpus.jsonl.gz, */queries.jsonl, */qrels.tsv. CPU times, since machines are shared.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from trivium.backends.onnx import OnnxEmbedder, open_model
from trivium.backends.onnx.catalog import GRANITE, MINILM
from trivium.backends.onnx.sessions import padded

Pairs = list[tuple[str, str]]


def read_lines(path: Path) -> list[dict[str, Any]]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in raw.splitlines()]


def sets(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/qrels.tsv"))


def document_text(document: dict[str, Any]) -> str:
    return f"{document.get('title') or ''} {document['text']}".strip()


def sample_texts(folder: Path, count: int) -> tuple[list[str], list[str]]:
    """As many queries and documents from every set, always the same ones."""
    chosen = random.Random(0)
    queries: list[str] = []
    documents: list[str] = []
    for path in sets(folder):
        queries += [row["text"] for row in chosen.sample(read_lines(path / "queries.jsonl"), 20)]
        rows = chosen.sample(read_lines(path / "corpus.jsonl.gz"), count // len(sets(folder)))
        documents += [document_text(row) for row in rows]
    return queries, documents


def cpu_ms(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return (time.process_time() - start) * 1e3


def bare_session(cache: Path, model: str, threads: int = 1) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    (graph,) = (cache / model).glob("encoder-*.onnx")
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def feeds(embedder: OnnxEmbedder, texts: list[str], budget: int) -> list[dict[str, Any]]:
    """Token blocks ready to run: sorted by length, `budget` tokens each."""
    rows = sorted((embedder._cut(e.ids) for e in embedder._loaded().tokenizer.encode_batch_fast(texts)), key=len)[::-1]
    blocks = []
    while rows:
        size = max(1, budget // len(rows[0]))
        ids, lengths = padded(rows[:size], np.int32)
        blocks.append({"input_ids": ids, "lengths": lengths})
        rows = rows[size:]
    return blocks


def show_costs(folder: Path, cache: Path, model: str, rounds: int) -> None:
    queries, documents = sample_texts(folder, 140)
    embedder = open_model(model, cache_dir=cache, threads=1)
    tokens = embedder.count_tokens(queries)
    print(f"{model}: {len(queries)} queries of {np.mean(tokens):.1f} tokens (p95 {np.quantile(tokens, 0.95):.0f})")
    session = bare_session(cache, model)
    single = [block for query in queries for block in feeds(embedder, [query], 1)]
    ours, bare = [], []
    for _ in range(rounds):  # turn by turn, so that a busy machine slows both
        for query, feed in zip(queries, single, strict=True):
            ours.append(cpu_ms(lambda query=query: embedder.embed_queries([query])))  # type: ignore[misc]
            bare.append(cpu_ms(lambda feed=feed: session.run(None, feed)))  # type: ignore[misc]
    print(f"query   CPU ms  p50 {np.median(ours):6.2f}  p95 {np.quantile(ours, 0.95):6.2f}   bare p50 "
          f"{np.median(bare):6.2f}   ratio of sums {sum(ours) / sum(bare):.3f}")  # fmt: skip
    show_bulk(embedder, session, documents)
    show_load(cache, model)


def show_bulk(embedder: OnnxEmbedder, session: Any, documents: list[str]) -> None:
    tokens = sum(min(count, embedder.model.max_tokens) for count in embedder.count_tokens(documents))
    ours = cpu_ms(lambda: embedder.embed_passages(documents))
    one_by_one = feeds(embedder, documents, 1)
    for budget in (1, 512, 1024, 2048, 8192):
        blocks = one_by_one if budget == 1 else feeds(embedder, documents, budget)
        bare = cpu_ms(lambda blocks=blocks: [session.run(None, block) for block in blocks])  # type: ignore[misc]
        print(f"bulk    bare loop, {budget:5d} tokens a run: {tokens / bare * 1e3:6.0f} tokens/CPU-s   ours / bare "
              f"{ours / bare:.3f}")  # fmt: skip
    print(f"bulk    {len(documents) / ours * 1e3:.1f} chunks/CPU-s of {tokens / len(documents):.0f} tokens, "
          f"{tokens / ours * 1e3:.0f} tokens/CPU-s")  # fmt: skip


LOAD_OURS = """
import time; start = time.process_time()
from pathlib import Path
from trivium.backends.onnx import open_model
open_model({model!r}, cache_dir=Path({cache!r}), offline=True).embed_queries(["hello"])
print((time.process_time() - start) * 1e3)
"""
LOAD_BARE = """
import time; start = time.process_time()
import numpy, onnxruntime
options = onnxruntime.SessionOptions(); options.intra_op_num_threads = 1
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession({graph!r}, options, providers=["CPUExecutionProvider"])
session.run(None, {{"input_ids": numpy.ones((1, 3), "int32"), "lengths": numpy.full(1, 3, "int32")}})
print((time.process_time() - start) * 1e3)
"""


def show_load(cache: Path, model: str) -> None:
    (graph,) = (cache / model).glob("encoder-*.onnx")
    ours = fresh_process_ms(LOAD_OURS.format(model=model, cache=str(cache)))
    bare = fresh_process_ms(LOAD_BARE.format(graph=str(graph)))
    print(f"load    first vector in a new process, imports included: {ours:.0f} ms CPU, bare {bare:.0f}, "
          f"ratio {ours / bare:.2f}")  # fmt: skip


def fresh_process_ms(source: str) -> float:
    """The median of five."""
    runs = [subprocess.run([sys.executable, "-c", source], capture_output=True, check=True) for _ in range(5)]
    return float(np.median([float(run.stdout) for run in runs]))


def show_layouts(folder: Path, cache: Path, model: str, rounds: int) -> None:
    documents = sample_texts(folder, 140)[1]
    embedder = open_model(model, cache_dir=cache, threads=1)
    blocks = feeds(embedder, documents, 512)
    one, two = bare_session(cache, model), bare_session(cache, model, threads=2)

    def callers() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda block: one.run(None, block), blocks))

    def inner() -> None:
        for block in blocks:
            two.run(None, block)

    times: dict[str, list[tuple[float, float]]] = {"two callers, one thread each": [], "one caller, two threads": []}
    for _ in range(rounds):
        for name, job in zip(times, (callers, inner), strict=True):
            start = time.perf_counter()
            spent = cpu_ms(job)
            times[name].append((time.perf_counter() - start, spent / 1e3))
    for name, pairs in times.items():
        wall, cpu = np.median(pairs, axis=0)
        print(f"{name:30s} wall {wall:.2f} s   CPU {cpu:.2f} s")


def show_map(folder: Path, cache: Path) -> None:
    """Least squares through (1, 1) on the quantiles of random and of relevant pairs, as many from every set."""
    unrelated, related = sample_pairs(folder)
    shares = np.linspace(0.05, 0.95, 19)
    quantiles = []
    for known in (MINILM, GRANITE):
        embedder = open_model(known.model.name, cache_dir=cache)
        found = [np.quantile(cosines(embedder, pairs), shares) for pairs in (unrelated, related)]
        print(f"{known.model.name:30s} median cosine: random {found[0][9]:.3f}, relevant {found[1][9]:.3f}")
        quantiles.append(np.concatenate(found))
    target, source = 1 - quantiles[0], 1 - quantiles[1]
    scale = float((target * source).sum() / (source**2).sum())
    error = np.sqrt(np.mean((scale * source - target) ** 2))
    print(f"scale {scale:.3f} offset {1 - scale:.3f}, off by {error:.3f} (root mean square over the quantiles)")


def sample_pairs(folder: Path) -> tuple[Pairs, Pairs]:
    chosen = random.Random(0)
    unrelated: Pairs = []
    related: Pairs = []
    for path in sets(folder):
        queries = {row["_id"]: row["text"] for row in read_lines(path / "queries.jsonl")}
        documents = {row["_id"]: document_text(row) for row in read_lines(path / "corpus.jsonl.gz")}
        rows = [line.split("\t") for line in (path / "qrels.tsv").read_text().splitlines()[1:]]
        judged = [(queries[query], documents[document]) for query, document, score in rows if float(score) > 0]
        related += chosen.sample(judged, min(80, len(judged)))
        everything = list(documents.values())
        unrelated += [(chosen.choice(list(queries.values())), chosen.choice(everything)) for _ in range(80)]
    return unrelated, related


def cosines(embedder: OnnxEmbedder, pairs: Pairs) -> Any:
    queries = embedder.embed_queries([query for query, _ in pairs])
    return (queries * embedder.embed_passages([text for _, text in pairs])).sum(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default=MINILM.model.name)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "trivium" / "models")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layouts", action="store_true")
    parser.add_argument("--fit-map", action="store_true")
    given = parser.parse_args()
    if given.fit_map:
        show_map(given.folder, given.cache)
    elif given.layouts:
        show_layouts(given.folder, given.cache, given.model, given.rounds)
    else:
        show_costs(given.folder, given.cache, given.model, given.rounds)


if __name__ == "__main__":
    main()
