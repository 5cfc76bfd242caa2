"""The bundled documents: readable, consistent with their questions, and nothing else among them."""

import json
from importlib.resources import files
from pathlib import Path

from trivium.documents.read import read_document
from trivium.documents.walk import FoundFile, walk

SAMPLES = Path(str(files("trivium"))) / "samples"


def test_every_sample_is_read_and_has_a_title() -> None:
    found = list(walk([SAMPLES]))
    assert all(isinstance(item, FoundFile) for item in found)
    assert 12 <= len(found) <= 20
    documents = {item.source_file: read_document(item.path) for item in found if isinstance(item, FoundFile)}
    assert all(document.blocks and document.title for document in documents.values())
    dated = {name for name, document in documents.items() if document.date}
    assert set(documents) - dated == {"vendors.csv", "contracts/silverbarrow-hosting-terms.txt"}


def test_the_questions_name_samples_and_are_no_sample_themselves() -> None:
    questions = json.loads((SAMPLES / "questions.json").read_text("utf-8"))
    names = {item.source_file for item in walk([SAMPLES]) if isinstance(item, FoundFile)}
    assert 3 <= len(questions) <= 5
    assert all(question["question"].endswith("?") and question["source_file"] in names for question in questions)
    assert "questions.json" not in names
