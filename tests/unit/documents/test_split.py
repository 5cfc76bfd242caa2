"""Chunks follow the document's structure and lose nothing of it."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.documents.read import read_document
from trivium.documents.split import split
from trivium.model.chunk import ParsedDocument, Piece

_TOKEN = re.compile(r"\w{1,6}|[^\w\s]")


def count(texts: Sequence[str]) -> list[int]:
    """Like a subword tokenizer: long words are several tokens, every mark is one."""
    return [len(_TOKEN.findall(text)) for text in texts]


def markdown(text: str) -> ParsedDocument:
    return read_document(Path("guide.md"), text.encode())


def chunks(text: str, limit: int = 500) -> list[Piece]:
    return split(markdown(text), count, limit)


def sentences(number: int, word: str = "rivers") -> str:
    return " ".join(f"Sentence {i} tells of {word} and hills." for i in range(number))


_WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=30)
_LINES = st.one_of(
    _WORDS,
    st.integers(1, 6).map(lambda level: "#" * level + " A heading"),
    st.sampled_from(
        ["", "", "```", "| a | b |\n|---|---|\n| 1 | 2 |", "- item", "> quoted. And more.", "---", "    x = 1"]
    ),
    st.integers(1, 30).map(sentences),
    st.integers(1, 200).map(lambda n: "x" * n),
)
_DOCUMENTS = st.lists(_LINES, max_size=30).map("\n".join)


@settings(max_examples=80, deadline=None)
@given(_DOCUMENTS, st.integers(2, 80))
def test_every_chunk_is_its_span_in_order_within_the_limit_and_nothing_is_lost(text: str, limit: int) -> None:
    document = markdown(text)
    pieces = split(document, count, limit)
    covered = [False] * len(document.text)
    end = 0
    for piece, tokens in zip(pieces, count([piece.text for piece in pieces]), strict=True):
        assert piece.text == document.text[piece.start : piece.end]
        assert piece.start >= end
        assert tokens == piece.token_count
        assert tokens <= limit
        assert piece.text.strip()
        end = piece.end
        covered[piece.start : piece.end] = [True] * len(piece.text)
    for block in document.blocks:
        for i in range(block.start, block.end):
            assert covered[i] or document.text[i].isspace()


@settings(max_examples=30, deadline=None)
@given(_DOCUMENTS)
def test_the_same_document_gives_the_same_chunks(text: str) -> None:
    assert chunks(text, 40) == chunks(text, 40)


def test_the_heading_path_is_the_context_of_a_chunk() -> None:
    text = f"# Guide\n\n{sentences(35)}\n\n## Setup\n\n### On *Linux* {{#linux}}\n\n{sentences(35)}"
    text += f"\n\n## Use\n\n{sentences(35)}"
    assert [piece.context_header for piece in chunks(text)] == ["Guide", "Guide > Setup > On Linux", "Guide > Use"]


def test_the_front_matter_title_comes_first() -> None:
    text = f"---\ntitle: Handbook\n---\n## Travel\n\n{sentences(5)}"
    assert chunks(text)[0].context_header == "Handbook > Travel"


def test_front_matter_is_no_part_of_a_chunk() -> None:
    assert chunks("---\ntitle: Handbook\n---\nBody.")[0].text == "Body."


def test_small_neighbours_under_one_parent_share_a_chunk() -> None:
    text = "# Guide\n\n" + "\n\n".join(f"## Part {i}\n\n{sentences(3)}" for i in range(3))
    (piece,) = chunks(text)
    assert piece.context_header == "Guide"
    assert piece.text == text


def test_sections_under_different_parents_stay_apart() -> None:
    text = "# A\n\n## A1\n\nShort one.\n\n### A1x\n\nShort two.\n\n# B\n\n## B1\n\nShort three."
    assert all(not ("Short two" in piece.text and "Short three" in piece.text) for piece in chunks(text, 20))


def test_a_heading_is_never_left_behind_by_its_text() -> None:
    text = f"{sentences(30)}\n\n## Next\n\n{sentences(60)}"
    for limit in range(20, 300, 7):
        assert all(not piece.text.rstrip().endswith("## Next") for piece in chunks(text, limit))


def test_a_table_is_cut_between_rows_and_its_header_goes_along() -> None:
    rows = [f"| Vendor {i} | City {i} |" for i in range(200)]
    text = "# Vendors\n\n" + "\n".join(["| Name | Place |", "|---|---|", *rows])
    pieces = chunks(text, 100)
    assert len(pieces) > 5
    assert [line for piece in pieces for line in piece.text.splitlines() if "Vendor " in line] == rows
    assert {piece.context_header for piece in pieces[1:]} == {"Vendors > Name | Place"}


def test_a_code_block_that_fits_is_never_cut() -> None:
    code = "```python\n" + "\n".join(f"value_{i} = {i}" for i in range(20)) + "\n```"
    text = f"{sentences(10)}\n\n{code}\n\n{sentences(10)}"
    assert sum(code in piece.text for piece in chunks(text, 130)) == 1


def test_a_code_block_that_does_not_fit_is_cut_at_line_ends() -> None:
    lines = [f"value_{i} = compute(first={i}, second={i + 1})" for i in range(100)]
    text = "```python\n" + "\n".join(lines) + "\n```"
    seen = [line for piece in chunks(text, 60) for line in piece.text.splitlines()]
    assert seen == text.splitlines()


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith of Acme Inc. met J. R. Jones, e.g. on the 3rd. of May at 4.30 p.m. in St. Moritz.",
        "The value rose by 3.5 % (see Fig. 2) in the U.S. and approx. 4 % elsewhere, i.e. more than planned.",
        'She asked "Why?" and left.',
        "It costs $ 3.50 … perhaps more.",
    ],
)
def test_a_sentence_is_not_cut_at_an_abbreviation(sentence: str) -> None:
    text = " ".join([sentence] * 30)
    assert all(piece.text.startswith(sentence) and piece.text.endswith(sentence) for piece in chunks(text, 60))


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    words = [f"word{i}" for i in range(500)]
    assert [word for piece in chunks(" ".join(words), 50) for word in piece.text.split()] == words


def test_large_sections_are_cut_into_parts_of_about_equal_size() -> None:
    paragraphs = "\n\n".join(sentences(3) for _ in range(25))
    sizes = [piece.token_count for piece in chunks(paragraphs, 500)]
    assert len(sizes) == 2
    assert max(sizes) < 1.2 * min(sizes)


def test_a_character_of_many_tokens_is_a_chunk_by_itself() -> None:
    pieces = split(markdown("äöü ß"), lambda texts: [7 * len("".join(text.split())) for text in texts], 3)
    assert [piece.text for piece in pieces] == ["ä", "ö", "ü", "ß"]


def test_an_empty_document_has_no_chunks() -> None:
    assert chunks("") == []
    assert chunks(" \n\n \t\n") == []


@pytest.mark.parametrize("unit", ["word and word. ", "x", "a b ", "| a | b |\n", "# h\n\n", "- item\n", "é", "```\n"])
def test_work_grows_no_faster_than_the_text(unit: str) -> None:
    def work(size: int) -> int:  # texts and characters counted: the same on every machine, unlike time
        document = read_document(Path("long.md"), (unit * (size // len(unit))).encode())
        steps = 0

        def counted(texts: Sequence[str]) -> list[int]:
            nonlocal steps
            steps += len(texts) + sum(map(len, texts))
            return count(texts)

        split(document, counted)
        return steps

    assert work(80_000) < 12 * work(10_000)
