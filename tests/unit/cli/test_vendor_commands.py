"""`trivium vendors` as a person or a script meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shell import Shell

Write = Callable[[str, str | bytes], Path]

TEXT = """---
date: 2024-05-01
vendor: Initech
product: Initech TPS
---
Microsoft Corporation acquired GitHub in 2018. Satya Nadella is the CEO of Microsoft.
"""
FACTS = "source,relationship_type,target,target_type,confidence\nGlobex,PRODUCES,Anvil,PRODUCT,0.9\n"


@pytest.fixture
def read(shell: Shell, write: Write) -> Shell:
    shell("add", write("cloud.md", TEXT))
    return shell


def relationships(shell: Shell, vendor: str) -> set[tuple[str, str, str]]:
    found = shell.json("vendors", "show", vendor)
    names = {e["entity_id"]: e["name"] for e in [found["vendor"], *found["entities"]]}
    return {(names[r["source_id"]], r["relationship_type"], names[r["target_id"]]) for r in found["relationships"]}


def test_adding_documents_fills_the_graph_and_removing_them_empties_it(read: Shell) -> None:
    assert {e["name"] for e in read.json("vendors", "list")} == {"Microsoft Corporation", "GitHub", "Initech"}
    assert [e["name"] for e in read.json("vendors", "list", "--type", "product")] == ["Initech TPS"]
    assert relationships(read, "microsoft") == {
        ("Microsoft Corporation", "ACQUIRED", "GitHub"),
        ("Satya Nadella", "WORKS_FOR", "Microsoft Corporation"),
    }
    assert relationships(read, "INITECH") == {("Initech", "PRODUCES", "Initech TPS")}
    read("remove", "cloud.md")
    assert read.json("vendors", "list", "--type", "all") == []
    assert "nothing yet" in read("vendors", "list")


def test_everything_shown_has_its_proof_and_the_check_agrees(read: Shell) -> None:
    shown = read.json("vendors", "show", "GitHub")
    wanted = {f"e_{shown['vendor']['entity_id']}", *(f"r_{r['relationship_id']}" for r in shown["relationships"])}
    assert set(shown["proofs"]) == wanted
    report = read.json("vendors", "check")
    assert report["unsupported"] == []
    assert report["entities"] == 5
    assert "0 without support" in read("vendors", "check")


@pytest.mark.parametrize("name", ["facts.csv", "facts.jsonl"])
def test_facts_are_imported_again_without_harm_and_leave_with_their_file(
    shell: Shell, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    row = {"source": "Globex", "relationship_type": "PRODUCES", "target": "Anvil", "target_type": "PRODUCT"}
    path.write_text(FACTS if name.endswith("csv") else json.dumps(row))
    assert shell.json("vendors", "import", path) == {"entities": 2, "relationships": 1, "added": 3}
    assert shell.json("vendors", "import", path)["relationships"] == 1
    assert relationships(shell, "globex") == {("Globex", "PRODUCES", "Anvil")}
    shell("remove", f"vendors import/{name}")
    assert shell.json("vendors", "list", "--type", "all") == []


def test_merging_and_splitting(read: Shell) -> None:
    assert "3 mentions" in read("vendors", "merge", "Microsoft", "GitHub")
    assert {e["name"] for e in read.json("vendors", "list")} == {"Microsoft Corporation", "Initech"}
    assert "GitHub stands alone: 1 mentions" in read("vendors", "split", "Microsoft", "GitHub")
    assert len(read.json("vendors", "list")) == 3


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["show", "Microsof"], "Microsoft Corporation"),
        (["show", "x" * 201], "1 to 200 characters"),
        (["show", "a\x07b"], "control characters"),
        (["show", "'; DROP TABLE entities; --"], "not found"),
        (["merge", "Microsoft", "Nobody"], "not found"),
        (["merge", "Microsoft", "microsoft corp"], "with itself"),
        (["split", "Microsoft", "GitHub"], "GitHub"),
        (["list", "--type", "ANIMAL"], "not an entity type"),
    ],
)
def test_what_cannot_be_done_says_why_and_nothing_is_lost(read: Shell, words: list[str], reason: str) -> None:
    before = read.json("vendors", "list", "--type", "all")
    read("vendors", *words, code=2)
    assert reason in read.errors
    assert read.json("vendors", "list", "--type", "all") == before


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1,2\n", "the first line must name the columns"),
        ("source,relationship_type,target\nGlobex,makes it,Anvil\n", "UPPER_SNAKE"),
        (f"source\n{'x' * 201}\n", "1 to 200 characters"),
        ("source,confidence\nGlobex,much\n", "between 0 and 1"),
        ("", "columns"),
    ],
)
def test_a_bad_import_names_the_reason_and_stores_nothing(shell: Shell, tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    shell("vendors", "import", path, code=2)
    assert reason in shell.errors
    assert shell.json("vendors", "list", "--type", "all") == []
    assert shell.json("status")["documents"] == 0


def test_facts_that_contradict_one_another_are_a_conflict(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("source,relationship_type,target\nGlobex,ACQUIRED,Hooli\nHooli,ACQUIRED,Globex\n")
    shell("vendors", "import", path, code=1)
    assert "runs both ways" in shell.errors
    assert shell.json("vendors", "list", "--type", "all") == []
