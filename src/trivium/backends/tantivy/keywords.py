"""KeywordIndex on tantivy: BM25 over a chunk's whole text, plus a lighter BM25 over its header alone.

Chunks and the log position are written in one tantivy commit (the position is a document of its own), so a crash leaves
both or neither. Writers of all processes queue at a file lock; readers notice a commit by the file that names it.
"""

import math
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from trivium.backends.tantivy.lock import exclusive
from trivium.backends.tantivy.words import Analyzer
from trivium.errors import BackendUnavailable
from trivium.model.embedding import Ids
from trivium.ports.keywords import KeywordMatches, KeywordRow

_LEFTOVER = re.compile(r'FileAlreadyExists\("([0-9a-f]+\.\d+\.del)"\)')
_LAYOUT = "terms-1"  # names the folder: a change of fields or of words.py starts a new one, filled again from the log
_HEADER_WEIGHT = 0.35  # docs/decisions/fusion.md
_POSITION_ROW = -1  # the "chunk" that carries the position
_MAX_TERMS = 64  # of a query; the rarest are kept, so a pasted page costs no more than a long question
_WRITER_BYTES = 64_000_000
_FEW_IDS = 2_000  # up to here a filter is cheapest as single terms,
_BROAD_SHARE = 0.05  # from here it is cheapest to fetch more and drop what is outside


class TantivyKeywordIndex:
    """Lives in `path`. Safe to share between threads; several processes may open the same folder."""

    def __init__(self, path: Path, *, lock_timeout_s: float = 300.0) -> None:
        self._folder = path / _LAYOUT
        self._lock_file = path / "writer.lock"
        self._lock_timeout_s = lock_timeout_s
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._analyzer = analyzer()
        self._schema = _schema()
        self._index = self._opened()
        self._snapshot: _Snapshot | None = None

    @property
    def position(self) -> int:
        with _border():
            return self._current().position

    def apply(self, added: Iterable[KeywordRow], removed: Iterable[int], position: int) -> None:
        with _border(), self._writing, exclusive(self._lock_file, self._lock_timeout_s):
            rows, gone = list(added), list(removed)
            while not self._committed(rows, gone, position):
                """A leftover was in the way and is gone now; every round clears one, and there are few."""

    def _committed(self, added: Sequence[KeywordRow], removed: Sequence[int], position: int) -> bool:
        """False where a writer that was killed had left a file under the very name this commit needs: names of deletion
        files follow from the last commit, so they come again. Nobody refers to it, and the lock is ours."""
        writer = self._index.writer(_WRITER_BYTES, 1)
        try:
            self._write(writer, added, removed, position)
            writer.commit()
            return True
        except ValueError as error:
            leftover = _LEFTOVER.search(str(error))
            if leftover is None:
                raise
            (self._folder / leftover[1]).unlink()
            return False
        finally:
            writer.wait_merging_threads()

    def match(self, query: str, limit: int, within: Ids | None = None) -> KeywordMatches:
        with _border():
            snapshot = self._current()
            terms = snapshot.rarest(self._analyzer.query_terms(query))
            bound = sum(snapshot.best(term) for term in terms)
            known = snapshot.query(terms)
            if known is None or limit < 1 or (within is not None and not within.size):
                return KeywordMatches(np.empty(0, np.int64), np.empty(0, np.float32), bound)
            ids, scores = snapshot.top(known, limit, within)
            return KeywordMatches(ids, scores, bound)

    def count(self, query: str, within: Ids | None = None) -> int:
        with _border():
            snapshot = self._current()
            known = snapshot.query(snapshot.rarest(self._analyzer.query_terms(query)))
            return 0 if known is None else snapshot.count(known, within)

    def ids(self) -> Ids:
        with _border():
            return self._current().ids()

    def _opened(self) -> tantivy.Index:
        with _border():
            self._folder.mkdir(parents=True, exist_ok=True)
            with exclusive(self._lock_file, self._lock_timeout_s):
                index = tantivy.Index(self._schema, path=str(self._folder))
            index.config_reader("manual")
            return index

    def _write(
        self, writer: tantivy.IndexWriter, added: Iterable[KeywordRow], removed: Iterable[int], position: int
    ) -> None:
        for chunk_id in (*removed, _POSITION_ROW):
            writer.delete_documents_by_term("chunk_id", chunk_id)
        for row in added:
            writer.delete_documents_by_term("chunk_id", row.chunk_id)
            writer.add_document(self._document(row))
        mark = tantivy.Document()
        mark.add_integer("chunk_id", _POSITION_ROW)
        mark.add_integer("position", position)
        writer.add_document(mark)

    def _document(self, row: KeywordRow) -> tantivy.Document:
        header = self._analyzer.terms(row.header)
        document = tantivy.Document()
        document.add_integer("chunk_id", row.chunk_id)
        document.add_text("header", " ".join(header))
        document.add_text("text", " ".join(header + self._analyzer.terms(row.text)))
        return document

    def _current(self) -> "_Snapshot":
        """The newest commit. Every commit, whichever process makes it, replaces meta.json by renaming."""
        stat = (self._folder / "meta.json").stat()
        version = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        with self._reading:
            if self._snapshot is None or self._snapshot.version != version:
                self._index.reload()
                self._snapshot = _Snapshot(self._schema, self._index.searcher(), version)
            return self._snapshot


