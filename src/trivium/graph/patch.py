"""An image with a few files read anew: everything else is taken over as it is, renumbered where symbols were added."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.graph.image import NOWHERE, GraphImage, inner_ranges
from trivium.graph.links import Numbers
from trivium.model.code import BlindSpots, Edge, Symbol


@dataclass(frozen=True, slots=True)
class FileState:
    """All symbols in a file (and packages it imports), and all edges that leave it, in order."""

    file_id: str
    symbols: Sequence[Symbol]
    edges: Sequence[Edge]


def patched(image: GraphImage, files: Iterable[FileState], blind_spots: Mapping[str, BlindSpots]) -> GraphImage:
    new = GraphImage.__new__(GraphImage)
    new.blind_spots = blind_spots
    states = list(files)
    _put_symbols(image, new, states)
    _put_edges(image, new, states)
    return new


def _key(symbol: Symbol) -> str:
    return symbol.symbol_id


def _order(edge: Edge) -> tuple[str, str, str]:
    return edge.source, edge.target, edge.relationship


def _put_symbols(image: GraphImage, new: GraphImage, states: Sequence[FileState]) -> None:
    gone = [s for state in states for s in image.in_file(state.file_id)]
    come = [s for state in states for s in state.symbols]
    new.symbols = dict(image.symbols)
    new.names = dict(image.names)
    new.of_repository = dict(image.of_repository)
    leaving = {s.symbol_id for s in gone}
    for symbol in gone:
        del new.symbols[symbol.symbol_id]
        for name in image.names_of(symbol):
            new.names[name] = [s for s in new.names[name] if s.symbol_id not in leaving]
    for symbol in come:
        new.symbols[symbol.symbol_id] = symbol
        for name in image.names_of(symbol):
            others = [s for s in new.names.get(name, ()) if s.symbol_id != symbol.symbol_id]
            insort(others, symbol, key=_key)
            new.names[name] = others
    for repository in {s.repository for s in (*gone, *come) if s.kind != "package"}:
        kept = [s for s in image.of_repository.get(repository, ()) if s.symbol_id not in leaving]
        mine = [s for s in come if s.repository == repository and s.kind != "package"]
        new.of_repository[repository] = sorted(kept + mine, key=_key)


def _put_edges(image: GraphImage, new: GraphImage, states: Sequence[FileState]) -> None:
    come = [e for state in states for e in state.edges]
    ends = {end for e in come for end in (e.source, e.target)} | {s.symbol_id for x in states for s in x.symbols}
    added = sorted(end for end in ends if end not in image.numbers)
    moved = _insert_ids(image, new, added)
    for symbol in [s for state in states for s in (*image.in_file(state.file_id), *state.symbols)]:
        new.at[new.numbers[symbol.symbol_id]] = new.symbols.get(symbol.symbol_id, NOWHERE)
    keep = np.ones(len(image.edges), np.bool_)
    for state in states:
        for first, end in image.ranges_of(state.file_id):
            keep &= (image.links.sources < first) | (image.links.sources >= end)
    new.edges = [edge for edge, stays in zip(image.edges, keep.tolist(), strict=True) if stays]
    places = [bisect_left(new.edges, _order(edge), key=_order) for edge in come]
    order = sorted(range(len(come)), key=lambda n: _order(come[n]))
    for shift, n in enumerate(order):
        new.edges.insert(places[n] + shift, come[n])
    at, rows = [places[n] for n in order], new.rows([come[n] for n in order])
    old = (moved[image.links.sources], moved[image.links.targets], image.links.ranks, image.kinds)
    sources, targets, ranks, kinds = (
        np.insert(column[keep], at, row).astype(column.dtype) for column, row in zip(old, rows, strict=True)
    )
    inner = _moved_ranges(image, new, moved, added)
    new.link(sources, targets, ranks, kinds, inner)


def _insert_ids(image: GraphImage, new: GraphImage, added: Sequence[str]) -> Numbers:
    """Puts new ids into their places; answers the new number of every old one."""
    new.at = list(image.at)
    if not added:
        new.ids, new.numbers = image.ids, image.numbers
        return np.arange(len(image.ids))
    places = [bisect_left(image.ids, key) for key in added]
    new.ids = list(image.ids)
    for shift, (place, key) in enumerate(zip(places, added, strict=True)):
        new.ids.insert(place + shift, key)
        new.at.insert(place + shift, NOWHERE)
    new.numbers = dict(zip(new.ids, range(len(new.ids)), strict=True))
    before = np.arange(len(image.ids))
    return before + np.searchsorted(places, before, side="right")


def _moved_ranges(image: GraphImage, new: GraphImage, moved: Numbers, added: Sequence[str]) -> tuple[Numbers, Numbers]:
    first, end = image.links.inner
    if not added:
        return first, end
    firsts, ends = np.zeros(len(new.ids), np.int64), np.zeros(len(new.ids), np.int64)
    filled = end > first
    firsts[moved[filled]] = moved[first[filled]]
    ends[moved[filled]] = moved[end[filled] - 1] + 1
    # What was added may stand at the edge of the range of what is around it, or have things inside itself.
    for file in {key.partition("::")[0] for key in added}:
        start, stop = bisect_left(new.ids, file + "::"), bisect_left(new.ids, file + ":;")
        some = [file] * (file in new.numbers) + new.ids[start:stop]
        for number, (low, high) in inner_ranges(some, {key: new.numbers[key] for key in some}).items():
            firsts[number], ends[number] = low, high
    return firsts, ends
