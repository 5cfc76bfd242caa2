"""Everything in the graph leads back to a chunk that contains it: the bundled sample, as `trivium demo` takes it in."""

from collections.abc import Iterator
from importlib.resources import as_file, files

import pytest

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.settings import Settings


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    app = open_app(Settings(data=tmp_path_factory.mktemp("sample")), lambda name: HashingEmbedder())
    with as_file(files("trivium")) as package:
        app.documents.add([package / "samples"], exclude=["questions.json", "*.py"])
        app.extraction.run()
    yield app
    app.close()


def test_every_entity_and_relationship_of_the_sample_is_borne_out_by_its_chunk(sample: App) -> None:
    report = sample.vendors.provenance()
    assert report.unsupported == []
    assert report.entities > 50
    assert report.relationships > 50
    assert report.proofs > report.entities + report.relationships


def test_a_chunk_that_lost_its_words_is_found_out(sample: App) -> None:
    vendor = sample.vendors.find("Norvane Systems")
    with sample.database.transaction() as db:
        db.execute("UPDATE mentions SET surface = 'Nobody' WHERE entity_id = ?", (vendor.entity_id,))
    unsupported = sample.vendors.provenance().unsupported
    assert unsupported
    assert all("'Nobody' is not in chunk" in line for line in unsupported)
