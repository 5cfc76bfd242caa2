"""Import graphs of TypeScript packages beside madge's.

    npm install madge typescript rxjs zod immer
    python benchmarks/code_imports.py node_modules/.bin/madge node_modules/rxjs/src node_modules/zod/src

madge leaves out whatever lies below a folder node_modules, so each package is copied out first.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from trivium.code.analyse import file_graph, is_config, read_facts


def our_imports(root: Path) -> set[tuple[str, str]]:
    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
    facts = [f for path, source in files.items() if (f := read_facts(path, source)) is not None]
    graph = file_graph("bench", facts, {p: raw for p, raw in files.items() if is_config(p)})
    symbols = {s.symbol_id: s for s in graph.symbols}
    return {(symbols[e.source].path, symbols[e.target].path) for e in graph.edges if symbols[e.target].kind == "file"}


def madge_imports(madge: str, root: Path) -> set[tuple[str, str]]:
    command = [madge, "--json", "--extensions", "ts,tsx,js,mjs", str(root)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return {(source, target) for source, targets in json.loads(answer.stdout).items() for target in targets}


def main() -> None:
    madge, *packages = sys.argv[1:]
    for package in packages:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "src"
            shutil.copytree(package, root)
            ours, theirs = our_imports(root), madge_imports(str(Path(madge).resolve()), root)
        print(f"{package}: madge {len(theirs)}, ours {len(ours)}")
        for name, edges in (("madge", theirs - ours), ("ours", ours - theirs)):
            print(f"  only {name}: {sorted(edges)}")


if __name__ == "__main__":
    main()
