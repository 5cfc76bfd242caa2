"""The shipped model, the rules around it, and the evaluation."""

import gzip
import json
from pathlib import Path

import pytest

from trivium.backends.onnx_extract import OnnxExtractor
from trivium.backends.onnx_extract.extractor import WEIGHTS
from trivium.documents.extract.evaluate import evaluate_extraction
from trivium.documents.extract.ruled import RuledExtractor
from trivium.errors import InvalidInput
from trivium.model.vendor import Mention
from trivium.ports.extractor import Extractor

BUSINESS = "Microsoft Corporation acquired GitHub in 2018."
PEOPLE = "Satya Nadella is the CEO of Microsoft."


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return RuledExtractor(OnnxExtractor())


def test_people_companies_and_what_they_do_are_found(extractor: Extractor) -> None:
    facts = set()
    for text, found in zip([BUSINESS, PEOPLE], extractor.extract([BUSINESS, PEOPLE]), strict=True):
        names = [text[m.start : m.end] for m in found.mentions]
        facts |= {(name, m.entity_type) for name, m in zip(names, found.mentions, strict=True)}
        facts |= {(names[k.head], k.relationship_type, names[k.tail]) for k in found.links}
    assert facts == {
        ("Microsoft Corporation", "ORG"),
        ("GitHub", "ORG"),
        ("Microsoft Corporation", "ACQUIRED", "GitHub"),
        ("Satya Nadella", "PERSON"),
        ("Microsoft", "ORG"),
        ("Satya Nadella", "WORKS_FOR", "Microsoft"),
    }


def test_the_same_text_alone_and_in_a_batch_gives_the_same_names(extractor: Extractor) -> None:
    texts = [BUSINESS, "Berlin is a city.", "", "x" * 5000, "é ☃ \u200b", BUSINESS[:40]]
    alone = [[(m.start, m.end, m.entity_type) for m in extractor.extract([t])[0].mentions] for t in texts]
    together = [[(m.start, m.end, m.entity_type) for m in e.mentions] for e in extractor.extract(texts)]
    assert alone == together


def test_rules_alone_know_well_known_names_and_spelled_out_relations() -> None:
    [found] = RuledExtractor().extract(["Salesforce acquired Tableau Software Inc. in Seattle."])
    assert [m.entity_type for m in found.mentions][:1] == ["ORG"]
    assert any(link.relationship_type == "ACQUIRED" for link in found.links)


def test_given_mentions_of_unknown_type_can_be_related(extractor: Extractor) -> None:
    text = "Oracle bought Sun Microsystems for 7.4 billion dollars ."
    given = [Mention(0, 6, "UNKNOWN", 1.0), Mention(14, 30, "UNKNOWN", 1.0)]  # type: ignore[arg-type]
    [links] = extractor.link([text], [given])
    assert [(k.head, k.relationship_type, k.tail) for k in links] == [(0, "ACQUIRED", 1)]


def test_the_weights_stay_below_25_megabytes() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) <= 25_000_000


def test_evaluation_leaves_out_types_the_set_does_not_annotate(tmp_path: Path, extractor: Extractor) -> None:
    record = {
        "text": BUSINESS,
        "entities": [{"start": 0, "end": 21, "mapped": "ORG"}, {"start": 31, "end": 37, "mapped": "ORG"}],
        "relations": [{"head": 1, "tail": 0, "type": "acquired_by", "mapped": "OWNED_BY", "swap": False}],
    }
    path = tmp_path / "set.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(record).encode()))
    report = evaluate_extraction(path, extractor)
    assert set(report["entities"]) == {"micro", "ORG"}
    assert report["entities"]["ORG"]["recall"] == 1.0
    assert report["relations"]["micro"]["f1"] == 1.0


def test_a_line_that_is_no_record_is_named(tmp_path: Path, extractor: Extractor) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"text": "a", "entities": []}\n{"no": 1}\n')
    with pytest.raises(InvalidInput, match="line 2"):
        evaluate_extraction(path, extractor)
