"""What ingestion costs beyond embedding, and how soon text can be found by its words.

    uv run python benchmarks/ingest.py [--files 300]

Takes real documentation in through the app, then embeds the same passages with the same runtime and nothing else, in
the same run. Bars: whole ingestion ≤ 1.25 × bare embedding; searchable by words after ≤ 5 % of the total.
"""

import argparse
import tempfile
import time
from pathlib import Path

from corpora import write_corpus
from trivium.app import open_app
from trivium.documents.passages import passages_of
from trivium.settings import Settings


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--files", type=int, default=300)
    options.add_argument("--corpus", default="corpus_kubernetes_docs")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        files = write_corpus(chosen.corpus, docs, chosen.files)
        app = open_app(Settings(data=Path(folder) / "data"))
        app.embedder.embed_passages(["warm"] * 8)
        app.tokens.count(["warm"])
        started, cpu = time.perf_counter(), time.process_time()
        report = app.documents.add([docs])
        searchable = time.perf_counter() - started
        app.embedding.run()
        whole, whole_cpu = time.perf_counter() - started, time.process_time() - cpu
        chunks = app.chunks.get(app.log.chunk_ids().tolist())
        model = app.embedder.model
        texts = [
            passage
            for row in passages_of(
                [(chunk.context_header, chunk.text) for chunk in chunks], app.embedder.count_tokens, model.max_tokens
            )
            for passage in row
        ]
        started, cpu = time.perf_counter(), time.process_time()
        app.embedder.embed_passages(texts)
        bare, bare_cpu = time.perf_counter() - started, time.process_time() - cpu
        app.close()
    print(f"{files} files, {report.chunks_added} chunks, {len(texts)} passages, {model.name}")
    print(f"ingest   wall {whole:7.1f} s  cpu {whole_cpu:7.1f} s")
    print(f"embed    wall {bare:7.1f} s  cpu {bare_cpu:7.1f} s")
    print(f"ratio    wall {whole / bare:7.2f}    cpu {whole_cpu / bare_cpu:7.2f}   (bar 1.25)")
    print(f"searchable by words after {searchable:.2f} s = {100 * searchable / whole:.1f} % of the total (bar 5 %)")


if __name__ == "__main__":
    main()
