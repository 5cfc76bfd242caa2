"""Concepts from notes, CSV and JSON lines, and back again without loss."""

from collections.abc import Callable
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from concept_rooms import open_room
from trivium.concepts import markdown, tables
from trivium.concepts.markdown import parse_note, read_folder, write_folder
from trivium.concepts.room import Concepts
from trivium.concepts.transfer import Draft, Link
from trivium.errors import Conflict, InvalidInput, NotFound
from trivium.ports.concept_catalogue import Selection

VAULT = {
    "Index.md": "---\ntags: [x]\n---\nStart with [[Loops]] and [[Notes/Lists|lists]].\n",
    "Code/Loops.md": "A loop repeats. See [[Lists#Kinds]], ![[picture.png]], [[#here]] and [[Nowhere]].\n",
    "Code/Python/Lists.md": "---\ncertainty_score: 80\nprerequisite: '[[Loops]]'\n---\n"
    "Items. `[[Index]]`\n\n```\n[[Index]]\n```\n",
    "Notes/Lists.md": "Shopping lists.\n",
    "Notes/Empty.md": "",
    ".obsidian/hidden.md": "not a note",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, text in VAULT.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "vault"


def state(concepts: Concepts) -> dict[str | None, object]:
    return {
        draft.concept_id: (dict(draft.content), sorted(draft.links, key=repr)) for draft in concepts.transfer.hand_out()
    }


def edges(concepts: Concepts) -> set[tuple[str, str, str]]:
    names = {draft.concept_id: draft.content["name"] for draft in concepts.transfer.hand_out()}
    return {
        (str(draft.content["name"]), link.relationship_type, str(names[link.target]))
        for draft in concepts.transfer.hand_out()
        for link in draft.links
    }


def test_a_vault_becomes_concepts_and_relationships(concepts: Concepts, vault: Path) -> None:
    result = concepts.transfer.bring_in(read_folder(vault))
    assert (result.created, result.relationships) == (5, 4)
    assert result.unresolved == [("Loops", "Nowhere")]
    assert edges(concepts) == {
        ("Index", "relates_to", "Loops"),
        ("Index", "relates_to", "Lists"),
        ("Loops", "relates_to", "Lists"),
        ("Lists", "prerequisite", "Loops"),
    }
    lists = concepts.read.exact(Selection(name="Lists", area="Code"))[0]
    assert (lists.topic, lists.certainty_score, lists.explanation.startswith("Items.")) == ("Python", 80, True)
    (index,) = concepts.read.exact(Selection(name="Index"))
    assert [
        hit.concept.area for hit in concepts.read.related(index.concept_id, max_depth=1) if hit.concept.name == "Lists"
    ] == ["Notes"]
    assert concepts.read.exact(Selection(name="Empty"))[0].explanation == "Empty"


def test_importing_again_changes_nothing_and_takes_in_what_is_new(concepts: Concepts, vault: Path) -> None:
    concepts.transfer.bring_in(read_folder(vault))
    head = concepts.log.head()
    again = concepts.transfer.bring_in(read_folder(vault))
    assert (again.created, again.updated, again.unchanged, again.relationships) == (0, 0, 5, 0)
    assert concepts.log.head() == head
    (vault / "Notes" / "Empty.md").write_text("Filled, see [[Index]].")
    changed = concepts.transfer.bring_in(read_folder(vault))
    assert (changed.updated, changed.relationships) == (1, 1)


@pytest.mark.parametrize("kind", ["markdown", "jsonl"])
def test_what_is_handed_out_comes_back_the_same(concepts: Concepts, vault: Path, tmp_path: Path, kind: str) -> None:
    concepts.transfer.bring_in(read_folder(vault))
    (empty,) = concepts.read.exact(Selection(name="Empty"))
    (index,) = concepts.read.exact(Selection(name="Index"))
    awkward = "---\nlooks: like front matter\n---\n\r\n[[Nowhere]] – \u2028 “text”: {yes}\n  end"
    concepts.change.update(empty.concept_id, {"name": 'Odd: "/name" #1?', "explanation": awkward, "examples": "a\n b"})
    concepts.change.relate(empty.concept_id, index.concept_id, "includes", 0.25, "because: [it] #is")
    if kind == "markdown":
        write_folder(tmp_path / "out", concepts.transfer.hand_out())
        drafts = read_folder(tmp_path / "out")
    else:
        tables.write_jsonl(tmp_path / "out.jsonl", concepts.transfer.hand_out())
        drafts = tables.read_jsonl(tmp_path / "out.jsonl")
    fresh = open_room(tmp_path / "fresh")
    fresh.concepts.transfer.bring_in(drafts)
    assert state(fresh.concepts) == state(concepts)
    assert concepts.transfer.bring_in(drafts).unchanged == 5
    fresh.close()


TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=40).filter(
    str.strip
)


