"""Indexed repositories: what is known of each, its files, and the parts of indexing that touch the outside."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from trivium.model.code import BlindSpot, CodeGraph, Edge, Symbol

RepositoryStatus = Literal["ready", "indexing", "error"]


@dataclass(frozen=True, slots=True)
class Repository:
    """`url` never carries credentials; `location` is the folder that was read; `head` its commit, if there is one."""

    name: str
    url: str
    location: str
    branch: str = ""
    head: str = ""
    is_cloned: bool = False
    status: RepositoryStatus = "indexing"
    file_count: int = 0
    chunk_count: int = 0
    function_count: int = 0
    last_indexed: str = ""
    index_duration_ms: int = 0
    error_message: str = ""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file as it was read. `fingerprint` also changes with the way files are read; `pieces` are (first line, last
    line, entity path) of its chunks, in order. `language` is empty for a file that only tells how imports resolve."""

    path: str
    blob_hash: str
    fingerprint: str
    size: int
    modified_ns: int
    language: str
    pieces: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GraphPatch:
    """What a few files say now, in place of what they said: every symbol in them, every edge that leaves them."""

    paths: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    edges: tuple[Edge, ...]
    blind_spots: tuple[BlindSpot, ...]


@dataclass(frozen=True, slots=True)
class Credentials:
    """For one request to one host; never stored."""

    user: str = field(repr=False)
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Checkout:
    """What git says of a folder; all empty where it is no work tree."""

    url: str = ""
    branch: str = ""
    head: str = ""


class RepositoryStore(Protocol):
    def all(self) -> list[Repository]:
        """By name."""

    def note(self, repository: Repository) -> None:
        """Writes down how a repository stands; its graph and files stay as they are."""

    def files(
        self, name: str, paths: Collection[str] | None = None, *, with_pieces: bool = True
    ) -> dict[str, IndexedFile]:
        """The files as they were read, or those among `paths`. Without their pieces, it takes a third of the time."""

    def replace(
        self, repository: Repository, graph: CodeGraph, files: Sequence[IndexedFile], *, keep_calls: bool = False
    ) -> None:
        """Puts a graph in place of the one before, all or nothing. `keep_calls`: symbols, imports and files are new,
        all other edges and the blind spots stay until the next call."""

    def remove(self, name: str) -> None: ...


class GraphPatches(Protocol):
    """Changes of single files on top of a repository's graph, until it is replaced as a whole."""

    def apply(self, repository: Repository, patch: GraphPatch, files: Sequence[IndexedFile]) -> None:
        """Shows the patch, all or nothing, and writes down the files as they were read (none: as they were)."""

    def leaving(self, name: str, paths: Sequence[str]) -> list[Edge]:
        """The repository's own edges that leave these files or anything in them; without reading the rest."""

    def existing(self, symbol_ids: Collection[str]) -> set[str]:
        """Those of them that are known."""

    def is_patched(self, name: str) -> bool:
        """Whether the graph carries patches: edges from other files into these may be out of date."""


class FactsCache(Protocol):
    """What was read out of files, by fingerprint. May forget: everything in it can be read again."""

    def get(self, fingerprints: Collection[str]) -> dict[str, bytes]: ...

    def put(self, facts: Mapping[str, bytes], gone: Collection[str] = ()) -> None: ...


class Git(Protocol):
    def fetch(self, url: str, branch: str | None, folder: Path, credentials: Credentials | None) -> None:
        """Makes `folder` a work tree of the newest commit of the branch, whatever it was before."""

    def describe(self, folder: Path) -> Checkout: ...
