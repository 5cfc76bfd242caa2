"""One package, indexed once, with a benchmark's questions asked of it."""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.settings import Settings


def with_package(described: str | None, name: str, sample: int, measure: Callable[[App, int], object]) -> None:
    """Reads the command line, indexes the package as `name` where the data folder has none, and measures."""
    arguments = argparse.ArgumentParser(description=described)
    arguments.add_argument("package", type=Path)
    arguments.add_argument("--data", type=Path)
    arguments.add_argument("--sample", type=int, default=sample)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        app = open_app(Settings(data=options.data or Path(scratch)), lambda _: HashingEmbedder())
        try:
            if all(one.name != name for one in app.code.repositories.all()):
                app.code.repositories.index(str(options.package), name)
            measure(app, options.sample)
        finally:
            app.close()