@settings(max_examples=150, deadline=None)
@given(TEXT, TEXT, st.none() | TEXT, st.none() | st.floats(0, 100), st.none() | TEXT)
@example("next\x85line", "text", "u\u2028s", None, None)
def test_any_concept_survives_a_note(
    name: str, explanation: str, area: str | None, certainty: float | None, description: str | None
) -> None:
    given = {
        "name": name.strip(),
        "explanation": explanation.strip(),
        "area": area and area.strip(),
        "certainty_score": certainty,
    }
    content = {key: value for key, value in given.items() if value is not None}
    link = Link("includes", "00000000-0000-4000-8000-000000000000", 0.5, description, "rel-000000000000")
    draft = Draft(content, "11111111-1111-4111-8111-111111111111", links=(link,))
    back = parse_note(markdown.format_note(draft, {}), "any/path.md")
    assert {**back.content} == content
    assert (back.concept_id, back.links) == (draft.concept_id, draft.links)


def test_csv_brings_concepts_and_links_by_name(concepts: Concepts, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        'name,explanation,area,certainty_score,prerequisite\nA,"first, of all",X,50,B;C\nB,second,,,\nC,third,X,,\n'
    )
    result = concepts.transfer.bring_in(tables.read_csv(path))
    assert (result.created, result.relationships) == (3, 2)
    assert edges(concepts) == {("A", "prerequisite", "B"), ("A", "prerequisite", "C")}
    tables.write_csv(tmp_path / "out.csv", concepts.transfer.hand_out())
    again = concepts.transfer.bring_in(tables.read_csv(tmp_path / "out.csv"))
    assert (again.created, again.updated, again.unchanged, again.relationships) == (0, 0, 3, 0)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "title,text\nA,b\n", "columns name and explanation"),
        ("a.csv", "name,explanation\nA,\n", "line 2: explanation is missing"),
        ("a.jsonl", '{"name": "A", "explanation": "e"}\n{"name": \n', "line 2 is not JSON"),
        ("a.jsonl", "[1]\n", "line 1 is not an object"),
        ("a.jsonl", '{"name": "A", "explanation": "e", "relationships": [{"type": "includes"}]}', "type and a target"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    reader: Callable[[Path], object] = tables.read_csv if name.endswith("csv") else tables.read_jsonl
    with pytest.raises(InvalidInput, match=says):
        reader(tmp_path / name)


def test_an_import_that_cannot_be_whole_leaves_nothing(concepts: Concepts) -> None:
    one = {"name": "A", "explanation": "a"}
    circle = [
        Draft(one, path="A", links=(Link("prerequisite", "B"),)),
        Draft({"name": "B", "explanation": "b"}, path="B", links=(Link("prerequisite", "A"),)),
    ]
    with pytest.raises(Conflict, match=r"B → A → B|A → B → A"):
        concepts.transfer.bring_in(circle)
    with pytest.raises(InvalidInput):
        concepts.transfer.bring_in([Draft(one), Draft({"name": "", "explanation": "b"})])
    assert concepts.log.head() == 0
    with pytest.raises(NotFound):
        concepts.read.get("A")
