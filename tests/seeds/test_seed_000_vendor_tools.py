"""Seeds 000 and 001 on vendors: one test a promise, through a real client."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP

from served import Served, open_small
from trivium.doors.mcp.server import build_server, open_gate
from trivium.settings import Settings

KINDS = ("PRODUCT", "PERSON", "ORG", "LOCATION", "EVENT")
LINKS = {"PRODUCT": "PRODUCES", "PERSON": "EMPLOYS", "ORG": "PARTNERS_WITH", "LOCATION": "LOCATED_IN", "EVENT": "HOSTS"}


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose graph is known to the last edge: Acme Corp with 130 neighbours of five types."""
    folder = tmp_path_factory.mktemp("vendors")
    rows: list[dict[str, Any]] = [{"source": name} for name in ("ACME Inc", "Acme Ltd", "Globex")]
    for number in range(130):
        kind = KINDS[number % 5]
        rows.append(
            {
                "source": "Acme Corp",
                "relationship_type": LINKS[kind],
                "target": f"{kind.title()} {number}",
                "target_type": kind,
                "confidence": round(0.5 + number / 300, 4),
                "metadata": {"since": str(1900 + number)},
            }
        )
    file = folder / "facts.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    settings = Settings(data=folder / "data", max_tokens_per_response=60_000)
    gate = open_gate(settings, lambda: open_small(settings))
    server: FastMCP = build_server(gate)
    one = Served(gate, server, folder)
    one.app().vendors.import_file(file)
    yield one
    gate.close()


def ask(acme: Served, name: str = "Acme Corp", **given: Any) -> dict[str, Any]:
    return acme.body("find_vendor_info", vendor_name=name, **given)


def test_the_default_is_metadata_with_statistics_and_last_updated(acme: Served) -> None:
    results = ask(acme)["results"]
    assert list(results) == ["vendor_name", "statistics", "top_entities", "last_updated"]
    statistics = results["statistics"]
    assert (statistics["entity_count"], statistics["relationship_count"]) == (130, 130)
    assert statistics["entity_type_distribution"] == dict.fromkeys(KINDS, 26)
    assert statistics["relationship_type_distribution"] == dict.fromkeys(LINKS.values(), 26)
    assert results["last_updated"].endswith("Z")


def test_ids_only_has_the_ids_of_entities_and_relationships(acme: Served) -> None:
    results = ask(acme, response_mode="ids_only")["results"]
    assert list(results) == ["vendor_name", "entity_ids", "relationship_ids"]
    assert len(results["relationship_ids"]) == 130
    assert all(isinstance(one, str) for one in results["entity_ids"])


def test_preview_has_at_most_five_of_each_without_snippet_and_metadata(acme: Served) -> None:
    results = ask(acme, response_mode="preview")["results"]
    assert list(results) == ["vendor_name", "entities", "relationships", "statistics"]
    assert (len(results["entities"]), len(results["relationships"])) == (5, 5)
    assert list(results["entities"][0]) == ["entity_id", "name", "entity_type", "confidence", "snippet"]
    assert list(results["relationships"][0]) == ["source_id", "target_id", "relationship_type", "metadata"]
    assert results["entities"][0]["snippet"] is None
    assert results["relationships"][0]["metadata"] is None


def test_full_has_at_most_100_entities_and_500_relationships_surest_first(acme: Served) -> None:
    results = ask(acme, response_mode="full")["results"]
    assert (len(results["entities"]), len(results["relationships"])) == (100, 130)
    confidences = [entity["confidence"] for entity in results["entities"]]
    assert confidences == sorted(confidences, reverse=True)
    first = results["relationships"][0]
    assert first["metadata"]["confidence"] == 0.93
    assert first["metadata"]["relationship_metadata"]["since"] == "2029"
    assert results["entities"][0]["name"] in results["entities"][0]["snippet"]


def test_names_are_matched_in_any_case_and_several_matches_are_ambiguous(acme: Served) -> None:
    assert ask(acme, "acme CORP")["results"]["vendor_name"] == "Acme Corp"
    error = ask(acme, "Acme")["error"]
    assert error["code"] == "VENDOR_AMBIGUOUS"
    assert error["message"].startswith("Ambiguous vendor name. Multiple matches found: ['")
    assert sorted(error["suggestions"]) == ["ACME Inc", "Acme Corp", "Acme Ltd"]


def test_an_unknown_vendor_is_not_found_with_the_nearest_names(acme: Served) -> None:
    body = ask(acme, "Globec")
    assert body["_metadata"]["status"] == "error"
    assert body["error"]["code"] == "VENDOR_NOT_FOUND"
    assert body["error"]["message"].startswith("Vendor 'Globec' not found. Try using semantic_search first")
    assert "Globex" in body["error"]["suggestions"]


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\x00b", "\x07"])
def test_bad_names_are_refused(acme: Served, name: str) -> None:
    assert ask(acme, name)["error"]["code"] == "INVALID_PARAMS"


