"""KeywordIndex on pg_textsearch: BM25 inside the database, over the same terms as the embedded index.

A term is stored as letters and digits that stand for its bytes, so that PostgreSQL's parser, which would cut and change
words by rules of its own, takes it as it is. The score is that of the whole text plus a lighter one of the header;
the best of the sum are found by reading both lists from the top until nothing further down can still get in.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trivium.backends.postgres.database import PostgresDatabase
from trivium.backends.postgres.session import Session
from trivium.model.embedding import Ids
from trivium.ports.keywords import KeywordMatches, KeywordRow

SCHEMA = (
    """-- PostgreSQL
CREATE TABLE keyword_terms (chunk_id BIGINT PRIMARY KEY, terms TEXT NOT NULL, header TEXT NOT NULL);
CREATE TABLE keyword_position (single BOOLEAN PRIMARY KEY CHECK (single), position BIGINT NOT NULL);
INSERT INTO keyword_position VALUES (TRUE, 0);
CREATE INDEX keyword_terms_bm25 ON keyword_terms USING bm25 (terms) WITH (text_config = 'simple');
CREATE INDEX keyword_header_bm25 ON keyword_terms USING bm25 (header) WITH (text_config = 'simple');
""",
)
HEADER_WEIGHT = 0.35  # docs/decisions/fusion.md
MAX_TERMS = 64
FEW_IDS = 2_000  # up to here every allowed chunk is scored
_SIDES = {"terms": "keyword_terms_bm25", "header": "keyword_header_bm25"}

Analyse = Callable[[str], list[str]]
Scores = npt.NDArray[np.float64]


def has_pg_textsearch(database: PostgresDatabase) -> bool:
    """Whether an administrator has created the extension in this database."""
    with database.read() as db:
        return bool(db.execute("SELECT to_regtype('bm25query') IS NOT NULL").fetchone()[0])


class PgKeywordIndex:
    """`terms` and `query_terms` say what a text and a question are searched by."""

    def __init__(self, database: PostgresDatabase, terms: Analyse, query_terms: Analyse) -> None:
        self._database, self._terms, self._query_terms = database.without_turns(), terms, query_terms
        self._best: tuple[int, dict[str, float]] = (-1, {})  # at a position: what each term is worth at most
        self._size = 0  # chunks, at that position
        database.migrate("keywords", SCHEMA)

    @property
    def position(self) -> int:
        with self._database.read() as db:
            return int(db.execute("SELECT position FROM keyword_position").fetchone()[0])

    def apply(self, added: Iterable[KeywordRow], removed: Iterable[int], position: int) -> None:
        rows = {row.chunk_id: row for row in added}
        with self._database.transaction() as db:
            db.execute("DELETE FROM keyword_terms WHERE chunk_id = ANY(?)", ([*map(int, removed), *rows],))
            db.executemany("INSERT INTO keyword_terms VALUES (?, ?, ?)", [self._row(row) for row in rows.values()])
            db.execute("UPDATE keyword_position SET position = ?", (position,))

    def match(self, query: str, limit: int, within: Ids | None = None) -> KeywordMatches:
        best = self._worth(self._query_terms(query))
        words, bound = " ".join(best), sum(best.values())
        if not best or limit < 1 or (within is not None and not within.size):
            return KeywordMatches(np.empty(0, np.int64), np.empty(0, np.float32), bound)
        with self._database.snapshot() as db:
            if within is not None and within.size <= FEW_IDS:
                ids, scores = _scored(db, words, within)
            else:
                ids, scores = self._top(db, words, limit, within)
        found = scores > 0
        ids, scores = ids[found], scores[found].round(4)
        order = np.lexsort((ids, -scores))[:limit]
        return KeywordMatches(ids[order], scores[order].astype(np.float32), bound)

    def count(self, query: str, within: Ids | None = None) -> int:
        best = self._worth(self._query_terms(query))
        if not best:
            return 0
        with self._database.snapshot() as db:
            ids, _ = _list(db, "terms", " ".join(best), max(1, self._size))
        return int(ids.size if within is None else np.count_nonzero(np.isin(ids, within)))

    def ids(self) -> Ids:
        with self._database.read() as db:
            row = db.execute(
                "SELECT string_agg(int8send(chunk_id), ''::bytea ORDER BY chunk_id) FROM keyword_terms"
            ).fetchone()
        return np.frombuffer(row[0] or b"", ">i8").astype(np.int64)

    def _row(self, row: KeywordRow) -> tuple[int, str, str]:
        header = [_coded(term) for term in self._terms(row.header)]
        return row.chunk_id, " ".join(header + [_coded(term) for term in self._terms(row.text)]), " ".join(header)

    def _worth(self, terms: Sequence[str]) -> dict[str, float]:
        """Each term with the highest score any chunk gets for it; of very many those that say most."""
        position = self.position
        if self._best[0] != position:
            self._best = (position, {})
            with self._database.read() as db:
                self._size = int(db.execute("SELECT COUNT(*) FROM keyword_terms").fetchone()[0])
        known = self._best[1]
        coded = dict.fromkeys(_coded(term) for term in terms)
        unknown = [term for term in coded if term not in known]
        unseen = math.log(1 + (self._size + 0.5) / 0.5)
        for start in range(0, len(unknown), MAX_TERMS):
            part = unknown[start : start + MAX_TERMS]
            with self._database.read() as db:
                worth = _tops(db, part)
            known |= {term: found or unseen for term, found in zip(part, worth, strict=True)}
        kept = sorted(coded, key=lambda term: (-known[term], term))[:MAX_TERMS]
        return {term: known[term] for term in coded if term in set(kept)}

    def _top(self, db: Session, words: str, limit: int, within: Ids | None) -> tuple[Ids, Scores]:
        everything = self._size
        share = 1.0 if within is None else min(1.0, within.size / max(1, everything))
        fetch = int(limit / share) + 64
        while True:
            lists = [_list(db, side, words, fetch) for side in _SIDES]
            ids, scores = _joined(db, words, lists, fetch, within)
            # No chunk further down either list can have more than the last of both together.
            ends = [float(worth[-1]) if found.size >= fetch else 0.0 for found, worth in lists]
            rest = ends[0] + HEADER_WEIGHT * ends[1]
            ranked = np.sort(scores)[::-1]
            if rest == 0.0 or fetch >= everything or (ranked.size >= limit and ranked[limit - 1] > rest + 1e-4):
                return ids, scores
            fetch *= 4


def _coded(term: str) -> str:
    return f"t{term.encode('utf-8', 'surrogatepass').hex()}"


def _tops(db: Session, terms: Sequence[str]) -> list[float]:
    """For each term the best score of any chunk, both sides together; asked in one round trip. 0 where none has it."""
    best = [
        f"COALESCE((SELECT -({side} <@> to_bm25query(?, '{index}')) FROM keyword_terms"
        f" ORDER BY {side} <@> to_bm25query(?, '{index}') LIMIT 1), 0)"
        for side, index in _SIDES.items()
    ]
    each = f"{best[0]} + {HEADER_WEIGHT} * {best[1]}"
    row = db.execute("SELECT " + ", ".join([each] * len(terms)), [term for term in terms for _ in range(4)]).fetchone()
    return [float(value) for value in row]


def _joined(
    db: Session, words: str, lists: list[tuple[Ids, Scores]], fetch: int, within: Ids | None
) -> tuple[Ids, Scores]:
    """Every chunk of both lists with its whole score. Who is not in a list that was read to its end has nothing there;
    only where a list was cut must the score be asked for."""
    ids = np.unique(np.concatenate([found for found, _ in lists]))
    if within is not None:
        ids = ids[np.isin(ids, within, assume_unique=True)]
    scores, unsure = np.zeros(ids.size), np.zeros(ids.size, np.bool_)
    for (found, worth), weight in zip(lists, (1.0, HEADER_WEIGHT), strict=True):
        inside = np.isin(found, ids)
        listed = np.zeros(ids.size, np.bool_)
        at = np.searchsorted(ids, found[inside])
        scores[at] += weight * worth[inside]
        listed[at] = True
        if found.size >= fetch:
            unsure |= ~listed
    if unsure.any():
        asked, known = _scored(db, words, ids[unsure])
        scores[np.searchsorted(ids, asked)] = known
    return ids, scores


def _list(db: Session, side: str, words: str, limit: int) -> tuple[Ids, Scores]:
    """The first of one list, best first."""
    query = f"{side} <@> to_bm25query(?, '{_SIDES[side]}')"
    return _pairs(
        db, f"SELECT chunk_id, -({query}) AS score FROM keyword_terms ORDER BY {query} LIMIT {limit}", [words] * 2
    )


def _scored(db: Session, words: str, ids: Ids) -> tuple[Ids, Scores]:
    """These chunks with their whole score, by id."""
    sides = [f"-({side} <@> to_bm25query(?, '{index}'))" for side, index in _SIDES.items()]
    return _pairs(
        db,
        f"SELECT chunk_id, {sides[0]} + {HEADER_WEIGHT} * {sides[1]} AS score FROM keyword_terms"
        " WHERE chunk_id = ANY(?) ORDER BY chunk_id",
        [words, words, ids.tolist()],
    )


def _pairs(db: Session, sql: str, values: Sequence[Any]) -> tuple[Ids, Scores]:
    row = db.execute(
        "SELECT string_agg(int8send(chunk_id), ''::bytea), string_agg(float8send(score), ''::bytea)"
        f" FROM ({sql}) AS listed",
        values,
    ).fetchone()
    return np.frombuffer(row[0] or b"", ">i8").astype(np.int64), np.frombuffer(row[1] or b"", ">f8").astype(np.float64)
