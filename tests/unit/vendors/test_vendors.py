"""The vendor graph from documents, through the app."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trivium.app import App
from trivium.documents.vendor_facts import fact_of
from trivium.documents.vendors import VendorAmbiguous, VendorNotFound
from trivium.errors import Conflict, InvalidInput

Write = Callable[[str, str], Path]

CLOUD = """---
date: 2024-05-01
vendor: Initech
product: Initech TPS
---
# Vendors

Amazon Web Services (AWS) opened an office in Seattle. Microsoft Corporation acquired GitHub in 2018.
Satya Nadella is the CEO of Microsoft. Microsoft competes with AWS.
"""
NEWS = "# News\n\nMICROSOFT released Windows 11. Acme Ltd is based in Berlin.\n"


@pytest.fixture
def read(app: App, write: Write) -> App:
    folder = write("cloud.md", CLOUD).parent
    write("news.md", NEWS)
    app.documents.add([folder])
    assert app.extraction.run() > 0
    return app


def tables(app: App) -> dict[str, int]:
    names = ("entities", "entity_names", "mentions", "relationships", "relationship_proofs", "entity_links")
    with app.database.read() as db:
        return {name: db.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0] for name in (*names, "entity_counts")}


def fact(app: App, **given: object) -> dict[str, object]:
    number = next(iter(app.log.chunk_ids().tolist()))
    return {"source": {"name": "Microsoft", "entity_type": "ORG"}, "chunk_id": number} | given


def test_spellings_abbreviations_and_possessives_are_one_vendor(read: App) -> None:
    one = read.vendors.find("microsoft corporation")
    assert read.vendors.find("MICROSOFT") == read.vendors.find("Microsoft's") == one
    assert one.mention_count == 4
    assert read.vendors.find("aws") == read.vendors.find("Amazon Web Services")


def test_everything_leads_back_to_a_chunk_that_contains_it(read: App) -> None:
    for entity in read.vendors.entities(None, 100):
        for proof in read.vendors._sources.proofs([entity.entity_id], [])[f"e_{entity.entity_id}"]:
            [chunk] = read.chunks.get([proof.chunk_id])
            assert proof.surface in chunk.text or proof.origin == "front_matter"


def test_removing_a_document_removes_exactly_what_only_it_supported(read: App) -> None:
    read.documents.remove(["cloud.md"])
    assert read.vendors.find("Microsoft").mention_count == 1
    with pytest.raises(VendorNotFound):
        read.vendors.find("Initech")
    read.documents.remove(["news.md"])
    assert set(tables(read).values()) == {0}


def test_counters_are_what_counting_would_give(read: App) -> None:
    before = [read.vendors.around(e).statistics for e in read.vendors.entities(None, 100)]
    read.vendor_facts.recount()
    assert [read.vendors.around(e).statistics for e in read.vendors.entities(None, 100)] == before


def test_a_text_is_read_once_and_a_second_run_finds_nothing_to_do(read: App) -> None:
    before = tables(read)
    assert read.extraction.pending() == 0
    assert read.extraction.run() == 0
    assert tables(read) == before


def test_front_matter_feeds_the_graph(read: App) -> None:
    near = read.vendors.around(read.vendors.find("Initech"))
    assert [(e.name, e.entity_type) for e in near.entities] == [("Initech TPS", "PRODUCT")]
    assert [link.relationship_type for link in near.relationships] == ["PRODUCES"]


def test_last_updated_is_the_newest_supporting_document(read: App, write: Write) -> None:
    assert read.vendors.find("AWS").last_date == "2024-05-01"
    path = write("cloud.md", CLOUD.replace("2024-05-01", "2025-01-31"))
    read.documents.add([path.parent])
    assert read.vendors.find("AWS").last_date == "2025-01-31"


def test_different_legal_forms_are_ambiguous_and_unknown_names_show_the_nearest(app: App, tmp_path: Path) -> None:
    file = tmp_path / "vendors.csv"
    file.write_text("source,source_type\nAcme Corp,ORG\nACME Inc,ORG\nAcme Ltd,COMPANY\n")
    app.vendors.import_file(file)
    with pytest.raises(VendorAmbiguous) as ambiguous:
        app.vendors.find("Acme")
    assert ambiguous.value.nearest == ["Acme Corp", "ACME Inc", "Acme Ltd"]
    assert app.vendors.find("acme corp").name == "Acme Corp"
    with pytest.raises(VendorNotFound) as unknown:
        app.vendors.find("Acne Corp")
    assert "Acme Corp" in unknown.value.nearest


def test_an_import_can_be_repeated_and_removed_like_a_document(app: App, tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    rows = [{"source": "Acme Corp", "relationship_type": "PRODUCES", "target": "Anvil", "target_type": "PRODUCT"}]
    file.write_text("\n".join(map(json.dumps, rows * 2)))
    recorded, duplicates = app.vendors.import_file(file)
    assert len(recorded.relationship_ids) == 2 - duplicates
    before = tables(app)
    app.vendors.import_file(file)
    assert tables(app) == before
    app.documents.remove(["vendors import/facts.jsonl"])
    assert set(tables(app).values()) == {0}


def test_merging_holds_for_documents_that_come_later_and_splitting_undoes_it(read: App, write: Write) -> None:
    read.vendors.merge("Microsoft", "GitHub")
    assert read.vendors.find("github").name == read.vendors.find("microsoft").name
    path = write("later.md", "# Later\n\nGitHub was used by Oracle Corporation in Austin.\n")
    read.documents.add([path.parent])
    read.extraction.run()
    assert read.vendors.find("github").name == read.vendors.find("microsoft").name
    alone = read.vendors.split("Microsoft", "GitHub")
    assert alone.name == "GitHub"
    assert read.vendors.find("github") != read.vendors.find("microsoft")


def test_facts_of_an_agent_are_idempotent_marked_and_removable(read: App) -> None:
    target = {"name": "Seattle", "entity_type": "LOCATION"}
    facts = [fact_of(fact(read, relationship_type="OPERATES_IN", target=target), "facts[0]")]
    before = tables(read)
    recorded, _ = read.vendors.add_facts(facts)
    assert recorded.links_added == 1
    after = tables(read)
    assert read.vendors.add_facts(facts)[0].links_added == 0
    assert tables(read) == after
    links = read.vendors.around(read.vendors.find("Microsoft")).relationships
    assert [k.metadata["origin"] for k in links if k.relationship_type == "OPERATES_IN"] == [["agent"]]
    assert read.vendors.retract_facts(facts) == 3
    assert tables(read) == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"chunk_id": 999_999}, "there is no chunk 999999"),
        ({"chunk_id": None}, "chunk_id is required"),
        ({"source": {"name": "x" * 201, "entity_type": "ORG"}}, "1 to 200 characters"),
        ({"source": {"name": "a\x00b", "entity_type": "ORG"}}, "control characters"),
        ({"source": {"name": "Hooli", "entity_type": "ORG"}}, "does not mention 'Hooli'"),
        ({"source": {"name": "'; DROP TABLE entities; --", "entity_type": "ORG"}}, "does not mention"),
        ({"source": {"name": "Microsoft", "entity_type": "ANIMAL"}}, "not an entity type"),
        ({"relationship_type": "makes it", "target": "GitHub"}, "UPPER_SNAKE"),
        ({"relationship_type": "ACQUIRED", "target": "Microsoft Corp"}, "with itself"),
        ({"confidence": 1.5}, "between 0 and 1"),
        ({"confidence": float("nan")}, "between 0 and 1"),
    ],
)
def test_bad_facts_are_refused_with_the_reason_and_nothing_is_lost(
    read: App, given: dict[str, object], message: str
) -> None:
    before = tables(read)
    with pytest.raises(InvalidInput, match=message):
        read.vendors.add_facts([fact_of(fact(read, **given), "facts[0]")])
    assert tables(read) == before


def test_contradictions_within_a_batch_are_refused(read: App) -> None:
    one = fact_of(fact(read, relationship_type="ACQUIRED", target="GitHub"), "facts[0]")
    other = fact_of(fact(read, source="GitHub", relationship_type="ACQUIRED", target="Microsoft"), "facts[1]")
    with pytest.raises(Conflict, match="both ways"):
        read.vendors.add_facts([one, other])
    person = fact_of(fact(read, source={"name": "Microsoft", "entity_type": "PERSON"}), "facts[1]")
    with pytest.raises(Conflict, match="both ORG and PERSON"):
        read.vendors.add_facts([one, person])


def test_a_fact_that_turns_a_stated_one_round_is_refused_until_that_is_taken_back(read: App) -> None:
    one = fact_of(fact(read, relationship_type="SUBSIDIARY_OF", target="GitHub"), "facts[0]")
    turned = fact_of(fact(read, source="GitHub", relationship_type="SUBSIDIARY_OF", target="Microsoft"), "facts[0]")
    read.vendors.add_facts([one])
    before = tables(read)
    with pytest.raises(Conflict, match="is on record"):
        read.vendors.add_facts([turned])
    assert tables(read) == before
    read.vendors.retract_facts([one])
    assert read.vendors.add_facts([turned])[0].links_added == 1


def test_what_was_only_read_can_be_stated_the_other_way_round(read: App) -> None:
    turned = fact_of(fact(read, source="GitHub", relationship_type="ACQUIRED", target="Microsoft"), "facts[0]")
    assert read.vendors.add_facts([turned])[0].links_added == 1


def test_an_empty_graph_answers_not_found_without_suggestions(app: App) -> None:
    with pytest.raises(VendorNotFound) as unknown:
        app.vendors.find("Anyone")
    assert unknown.value.nearest == []
    assert app.vendors.entities(None) == []


def test_search_knows_who_is_named_and_where(read: App) -> None:
    assert read.vendors.named_in("what does aws cost?") == ("Amazon Web Services",)
    [number] = read.vendors.mentioned_in("AWS")
    assert any(row["relationship_type"] == "ACQUIRED" for row in read.vendors.relationships_in([number])[number])
    assert read.vendors.mentioned_in("Nobody Known") == []


def test_an_export_takes_the_graph_along(read: App, open_data: Callable[..., App], tmp_path: Path) -> None:
    other = open_data(tmp_path / "copy")
    other.import_lines(list(read.export_lines()))
    assert tables(other) == tables(read)
    assert other.vendors.find("aws") == read.vendors.find("aws")