def test_sql_in_a_name_is_a_name(acme: Served) -> None:
    assert ask(acme, "'; DROP TABLE entities; --")["error"]["code"] == "VENDOR_NOT_FOUND"
    assert ask(acme)["results"]["vendor_name"] == "Acme Corp"


def test_pages_reach_every_entity_once(acme: Served) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        given = {"cursor": cursor} if cursor else {}
        body = ask(acme, response_mode="full", page_size=40, **given)
        seen += [entity["entity_id"] for entity in body["results"]["entities"]]
        cursor = body["pagination"]["cursor"]
        if not body["pagination"]["has_more"]:
            break
    assert len(seen) == len(set(seen)) == body["pagination"]["total_available"] == 130


def test_a_foreign_cursor_is_an_error(acme: Served) -> None:
    cursor = ask(acme, response_mode="full", page_size=10)["pagination"]["cursor"]
    assert ask(acme, "Globex", response_mode="full", page_size=10, cursor=cursor)["error"]["code"] == "INVALID_PARAMS"
    assert ask(acme, response_mode="full", cursor="nonsense")["error"]["code"] == "INVALID_PARAMS"


def test_entity_types_and_max_results_filter(acme: Served) -> None:
    body = ask(acme, response_mode="full", entity_types=["COMPANY", "product"], max_results=7)
    assert len(body["results"]["entities"]) == 7
    assert {entity["entity_type"] for entity in body["results"]["entities"]} <= {"ORG", "PRODUCT"}
    assert ask(acme, entity_types=["ANIMAL"])["error"]["code"] == "INVALID_PARAMS"
    assert ask(acme, max_results=101)["error"]["code"] == "INVALID_PARAMS"


def test_relationships_can_be_left_out(acme: Served) -> None:
    assert ask(acme, response_mode="preview", include_relationships=False)["results"]["relationships"] == []


def test_fields_are_a_whitelist_of_the_mode(acme: Served) -> None:
    assert list(ask(acme, fields=["statistics"])["results"]) == ["statistics"]
    error = ask(acme, fields=["entities"])["error"]
    assert error["code"] == "INVALID_FIELDS"
    assert error["allowed_fields"] == ["vendor_name", "statistics", "top_entities", "last_updated"]


def test_include_content_still_works_and_warns(acme: Served) -> None:
    body = ask(acme, include_content=True)
    assert "entities" in body["results"]
    assert [one["code"] for one in body["warnings"]] == ["DEPRECATED_PARAMETER"]
    assert "top_entities" in ask(acme, include_content=False)["results"]


def test_an_answer_that_is_too_large_degrades_and_says_so(acme: Served) -> None:
    usual = acme.gate.settings
    acme.gate.settings = usual.model_copy(update={"max_tokens_per_response": 3000})
    try:
        body = ask(acme, response_mode="full")
    finally:
        acme.gate.settings = usual
    assert body["execution_context"]["tokens_used"] <= 3000
    assert body["_metadata"]["status"] == "partial"
    assert "PARTIAL_RESULTS" in [one["code"] for one in body["warnings"]]


def test_an_agent_adds_facts_with_their_chunk_and_takes_them_back(acme: Served, tmp_path: Path) -> None:
    path = tmp_path / "soylent.md"
    path.write_text("# Soylent\n\nSoylent Corporation makes Soylent Green.\n")
    acme.app().documents.add([path])
    [number] = [c.chunk_id for c in acme.app().chunks.get(acme.app().log.chunk_ids().tolist()) if "Soylent" in c.text]
    fact = {
        "source": {"name": "Soylent Corporation", "entity_type": "COMPANY"},
        "relationship_type": "PRODUCES",
        "target": {"name": "Soylent Green", "entity_type": "PRODUCT"},
        "chunk_id": f"chunk_{number}",
    }
    first = acme.body("add_vendor_facts", facts=[fact, fact])["results"]
    assert (first["added"], first["duplicates"], first["asserted_by"]) == (3, 1, "agent")
    assert acme.body("add_vendor_facts", facts=[fact])["results"]["added"] == 0
    assert ask(acme, "soylent")["results"]["statistics"]["relationship_count"] == 1
    assert acme.body("add_vendor_facts", facts=[fact], remove=True)["results"]["removed"] == 3
    assert ask(acme, "soylent")["error"]["code"] == "VENDOR_NOT_FOUND"
    missing = acme.body("add_vendor_facts", facts=[fact | {"chunk_id": 99_999}])["error"]
    assert missing["code"] == "INVALID_PARAMS"
    assert "there is no chunk 99999" in missing["message"]


def test_a_search_can_be_kept_to_a_vendor_and_shows_relationships(acme: Served) -> None:
    body = acme.search("Globex", vendor_filter="globex", include_relationships=True)
    assert len(body["results"]) == 1
    found = acme.search("Product 0", vendor_filter="Acme Corp", include_relationships=True)["results"]
    assert any(one["relationships"] for one in found)
