"""Reads waiting chunks and records what they say, in the background of whatever else happens.

The queue is in the store, so a run that is cut off goes on where it stopped; a text is read once, however many chunks
have it, until the extractor changes.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from trivium.documents.extract.front_matter import front_matter_facts
from trivium.documents.extract.resolve import resolve_document
from trivium.documents.extract.text import Span, mask, sentences
from trivium.model.progress import Progress, silent
from trivium.model.vendor import Extraction, Link, Mention
from trivium.ports.extractor import Extractor
from trivium.ports.vendor_graph import ExtractionQueue, FactBatch, WaitingChunk

BATCH = 256
POLL_S = 0.5
MOST_RELATED = 6  # mentions in a sentence: more than that is an enumeration, and everything would relate to everything
RELATED = 0.5

TryExclusive = Callable[[], AbstractContextManager[bool]]


class ExtractChunks:
    """`alone` is held while extracting; it yields False where another process is at it already."""

    def __init__(self, queue: ExtractionQueue, extractor: Extractor, alone: TryExclusive) -> None:
        self._queue, self._extractor, self._alone = queue, extractor, alone

    def pending(self) -> int:
        return self._queue.pending(self._extractor.name)

    def run(self, progress: Progress = silent, stop: threading.Event | None = None) -> int:
        """Extracts until nothing waits (or `stop` is set); answers how many chunks were read here."""
        total, done = self.pending(), 0
        while (waiting := self.pending()) and not (stop and stop.is_set()):
            progress(max(total - waiting, 0), total, "")
            with self._alone() as mine:
                taken = self._batch() if mine else 0
            done += taken
            if not taken:  # others are at what still waits
                time.sleep(POLL_S)
        progress(total, total, "")
        return done

    def _batch(self) -> int:
        waiting = self._queue.take(self._extractor.name, BATCH)
        if not waiting:
            return 0
        hashes = {chunk.chunk_id: _hash(chunk.text) for chunk in waiting}
        known = self._queue.cached(self._extractor.name, sorted(set(hashes.values())))
        missing = {hashes[c.chunk_id]: c.text for c in waiting if hashes[c.chunk_id] not in known}
        found = dict(zip(missing, read(list(missing.values()), self._extractor), strict=True))
        every = known | found
        extractions = {chunk.chunk_id: every[hashes[chunk.chunk_id]] for chunk in waiting}
        self._queue.store(self._extractor.name, found, list(hashes), _facts(waiting, extractions))
        return len(waiting)


def read(texts: Sequence[str], extractor: Extractor) -> list[Extraction]:
    """Whole texts, sentence by sentence; places are those of the text."""
    spans = [sentences(text) for text in texts]
    masked = [mask(text) for text in texts]
    flat = [masked[n][start:end] for n, row in enumerate(spans) for start, end in row]
    found = iter(extractor.extract(flat))
    return [_joined([(span, next(found)) for span in row]) for row in spans]


def _joined(parts: Sequence[tuple[Span, Extraction]]) -> Extraction:
    mentions: list[Mention] = []
    links: list[Link] = []
    for (start, _), part in parts:
        first = len(mentions)
        mentions += [Mention(m.start + start, m.end + start, m.entity_type, m.confidence) for m in part.mentions]
        links += [
            Link(k.head + first, k.tail + first, k.relationship_type, k.confidence)
            for k in (*part.links, *related(part))
        ]
    return Extraction(tuple(mentions), tuple(links))


def related(part: Extraction) -> list[Link]:
    """A company and what is named beside it in the same sentence, where nothing closer is known."""
    if len(part.mentions) > MOST_RELATED:
        return []
    known = {frozenset((link.head, link.tail)) for link in part.links}
    links = []
    for head, one in enumerate(part.mentions):
        for tail, two in enumerate(part.mentions):
            is_pair = one.entity_type == "ORG" and head != tail and (two.entity_type != "ORG" or head < tail)
            if is_pair and frozenset((head, tail)) not in known:
                links.append(Link(head, tail, "RELATED_TO", round(RELATED * min(one.confidence, two.confidence), 4)))
    return links


def _facts(waiting: Sequence[WaitingChunk], extractions: dict[int, Extraction]) -> list[FactBatch]:
    """One batch a document, and one for each front matter."""
    documents: dict[int, list[WaitingChunk]] = {}
    for chunk in waiting:
        documents.setdefault(chunk.document_id, []).append(chunk)
    batches = []
    for chunks in documents.values():
        texts = {chunk.chunk_id: chunk.text for chunk in chunks}
        batches.append(resolve_document(texts, {number: extractions[number] for number in texts}))
        batches += [b for c in chunks if c.is_first for b in [front_matter_facts(c.metadata, c.chunk_id)] if b]
    return [batch for batch in batches if batch.mentions]


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
