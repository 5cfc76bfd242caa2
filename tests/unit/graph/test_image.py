"""Walks over the arrays of an image find what a plain walk over the edges finds."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.graph.image import GraphImage
from trivium.model.code import CONFIDENCE, RELATIONSHIPS, Edge, Symbol, is_inside

KINDS = {"a.py": "file", "b.py": "file", "a.py::C": "class", "b.py::D": "class", "b.py::D.E": "class"}
PATHS = ["a.py", "a.py::C", "a.py::C.m", "a.py::C.n", "a.py::Cx", "a.py::f", "a.py::f.g", "b.py", "b.py::D"]
PATHS += ["b.py::D.E", "b.py::D.E.m", "b.py::h"]
SYMBOLS = {
    path: Symbol(f"symbol:{name}:{path}", KINDS.get(path, "function"), name, path, "", path, 1, 2)  # type: ignore[arg-type]
    for path in PATHS
    for name in ("one" if path.startswith("a") else "two",)
}
WHOLE = ("file", "class")


def make(edges: list[tuple[str, str, str, str]]) -> GraphImage:
    kept = {
        (a, b, kind): Edge(SYMBOLS[a].symbol_id, SYMBOLS[b].symbol_id, kind, 1, how, CONFIDENCE[how])  # type: ignore[index,arg-type]
        for a, b, kind, how in edges
    }
    ordered = sorted(kept.values(), key=lambda e: (e.source, e.target, e.relationship))
    return GraphImage(sorted(SYMBOLS.values(), key=lambda s: s.symbol_id), ordered, {})


EDGES = st.lists(
    st.tuples(
        st.sampled_from(PATHS), st.sampled_from(PATHS), st.sampled_from(RELATIONSHIPS), st.sampled_from([*CONFIDENCE])
    ),
    max_size=30,
)
SOME = st.lists(st.sampled_from(RELATIONSHIPS), min_size=1, unique=True)


def neighbours(image: GraphImage, of: str, kinds: list[str], backwards: bool, inside: bool) -> list[Edge]:
    here = [e for e in image.edges if e.relationship in kinds]
    return [e for e in here if (end := e.target if backwards else e.source) == of or (inside and is_inside(end, of))]


def plain_walk(image: GraphImage, start: Symbol, kinds: list[str], backwards: bool, within: str | None):  # type: ignore[no-untyped-def]
    found: dict[str, tuple[Edge, int]] = {}
    level, depth = [start.symbol_id], 0
    while level:
        depth += 1
        best: dict[str, Edge] = {}
        for symbol in level:
            for edge in neighbours(image, symbol, kinds, backwards, depth > 1 or start.kind in WHOLE):
                far = edge.source if backwards else edge.target
                outside = within is not None and not far.startswith(f"symbol:{within}:")
                if far in found or is_inside(far, start.symbol_id) or outside:
                    continue
                known = best.get(far)
                if known is None or (-edge.confidence, edge.source, edge.target, edge.relationship) < (
                    -known.confidence,
                    known.source,
                    known.target,
                    known.relationship,
                ):
                    best[far] = edge
        found |= {far: (edge, depth) for far, edge in sorted(best.items())}
        level = sorted(best)
    return found


@settings(deadline=None)
@given(EDGES, st.sampled_from(PATHS), SOME, st.booleans(), st.sampled_from([None, "one", "two"]), st.integers(0, 8))
def test_everything_is_reached_once_at_its_least_distance_by_its_surest_edge(
    edges: list[tuple[str, str, str, str]], at: str, kinds: list[str], backwards: bool, within: str | None, cut: int
) -> None:
    image, start = make(edges), SYMBOLS[at]
    expected = plain_walk(image, start, kinds, backwards, within)
    reach = image.reach(start, 20, kinds, backwards, None if within is None else [within])  # type: ignore[arg-type]
    steps = reach.steps(0, sum(reach.counts))
    assert {s.symbol.symbol_id: (s.edge, s.depth) for s in steps} == expected
    assert [(s.depth, s.symbol.symbol_id) for s in steps] == sorted((s.depth, s.symbol.symbol_id) for s in steps)
    assert reach.sure == sum(edge.resolution != "name_match" for edge, _ in expected.values())
    assert reach.steps(cut, cut + 3) == steps[cut : cut + 3]


@settings(deadline=None)
@given(EDGES, st.sampled_from(PATHS), st.sampled_from(PATHS), SOME, st.integers(1, 6))
def test_a_path_is_a_chain_and_as_short_as_there_is(
    edges: list[tuple[str, str, str, str]], a: str, b: str, kinds: list[str], hops: int
) -> None:
    image, start, goal = make(edges), SYMBOLS[a], SYMBOLS[b]
    if a == b:
        return
    found = image.path(start, goal, hops, kinds)  # type: ignore[arg-type]
    shortest = plain_distance(image, start, goal, kinds)
    assert (len(found) if found is not None else None) == (shortest if shortest and shortest <= hops else None)
    if found:
        assert stands_for(start, found[0].source)
        assert stands_for(goal, found[-1].target)
        assert all(x.target == y.source for x, y in itertools.pairwise(found))


def stands_for(outer: Symbol, inner: str) -> bool:
    return inner == outer.symbol_id or (outer.kind in WHOLE and is_inside(inner, outer.symbol_id))


def plain_distance(image: GraphImage, start: Symbol, goal: Symbol, kinds: list[str]) -> int | None:
    level = {s.symbol_id for s in SYMBOLS.values() if stands_for(start, s.symbol_id)} - {goal.symbol_id}
    seen, hops = set(level), 0
    while level:
        hops += 1
        far = {e.target for e in image.edges if e.relationship in kinds and e.source in level}
        if any(stands_for(goal, f) and f != start.symbol_id for f in far):
            return hops
        level = far - seen
        seen |= level
    return None
