"""Searches a view: which chunks are worth an exact score, and the exact scores of chunks."""

import numpy as np
import numpy.typing as npt

from trivium.backends.bits.directory import Positions, spans
from trivium.backends.bits.signs import Hidden, Probe, Rows, differing, lowest, weighted
from trivium.backends.bits.vectors import Scores
from trivium.backends.bits.view import Signs, View
from trivium.model.embedding import Ids, Vector

_WEIGHED_SHARE = 0.005  # of all rows go from counting to weighing,
_WEIGHED_LEAST = 8_000
_RESCORED_LEAST = 1_250  # and this many from weighing to exact scores
_RESCORED_PER_RESULT = 2
_EXACT_FILTER_ROWS = 4_000  # a filter that leaves no more is searched without a scan
_DENSE_IDS = 16  # ids up to this many times their number are looked up in a table


def nearest(view: View, query: Vector, limit: int, within: Ids | None) -> tuple[Ids, Scores]:
    positions = _candidates(view, query, limit, within)
    ids, scores = view.directory.chunks[positions], best_passages(view, query, positions)
    order = np.lexsort((ids, -scores))[:limit]
    return ids[order], scores[order]


def best_passages(view: View, query: Vector, positions: Positions) -> Scores:
    """The best exact score among all passages of each chunk."""
    if not len(positions):
        return np.empty(0, np.float32)
    first, count = view.directory.first[positions], view.directory.count[positions]
    scores = view.scores(query, spans(first, count))
    return np.maximum.reduceat(scores, np.cumsum(count) - count)


def _candidates(view: View, query: Vector, limit: int, within: Ids | None) -> Positions:
    """Places in the directory of the chunks among which the nearest are."""
    directory = view.directory
    everything = view.signs is None or _rescored(limit) >= directory.live_rows
    if within is None:
        return directory.live() if everything else _scanned(view, view.signs, query, limit, view.hidden)
    if len(within) <= _EXACT_FILTER_ROWS or everything:
        allowed = directory.find(within)
        allowed = allowed[allowed >= 0]
        if everything or directory.count[allowed].sum() <= _EXACT_FILTER_ROWS:
            return allowed
    hidden = _hidden_outside(directory.owners, within)
    return _scanned(view, view.signs, query, limit, hidden)


def _rescored(limit: int) -> int:
    return max(_RESCORED_LEAST, int(_RESCORED_PER_RESULT * limit))


def _scanned(view: View, signs: Signs | None, query: Vector, limit: int, hidden: Hidden | None) -> Positions:
    """Widens until there are `limit` chunks: several of the rows found may be passages of one."""
    assert signs is not None
    probe = Probe.of(query, signs.axes)
    distance = differing(signs.buffer, probe, view.directory.rows)
    if hidden is not None:
        np.bitwise_or(distance, hidden, out=distance)
    wanted = _rescored(limit)
    while True:
        rows = _worth_scoring(signs, probe, distance, hidden, wanted)
        chunks = _distinct(view.directory.owners[rows])
        if len(chunks) >= limit or len(rows) < wanted:
            return view.directory.find(chunks)
        wanted *= 4


def _worth_scoring(
    signs: Signs, probe: Probe, distance: npt.NDArray[np.uint8], hidden: Hidden | None, wanted: int
) -> Rows:
    weighed = max(_WEIGHED_LEAST, int(_WEIGHED_SHARE * len(distance)), 4 * wanted)
    rows = lowest(distance, weighed)
    if hidden is not None:
        rows = rows[hidden[rows] == 0]
    if len(rows) <= wanted:
        return rows
    return rows[np.argpartition(weighted(signs.buffer, probe, rows), wanted)[:wanted]]


def _distinct(ids: Ids) -> Ids:
    """np.unique at a quarter of its price."""
    ids = np.sort(ids)
    distinct: Ids = ids[np.append(True, ids[1:] != ids[:-1])[: len(ids)]]
    return distinct


def _hidden_outside(owners: Ids, within: Ids) -> Hidden:
    """Hides every row whose chunk is not among these; dead rows belong to no chunk."""
    top = int(within[-1])
    if top > _DENSE_IDS * len(owners):
        return np.where(np.isin(owners, within), np.uint8(0), np.uint8(255))
    table = np.full(top + 2, 255, np.uint8)  # the last entry stands for every id above, and for -1
    table[within] = 0
    return table[np.minimum(owners, top + 1)]
