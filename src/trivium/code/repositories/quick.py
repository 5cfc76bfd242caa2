"""A few changed files of a large repository, shown long before the whole of it is analysed again.

First what they say themselves (symbols, imports, chunks), then the calls they make, found from their neighbourhood. The
whole analysis, which alone knows who else calls into them, replaces both later; until then the graph carries a blind
spot that says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trivium.code import local
from trivium.code.analyse import DYNAMIC, is_config, pack, read_facts, unpack
from trivium.code.lowering import ops
from trivium.code.repositories.look import Look
from trivium.code.repositories.packaged import package_prefix, seen_from_inside
from trivium.code.repositories.walk import SourceFile
from trivium.model.code import CodeGraph, Edge, Symbol
from trivium.ports.repositories import FactsCache, GraphPatch, GraphPatches

WORTH_BYTES = 1_500_000  # of code: below, everything is analysed anew in a second or less
MOST_FILES = 20


@dataclass(frozen=True, slots=True)
class Changed:
    """A file that was indexed before, as it is now."""

    source: SourceFile
    fingerprint: str
    facts: ops.FileFacts


class QuickView:
    """One repository and its changed files; the paths inside are those seen from above a package."""

    def __init__(
        self, name: str, look: Look, changed: Sequence[Changed], facts: FactsCache, patches: GraphPatches
    ) -> None:
        self._name, self._cache, self._patches = name, facts, patches
        self._prefix = package_prefix(look.root)
        self._files = {self._prefix + path: file for path, file in look.before.items()}
        self._changed = changed
        facts_now = [self._placed(one.facts) for one in changed]
        configs = {path: (look.root / file.path).read_bytes() for path, file in self._files.items() if is_config(path)}
        self._around = local.Surroundings(facts_now, self._others(facts_now), configs)
        self._before = patches.leaving(name, [one.source.path for one in changed])

    def _placed(self, facts: ops.FileFacts) -> ops.FileFacts:
        return facts._replace(path=self._prefix + facts.path)

    def _others(self, changed: Sequence[ops.FileFacts]) -> dict[str, ops.FileFacts]:
        """Where a file of a statically typed language changed, its imports need what the others declare."""
        family = {path: local.family(file.language) for path, file in self._files.items() if file.language}
        found = {path: local.name_only(path, word) for path, word in family.items() if word in DYNAMIC}
        if any(facts.language not in DYNAMIC for facts in changed):
            typed = [path for path, word in family.items() if word not in DYNAMIC]
            found |= {facts.path: facts for facts in self._read(typed)}
        return found

    def _read(self, paths: Sequence[str]) -> list[ops.FileFacts]:
        wanted = {path: self._files[path].fingerprint for path in paths}
        packed = self._cache.get(set(wanted.values()))
        return [self._placed(unpack(packed[key])) for key in wanted.values() if key in packed]

    def imports(self) -> GraphPatch:
        """What the files say themselves; calls stay as they were."""
        graph = seen_from_inside(self._around.imports(self._name), self._prefix)
        here = {s.symbol_id for s in graph.symbols}
        kept = [e for e in self._before if e.relationship != "imports" and e.source in here]
        return self._patch(graph, kept)

    def calls(self) -> GraphPatch:
        graph = seen_from_inside(self._around.calls(self._name, self._read), self._prefix)
        texts = {one.source.path: one.source.data.decode("utf-8", "replace").split("\n") for one in self._changed}
        targets = self._patches.existing({e.target for e in self._before})
        here = {s.symbol_id for s in graph.symbols}

        def exists(target: str) -> bool:
            return target in here or (target in targets and target.partition("::")[0] not in here)

        def text_of(symbol: Symbol) -> list[str]:
            return texts[symbol.path][symbol.line - 1 : symbol.end_line]

        return self._patch(graph, local.kept_edges(self._before, graph, exists, text_of))

    def _patch(self, graph: CodeGraph, kept: Sequence[Edge]) -> GraphPatch:
        mine = {(e.source, e.target, e.relationship) for e in graph.edges}
        kept = [e for e in kept if (e.source, e.target, e.relationship) not in mine]
        paths = tuple(one.source.path for one in self._changed)
        return GraphPatch(paths, graph.symbols, (*graph.edges, *kept), graph.blind_spots)


def read_changed(look: Look) -> list[Changed] | None:
    """The changed files with what they say; None where the whole repository is to be read instead."""
    if not look.is_small_change(WORTH_BYTES, MOST_FILES):
        return None
    found: list[Changed] = []
    for source, key in look.changed:
        now = read_facts(source.path, source.data)
        if now is None:
            return None
        found.append(Changed(source, key, now))
    return found


def keep_facts(look: Look, changed: Sequence[Changed], facts: FactsCache) -> int:
    """Puts what the files say in the place of what they said; answers how many functions that is more."""
    old = {look.before[one.source.path].fingerprint for one in changed}
    before = [unpack(packed) for packed in facts.get(old).values()]
    facts.put({one.fingerprint: pack(one.facts) for one in changed}, old)
    return sum(_functions_in(one.facts) for one in changed) - sum(map(_functions_in, before))


def _functions_in(facts: ops.FileFacts) -> int:
    return sum(d.kind in ("function", "method") for d in facts.definitions)
