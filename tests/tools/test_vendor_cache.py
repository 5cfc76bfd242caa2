"""Vendor answers are kept until something is written: then neither a cached answer nor a cursor lives on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from served import Serve, Served
from trivium.app import App
from trivium.doors.mcp.vendors_kept import SURROUNDINGS

ROWS = [
    {"source": "Acme Corp", "relationship_type": "PRODUCES", "target": f"Anvil {number}", "target_type": "PRODUCT"}
    for number in range(30)
]


@pytest.fixture
def acme(serve: Serve, tmp_path: Path) -> Served:
    one = serve()
    file = tmp_path / "acme.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in [*ROWS, {"source": "Acme Germany"}]))
    one.app().vendors.import_file(file)
    return one


def ask(acme: Served, **given: Any) -> dict[str, Any]:
    return acme.body("find_vendor_info", vendor_name="Acme Corp", **given)


def was_hit(body: dict[str, Any]) -> bool:
    return bool(body["execution_context"]["cache_hit"])


def test_one_lookup_serves_all_modes_and_other_pages_are_others(acme: Served) -> None:
    assert not was_hit(ask(acme))
    for mode in ("metadata", "full", "preview", "ids_only"):
        assert was_hit(ask(acme, response_mode=mode))
    assert not was_hit(ask(acme, page_size=7))
    assert not was_hit(ask(acme, entity_types=["PERSON"]))


def test_what_is_kept_is_what_would_be_looked_up(acme: Served) -> None:
    modes = ("full", "preview", "metadata", "ids_only")
    first = [ask(acme, response_mode=mode)["results"] for mode in modes]
    acme.gate.services.clear_caches()
    assert [ask(acme, response_mode=mode)["results"] for mode in reversed(modes)] == first[::-1]


def test_clearing_the_caches_forgets_vendors(acme: Served) -> None:
    ask(acme)
    acme.gate.services.clear_caches()
    assert not was_hit(ask(acme))


def test_without_a_lifetime_nothing_is_kept(serve: Serve) -> None:
    one = serve(cache_vendor_ttl_s=0)
    one.body("find_vendor_info", vendor_name="vendor1")
    assert not was_hit(one.body("find_vendor_info", vendor_name="vendor1"))


def fact(app: App) -> dict[str, Any]:
    chunk = next(c for c in app.chunks.get(app.log.chunk_ids().tolist()) if "Anvil 3" in c.text)
    return {
        "source": {"name": "Acme Corp", "entity_type": "ORG"},
        "relationship_type": "SELLS",
        "target": {"name": "Anvil 3", "entity_type": "PRODUCT"},
        "chunk_id": chunk.chunk_id,
    }


def add_facts(acme: Served, _: Path) -> None:
    assert acme.body("add_vendor_facts", facts=[fact(acme.app())])["results"]["added"]


def take_facts_back(acme: Served, folder: Path) -> None:
    add_facts(acme, folder)
    assert acme.body("add_vendor_facts", facts=[fact(acme.app())], remove=True)["results"]["removed"]


def import_file(acme: Served, folder: Path) -> None:
    path = folder / "more.csv"
    path.write_text("source,relationship_type,target,target_type\nAcme Corp,PRODUCES,Hammer,PRODUCT\n")
    acme.app().vendors.import_file(path)


def merge(acme: Served, _: Path) -> None:
    acme.app().vendors.merge("Acme Corp", "Acme Germany")


def split(acme: Served, folder: Path) -> None:
    merge(acme, folder)
    acme.app().vendors.split("Acme Corp", "Acme Germany")


def extract(acme: Served, folder: Path) -> None:
    path = folder / "news.md"
    path.write_text("# News\n\nAcme Corp acquired Globex Inc in Berlin.\n")
    acme.app().documents.add([path])
    ask(acme)
    before = acme.app().chunks.generation()
    acme.app().extraction.run()
    assert acme.app().chunks.generation() > before


def remove_document(acme: Served, _: Path) -> None:
    acme.app().documents.remove(["vendors import/acme.jsonl"])


@pytest.mark.parametrize("change", [add_facts, take_facts_back, import_file, merge, split, extract])
def test_after_a_write_neither_answers_nor_cursors_live_on(
    acme: Served, tmp_path: Path, change: Callable[[Served, Path], None]
) -> None:
    cursor = ask(acme, response_mode="preview", page_size=3)["pagination"]["cursor"]
    assert ask(acme, response_mode="preview", page_size=3, cursor=cursor)["results"]["entities"]
    assert not was_hit(ask(acme, response_mode="full"))
    assert was_hit(ask(acme, response_mode="full"))
    change(acme, tmp_path)
    late = ask(acme, response_mode="preview", page_size=3, cursor=cursor)
    assert late["error"]["code"] == "CURSOR_EXPIRED"
    assert not was_hit(ask(acme, response_mode="full"))


def test_removing_the_import_is_seen_at_once(acme: Served, tmp_path: Path) -> None:
    assert ask(acme)["results"]["statistics"]["relationship_count"] == 30
    remove_document(acme, tmp_path)
    assert ask(acme)["error"]["code"] == "VENDOR_NOT_FOUND"


def test_what_travels_through_a_cache_server_comes_back_as_it_was(acme: Served) -> None:
    vendors = acme.app().vendors
    found = vendors.around(vendors.find("Acme Corp"), snippets=True)
    assert SURROUNDINGS.decode("any", SURROUNDINGS.encode(found)) == found
    assert SURROUNDINGS.decode("any", b"[]") is None
