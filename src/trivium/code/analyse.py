"""Files in, graph out: the whole analysis of one repository, without touching a disk.

`read_facts` is the per-file part (cacheable, parallel); `build_graph` joins facts into symbols and edges.
"""

import marshal
from collections.abc import Mapping, MutableMapping, Sequence
from hashlib import blake2b

from trivium.code.edges import EdgeSet
from trivium.code.languages import language_of, read_file
from trivium.code.link import Linked
from trivium.code.lowering import ops
from trivium.code.solver.solve import solve
from trivium.code.symbols import SymbolTable
from trivium.code.typed_calls import TypedProgram
from trivium.model.code import CodeGraph

DYNAMIC = ("python", "javascript")
CONFIG_NAMES = ("package.json", "go.mod", "composer.json", "Cargo.toml", "pyproject.toml", "setup.cfg")


def is_config(path: str) -> bool:
    """Files that tell how imports are resolved or what others import, though they hold no code."""
    name = path.rpartition("/")[2]
    return (
        name in CONFIG_NAMES
        or name.endswith(".gemspec")
        or (name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json"))
    )


def fingerprint(path: str, source: bytes) -> str:
    """The key under which a file's facts may be kept: they depend on its language, its name and its bytes alone."""
    return blake2b(f"{ops.VERSION}:{path}:".encode() + source, digest_size=16).hexdigest()


def read_facts(path: str, source: bytes, cache: MutableMapping[str, bytes] | None = None) -> ops.FileFacts | None:
    """The facts of one file, from the cache where it is known there; None for a file we do not read."""
    if language_of(path) is None or looks_binary(source):
        return None
    if cache is None:
        return read_file(path, source)
    key = fingerprint(path, source)
    packed = cache.get(key)
    if packed is not None:
        return unpack(packed)
    facts = read_file(path, source)
    if facts is not None:
        cache[key] = pack(facts)
    return facts


def looks_binary(source: bytes) -> bool:
    return b"\0" in source[:8192]


def pack(facts: ops.FileFacts) -> bytes:
    """Named tuples become plain ones, which marshal can write; what is inside them is plain already."""
    named = (facts.definitions, facts.imports, facts.functions, facts.classes)
    plain = [[tuple(one) for one in some] for some in named]
    return marshal.dumps((*facts[:4], *plain, *facts[8:]))


def unpack(packed: bytes) -> ops.FileFacts:
    version, language, path, lines, defined, imports, functions, classes, calls, notes, names = marshal.loads(packed)
    return ops.FileFacts(
        version,
        language,
        path,
        lines,
        [ops.Definition(*d) for d in defined],
        [ops.Import(*i) for i in imports],
        [ops.Function(*f) for f in functions],
        [ops.ClassBody(*c) for c in classes],
        calls,
        notes,
        names,
    )


def analyse(repository: str, files: Mapping[str, bytes], cache: MutableMapping[str, bytes] | None = None) -> CodeGraph:
    """The graph of a repository given as path -> bytes. Deterministic: equal files give equal graphs."""
    facts = [f for path in sorted(files) if (f := read_facts(path, files[path], cache)) is not None]
    configs = {path: raw for path, raw in files.items() if is_config(path)}
    return build_graph(repository, facts, configs)


def build_graph(repository: str, facts: Sequence[ops.FileFacts], configs: Mapping[str, bytes]) -> CodeGraph:
    symbols = SymbolTable(repository, facts)
    edges = EdgeSet(symbols)
    for language in DYNAMIC:
        linked = Linked([f for f in facts if f.language == language], configs)
        edges.add_imports(linked)
        edges.add_solution(linked, solve(linked.program))
    edges.add_typed(TypedProgram([f for f in facts if f.language not in DYNAMIC], configs))
    return CodeGraph(repository, symbols.all(), edges.all(), edges.blind_spots())


def file_graph(repository: str, facts: Sequence[ops.FileFacts], configs: Mapping[str, bytes]) -> CodeGraph:
    """Symbols and imports only: what can be shown at once, while calls are still being solved."""
    symbols = SymbolTable(repository, facts)
    edges = EdgeSet(symbols)
    for language in DYNAMIC:
        edges.add_imports(Linked([f for f in facts if f.language == language], configs))
    edges.add_typed_imports(TypedProgram([f for f in facts if f.language not in DYNAMIC], configs))
    return CodeGraph(repository, symbols.all(), edges.all(), edges.blind_spots())
