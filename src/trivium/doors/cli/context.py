"""What the global options chose, and the app opened with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.errors import InvalidInput

if TYPE_CHECKING:
    from trivium.app import App
    from trivium.settings import Settings


@dataclass
class _Chosen:
    data: Path | None = None

    def settings(self, **given: Any) -> "Settings":
        from pydantic import ValidationError

        from trivium.settings import Settings, variables

        if self.data is not None:
            given.setdefault("data", self.data)
        try:
            return Settings(**given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = str(first["loc"][0]).lower().removeprefix("trivium_")
            raise InvalidInput(f"{variables(name)[0]}: {first['msg']}", field=name) from error


chosen = _Chosen()


@contextmanager
def opened(**given: Any) -> Iterator["App"]:
    """The app on the chosen data folder, closed afterwards. `given` overrides settings."""
    from trivium.app import open_app

    app = open_app(chosen.settings(**given))
    try:
        yield app
    finally:
        app.close()
