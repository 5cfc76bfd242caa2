"""The backends that test_vectors.py runs on, and a history for a process that gets killed while it writes it.

python vector_backends.py BACKEND FOLDER    goes on with the history for ever, printing every position it has reached
"""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from servers import server_url
from sql_databases import postgresql_url

from trivium.backends.bits import BitsVectorIndex
from trivium.backends.chroma import ChromaVectorIndex
from trivium.model.embedding import Vectors
from trivium.ports.vectors import VectorIndex

DIMENSION = 16
Backend = Callable[[Path], VectorIndex]

BACKENDS: dict[str, Backend] = {
    "bits": lambda path: BitsVectorIndex(path, DIMENSION),
    "bits as when large": lambda path: BitsVectorIndex(
        path, DIMENSION, exact_rows=3, least_dead_rows=2, mapped_bytes=0
    ),
    "pgvector": lambda path: _on_postgresql(path),
    "pgvector as when large": lambda path: _on_postgresql(path, exact_rows=3, exact_within=2),
    "chroma": lambda path: _on_chroma(path),
}
REMOTE = ("chroma",)  # hold parts of an interrupted call until it is applied again


def _on_postgresql(path: Path, **sizes: int) -> VectorIndex:
    from trivium.backends.postgres.database import PostgresDatabase
    from trivium.backends.postgres.vectors import PgVectorIndex

    return PgVectorIndex(PostgresDatabase(postgresql_url(path), durable=False), "contract", DIMENSION, **sizes)


def _on_chroma(path: Path) -> ChromaVectorIndex:
    name = f"contract-{hashlib.sha256(str(path).encode()).hexdigest()[:24]}"
    return ChromaVectorIndex(server_url("chroma"), name, DIMENSION)


def step(number: int) -> tuple[dict[int, Vectors], list[int]]:
    """Replaces and removes so much that indexes which compact or fit anew do so all the time."""
    random = np.random.default_rng(number)
    vectors = random.standard_normal((60, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    first = 37 * number
    return {(first + i) % 400: vectors[i : i + 1] for i in range(60)}, [(first + 100 + i) % 400 for i in range(25)]


def state_at(position: int) -> dict[int, Vectors]:
    state: dict[int, Vectors] = {}
    for number in range(1, position + 1):
        added, removed = step(number)
        state = {chunk: vector for chunk, vector in state.items() if chunk not in removed} | added
    return state


def write_history(name: str, path: Path) -> None:
    index = BACKENDS[name](path)
    while True:
        number = index.position + 1
        added, removed = step(number)
        index.apply(added.items(), removed, number)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    write_history(sys.argv[1], Path(sys.argv[2]))
