"""Finds names that contain a text, newest concept first, without an index to maintain on every write.

All names lie in one string in memory (about 3 MB for 100 000) and `str.find` runs over it; what changed since it was
built is kept beside it. It follows the concepts by position, so that writes of other processes are seen too. Measured
against FTS5 trigrams and LIKE in docs/decisions/concepts.md.
"""

import threading
from bisect import bisect_right
from collections.abc import Iterator

from trivium.ports.sql import SqlConnection

REBUILD_AFTER = 2_000  # changed names that are looked at one by one before the string is built anew
_SEPARATOR = "\0"


class NameFinder:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._position = -1
        self._text = ""
        self._keys: list[int] = []  # newest first, as in the text
        self._starts: list[int] = []
        self._changed: dict[int, str | None] = {}  # since the text was built; None: deleted

    def containing(self, db: SqlConnection, part: str) -> Iterator[int]:
        """Keys of the concepts whose name contains `part`, whatever the case; newest first."""
        needle = part.casefold()
        with self._lock:
            self._follow(db)
            text, keys, starts, changed = self._text, self._keys, self._starts, dict(self._changed)
        recent = sorted((key for key, name in changed.items() if name is not None and needle in name), reverse=True)
        return _merged(recent, _found(text, keys, starts, needle), changed)

    def _follow(self, db: SqlConnection) -> None:
        rows = db.execute(
            "SELECT key, name, changed, deleted_at FROM concepts WHERE changed > ? ORDER BY changed", (self._position,)
        ).fetchall()
        if not rows:
            return
        if self._position < 0 or len(rows) + len(self._changed) > REBUILD_AFTER:
            self._build(db)
            return
        for key, name, changed, deleted_at in rows:
            self._changed[key] = None if deleted_at else name.casefold()
            self._position = changed

    def _build(self, db: SqlConnection) -> None:
        rows = db.execute("SELECT key, name FROM concepts WHERE deleted_at IS NULL ORDER BY key DESC").fetchall()
        self._position = db.execute("SELECT COALESCE(MAX(changed), -1) FROM concepts").fetchone()[0]
        names = [name.casefold() for _, name in rows]
        self._keys = [key for key, _ in rows]
        self._text = _SEPARATOR.join(names)
        self._starts, start = [], 0
        for name in names:
            self._starts.append(start)
            start += len(name) + 1
        self._changed = {}


def _found(text: str, keys: list[int], starts: list[int], needle: str) -> Iterator[int]:
    at = text.find(needle) if keys else -1
    while at >= 0:
        number = bisect_right(starts, at) - 1
        yield keys[number]
        if number + 1 == len(starts):
            return
        at = text.find(needle, starts[number + 1])


def _merged(recent: list[int], older: Iterator[int], changed: dict[int, str | None]) -> Iterator[int]:
    """Both are newest first; of a changed name only the recent form counts."""
    waiting = iter(recent)
    head = next(waiting, None)
    for key in older:
        if key in changed:
            continue
        while head is not None and head > key:
            yield head
            head = next(waiting, None)
        yield key
    while head is not None:
        yield head
        head = next(waiting, None)
