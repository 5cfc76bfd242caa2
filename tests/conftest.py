"""Fixtures for every test: an app over a fresh data folder, with the small deterministic embedder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.settings import Settings

# A busy machine is slow, not wrong: no example fails by the clock.
_CURRENT = hypothesis_settings.get_profile(hypothesis_settings.get_current_profile_name())
hypothesis_settings.register_profile("trivium", _CURRENT, deadline=None)
hypothesis_settings.load_profile("trivium")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def open_data() -> Iterator[Callable[..., App]]:
    """Opens apps on any folder and closes them at the end."""
    opened: list[App] = []

    def open_folder(folder: Path, **given: object) -> App:
        app = open_app(Settings(data=folder, **given), lambda name: HashingEmbedder())
        opened.append(app)
        return app

    yield open_folder
    for app in opened:
        app.close()


@pytest.fixture
def app(data: Path, open_data: Callable[..., App]) -> App:
    return open_data(data)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Writes a file below a folder called `docs`; gives its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
