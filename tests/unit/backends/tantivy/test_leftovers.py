"""What a killed writer leaves behind must not stand in the way of the next one."""

import shutil
from pathlib import Path

from trivium.backends.tantivy import TantivyKeywordIndex
from trivium.ports.keywords import KeywordRow


def rows(*numbers: int) -> list[KeywordRow]:
    return [KeywordRow(number, "", f"word{number} alpha") for number in numbers]


def test_a_deletion_file_of_a_killed_writer_is_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = TantivyKeywordIndex(folder)
    index.apply(rows(1, 2, 3), [], 1)
    index.apply(rows(4, 5, 6), [], 2)
    shutil.copytree(folder, tmp_path / "ahead")
    before = {path.name for path in folder.rglob("*.del")}
    TantivyKeywordIndex(tmp_path / "ahead").apply(rows(7), [1, 4], 3)
    # The writer that was killed had come as far as the deletion files, but not to the commit.
    written = [path for path in (tmp_path / "ahead").rglob("*.del") if path.name not in before]
    assert written
    for path in written:
        shutil.copy(path, folder / path.relative_to(tmp_path / "ahead"))
    again = TantivyKeywordIndex(folder)
    again.apply(rows(7), [1, 4], 3)
    assert again.position == 3
    assert again.ids().tolist() == [2, 3, 5, 6, 7]
