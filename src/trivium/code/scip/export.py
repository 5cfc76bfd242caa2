"""A repository's graph as a SCIP index, from the store and the files it was made from."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from trivium.code.repositories.names import known
from trivium.code.repositories.walk import blob_hash
from trivium.code.scip.write import ScipWriter
from trivium.errors import InvalidInput
from trivium.model.code import RELATIONSHIPS
from trivium.ports.code_graph import CodeGraphStore
from trivium.ports.repositories import Repository, RepositoryStore


@dataclass(frozen=True, slots=True)
class ScipExport:
    """`stale`: files that are no longer what was indexed, so that nobody could say where a name stands in them."""

    repository: str
    data: bytes
    documents: int
    stale: tuple[str, ...]


def export_scip(graph: CodeGraphStore, store: RepositoryStore, name: str | None) -> ScipExport:
    """Of the repository of that name, or of the only one."""
    repository = _chosen(store.all(), name)
    root = Path(repository.location)
    files = {path: file for path, file in store.files(repository.name).items() if file.language}
    texts: dict[str, bytes] = {}
    for path, file in files.items():
        data = _read(root / path)
        if data is not None and blob_hash(data) == file.blob_hash:
            texts[path] = data
    symbols = graph.symbols(repository.name)
    edges = graph.outgoing([symbol.symbol_id for symbol in symbols], RELATIONSHIPS)
    packages = graph.symbols(None, {edge.target for edge in edges if edge.target.startswith("symbol:package:")})
    writer = ScipWriter(repository.name, root.as_uri(), version("trivium"), [*symbols, *packages], edges, texts)
    data = writer.serialized({path: file.language for path, file in files.items()})
    return ScipExport(repository.name, data, len(texts), tuple(sorted(files.keys() - texts.keys())))


def _chosen(repositories: list[Repository], name: str | None) -> Repository:
    if name is not None or not repositories:
        return known(name or "", repositories)
    if len(repositories) > 1:
        raise InvalidInput(
            "a SCIP index holds one repository, and several are indexed",
            field="repository",
            allowed=[one.name for one in repositories],
            hint="say which: trivium export --scip FILE --repository NAME",
        )
    return repositories[0]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
