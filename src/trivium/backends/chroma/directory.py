"""Which passages the collection holds, as known here. The server could list them for every question, but that is the
dearest thing to ask of it."""

import numpy as np
import numpy.typing as npt

from trivium.model.embedding import Ids

PASSAGES = 1 << 16  # a chunk has far fewer

Keys = npt.NDArray[np.int64]  # chunk id * PASSAGES + number of the passage, sorted


def name(key: int) -> str:
    return f"{key // PASSAGES}:{key % PASSAGES}"


def keys(names: list[str]) -> Keys:
    pairs = (one.split(":") for one in names)
    return np.unique(np.array([int(chunk) * PASSAGES + int(number) for chunk, number in pairs], np.int64))


def chunks(passages: Keys) -> Ids:
    return passages // PASSAGES


def of_chunks(passages: Keys, chunk_ids: Ids) -> Keys:
    """The passages of these chunks; each chunk once, whatever the order asked."""
    wanted = np.unique(chunk_ids)
    starts = np.searchsorted(passages, wanted * PASSAGES)
    ends = np.searchsorted(passages, (wanted + 1) * PASSAGES)
    picked = [passages[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True) if end > start]
    return np.concatenate(picked) if picked else np.empty(0, np.int64)


def best(passages: Keys, scores: npt.NDArray[np.float32]) -> tuple[Ids, npt.NDArray[np.float32]]:
    """Each chunk with the score of its best passage, by chunk id."""
    ids, at = np.unique(chunks(passages), return_inverse=True)
    top = np.full(len(ids), -np.inf, np.float32)
    np.maximum.at(top, at, scores)
    return ids, top