def analyzer() -> Analyzer:
    stemmer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stemmer("english")).build()
    return Analyzer(lambda word: next(iter(stemmer.analyze(word)), word))


class _Snapshot:
    """One commit as a reader sees it, with what is worth remembering about it."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, version: tuple[int, int, int]) -> None:
        self.version = version
        self._schema = schema
        self._searcher = searcher
        self._best: dict[str, float] = {}
        self.position = self._position()

    def rarest(self, terms: list[str]) -> list[str]:
        distinct = list(dict.fromkeys(terms))
        if len(distinct) <= _MAX_TERMS:
            return distinct
        kept = set(sorted(distinct, key=lambda term: (self._frequency("text", term), term))[:_MAX_TERMS])
        return [term for term in distinct if term in kept]

    def best(self, term: str) -> float:
        """The highest score any chunk gets for this term; what one mention would be worth if no chunk has it."""
        known = self._best.get(term)
        if known is None:
            tops = [self._searcher.search(part, 1, count=False).hits for part in self._parts(term)]
            # A term whose chunks were all removed is still counted by tantivy until it merges: hence the empty lists.
            parts = [hits[0][0] for hits in tops if hits]
            known = self._best[term] = sum(parts) if parts else math.log(1 + (self._searcher.num_docs + 0.5) / 0.5)
        return known

    def query(self, terms: list[str]) -> tantivy.Query | None:
        parts = [part for term in terms for part in self._parts(term)]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts]) if parts else None

    def top(self, query: tantivy.Query, limit: int, within: Ids | None) -> tuple[Ids, "np.typing.NDArray[np.float32]"]:
        if within is not None and within.size >= max(_FEW_IDS, _BROAD_SHARE * self._searcher.num_docs):
            return self._best_of(query, limit, within)
        return self._best_of(self._restricted(query, within), limit, None)

    def count(self, query: tantivy.Query, within: Ids | None) -> int:
        found: Any = self._searcher.search(self._restricted(query, within), 1, count=True)
        return int(found.count)  # missing in tantivy's type stubs

    def ids(self) -> Ids:
        found = self._searcher.search(tantivy.Query.all_query(), max(1, self._searcher.num_docs), count=False)
        ids = self._ids_of([address for _, address in found.hits])
        return np.sort(ids[ids != _POSITION_ROW])

    def _best_of(
        self, query: tantivy.Query, limit: int, within: Ids | None
    ) -> tuple[Ids, "np.typing.NDArray[np.float32]"]:
        """Fetches more until `limit` are found and no tie is cut, so that the order never depends on the segments."""
        share = 1.0 if within is None else within.size / max(1, self._searcher.num_docs)
        fetch = int(limit / min(1.0, share)) + 16
        while True:
            hits = self._searcher.search(query, fetch, count=False).hits
            ids = self._ids_of([address for _, address in hits])
            scores = np.array([score for score, _ in hits], np.float32).round(4)
            is_all, last = len(hits) < fetch, scores[-1] if hits else 0.0
            if within is not None:
                inside = _is_among(ids, within)
                ids, scores = ids[inside], scores[inside]
            if is_all or (scores.size >= limit and scores[limit - 1] > last):
                order = np.lexsort((ids, -scores))[:limit]
                return ids[order], scores[order]
            fetch *= 4

    def _restricted(self, query: tantivy.Query, within: Ids | None) -> tantivy.Query:
        if within is None:
            return query
        if within.size <= _FEW_IDS:
            single = [(tantivy.Occur.Should, self._term("chunk_id", int(chunk_id))) for chunk_id in within]
            allowed = tantivy.Query.boolean_query(single)
        else:
            allowed = tantivy.Query.term_set_query(self._schema, "chunk_id", within.tolist())
        only = tantivy.Query.const_score_query(allowed, 0.0)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, only), (tantivy.Occur.Must, query)])

    def _parts(self, term: str) -> Iterator[tantivy.Query]:
        if self._frequency("text", term):
            yield self._term("text", term)
        if self._frequency("header", term):
            yield tantivy.Query.boost_query(self._term("header", term), _HEADER_WEIGHT)

    def _term(self, field: str, value: str | int) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, "basic" if field == "chunk_id" else "freq")

    def _frequency(self, field: str, term: str) -> int:
        return int(self._searcher.doc_freq(field, term))

    def _ids_of(self, addresses: list[tantivy.DocAddress]) -> Ids:
        return np.array(self._searcher.fast_field_values("chunk_id", addresses), np.int64)

    def _position(self) -> int:
        hits = self._searcher.search(self._term("chunk_id", _POSITION_ROW), 1, count=False).hits
        values = self._searcher.fast_field_values("position", [address for _, address in hits])
        return int(values[0] or 0) if values else 0


def _is_among(ids: Ids, sorted_ids: Ids) -> "np.typing.NDArray[np.bool_]":
    """As np.isin, without sorting the large side again."""
    return np.asarray(np.append(sorted_ids, _POSITION_ROW)[np.searchsorted(sorted_ids, ids)] == ids)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("chunk_id", indexed=True, fast=True)
    builder.add_integer_field("position", fast=True)
    for field in ("header", "text"):
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


@contextmanager
def _border() -> Iterator[None]:
    """tantivy reports everything, disk failures included, as these two."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise BackendUnavailable(
            f"the keyword index does not answer: {error}",
            hint="`trivium doctor` checks it, `trivium reindex` rebuilds it",
        ) from error
