"""docs/settings.md is what `trivium settings --markdown` prints."""

from pathlib import Path

from trivium.doors.cli.settings import settings_page

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_settings_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == settings_page(), "run: trivium settings --markdown > docs/settings.md"
