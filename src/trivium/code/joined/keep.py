"""Keeps the edges between repositories up to date, whichever of them changed, came or went."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from trivium.code.analyse import is_config, read_facts, unpack
from trivium.code.joined.edges import joined_edges
from trivium.code.joined.program import Source
from trivium.code.joined.published import Published, published
from trivium.code.lowering import ops
from trivium.code.repositories.packaged import package_prefix
from trivium.model.code import Edge, Resolution
from trivium.ports.code_joins import JoinState, JoinStore
from trivium.ports.repositories import FactsCache, IndexedFile, Repository, RepositoryStore

MOST_CHOICES = 4  # repositories that publish the same name: edges lead into each of them


class JoinRepositories:
    def __init__(self, store: RepositoryStore, facts: FactsCache, joins: JoinStore) -> None:
        self._store, self._facts, self._joins = store, facts, joins

    def refresh(self) -> None:
        """Computes what is out of date, and nothing else: two calls in a row cost what one does."""
        repositories = {one.name: one for one in self._store.all() if one.last_indexed}
        files = {name: self._store.files(name, with_pieces=False) for name in repositories}
        states = self._published(repositories, files)
        imported = self._joins.imported()
        for name in repositories:
            used = _producers(name, imported.get(name, frozenset()), states)
            state = _digest([states[name].digest, *(f"{one} {states[one].digest}" for one in _all(used))])
            if states[name].state != state:
                edges = self._edges(name, used, repositories, files, states)
                self._joins.put(name, replace(states[name], state=state), edges)

    def _published(
        self, repositories: Mapping[str, Repository], files: Mapping[str, Mapping[str, IndexedFile]]
    ) -> dict[str, JoinState]:
        known = self._joins.states()
        found: dict[str, JoinState] = {}
        for name, repository in repositories.items():
            before = known.get(name, JoinState())
            digest = _digest(f"{file.path} {file.fingerprint}" for file in files[name].values())
            if before.digest != digest:
                source = self._source(repository, files[name], ())
                names = published(source.prefix, source.facts, source.configs)
                before = JoinState(digest, tuple((*one,) for one in names), before.state)
                self._joins.note(name, before)
            found[name] = before
        return found

    def _edges(
        self,
        name: str,
        used: Mapping[str, Sequence[str]],
        repositories: Mapping[str, Repository],
        files: Mapping[str, Mapping[str, IndexedFile]],
        states: Mapping[str, JoinState],
    ) -> list[Edge]:
        """Where several publish one name, each of them may be meant: their edges are inferred, not exact."""
        taking_part = sorted({name, *_all(used)}) if used else []
        sources = {one: self._source(repositories[one], files[one], states[one].published) for one in taking_part}
        found: dict[tuple[str, str, str], Edge] = {}
        for choice in _choices(used):
            for edge in joined_edges(sources[name], [sources[one] for one in choice]):
                found.setdefault((edge.source, edge.target, edge.relationship), edge)
        doubtful = {one for options in used.values() if len(options) > 1 for one in options}
        return [_weaker(edge) if doubtful & set(_ends(edge)) else edge for edge in found.values()]

    def _source(
        self, repository: Repository, files: Mapping[str, IndexedFile], names: Sequence[tuple[str, str, bool]]
    ) -> Source:
        packed = self._facts.get({file.fingerprint for file in files.values()})
        root = Path(repository.location)
        facts: list[ops.FileFacts] = []
        configs: dict[str, bytes] = {}
        for path, file in sorted(files.items()):
            kept = packed.get(file.fingerprint)
            if is_config(path):
                configs[path] = kept if kept is not None else _read(root / path)
            elif file.language:
                unit = unpack(kept) if kept is not None else read_facts(path, _read(root / path))
                if unit is not None:
                    facts.append(unit)
        by_family: dict[str, set[str]] = {}
        for family, name, _ in names:
            by_family.setdefault(family, set()).add(name)
        grouped = {family: frozenset(found) for family, found in by_family.items()}
        return Source(repository.name, package_prefix(root), facts, configs, grouped)


def _producers(name: str, imported: frozenset[str], states: Mapping[str, JoinState]) -> dict[str, tuple[str, ...]]:
    """Package -> the repositories that publish it; those with a manifest before those without."""
    found: dict[str, tuple[str, ...]] = {}
    for package in sorted(imported):
        offers = sorted(
            {
                (not one.declared, other)
                for other, state in states.items()
                for one in map(Published._make, state.published)
                if other != name and one.provides(package)
            }
        )
        best = [other for undeclared, other in offers if undeclared == offers[0][0]]
        if best:
            found[package] = tuple(dict.fromkeys(best))[:MOST_CHOICES]
    return found


def _choices(used: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """The sets of repositories to join with, so that every one takes part."""
    rounds = max((len(options) for options in used.values()), default=0)
    chosen = [tuple(sorted({options[min(n, len(options) - 1)] for options in used.values()})) for n in range(rounds)]
    return list(dict.fromkeys(chosen))


def _all(used: Mapping[str, Sequence[str]]) -> list[str]:
    return sorted({one for options in used.values() for one in options})


def _ends(edge: Edge) -> tuple[str, str]:
    return edge.source.split(":", 2)[1], edge.target.split(":", 2)[1]


def _weaker(edge: Edge) -> Edge:
    doubtful: Resolution = "inferred"
    return replace(edge, resolution=doubtful, confidence=min(edge.confidence, 0.9)) if edge.confidence == 1 else edge


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _digest(parts: Iterable[str]) -> str:
    made = blake2b(digest_size=16)
    for part in parts:
        made.update(part.encode() + b"\0")
    return made.hexdigest()
