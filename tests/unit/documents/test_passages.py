"""What is embedded of a chunk: all of it, within what the encoder reads."""

import re
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.documents.passages import passages, passages_of

_TOKEN = re.compile(r"\w{1,5}|[^\w\s]")


def count(texts: Sequence[str]) -> list[int]:
    """Two more than the text has: an encoder adds a token in front and one at the end."""
    return [len(_TOKEN.findall(text)) + 2 for text in texts]


def body(passage: str, header: str) -> str:
    """The passage without its header, of which the first parts may be missing."""
    parts = header.split(" > ")
    shortened = [" > ".join(parts[i:]) for i in range(len(parts))]
    used = next((head for head in shortened if head and passage.startswith(f"{head} ")), "")
    return passage.removeprefix(f"{used} ") if used else passage


_TEXTS = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"], include_characters="\n. "), max_size=600
)
_HEADERS = st.lists(st.sampled_from(["Guide", "Setup", "A rather long heading of some words"]), max_size=4).map(
    " > ".join
)


@settings(max_examples=100, deadline=None)
@given(_HEADERS, _TEXTS, st.integers(16, 60))
def test_nothing_is_lost_and_nothing_is_longer_than_the_encoder_reads(header: str, text: str, limit: int) -> None:
    found = passages(header, text, count, limit)
    assert all(tokens <= limit for tokens in count(found))
    kept = "".join(body(passage, header) for passage in found)
    assert "".join(kept.split()) == "".join(text.split())


@settings(max_examples=100, deadline=None)
@given(_TEXTS, st.integers(10, 60))
def test_without_a_header_the_passages_are_the_text(text: str, limit: int) -> None:
    assert "".join("".join(passages("", text, count, limit)).split()) == "".join(text.split())


def test_a_text_that_fits_is_one_passage_under_its_header() -> None:
    assert passages("Guide > Setup", "Run it.", count, 256) == ["Guide > Setup Run it."]


def test_a_blank_text_has_no_passages() -> None:
    assert passages("Guide", " \n ", count, 256) == []


def test_a_long_text_is_cut_at_sentence_ends_into_parts_of_about_equal_size() -> None:
    text = " ".join(f"Sentence {i} is about rivers." for i in range(40))
    found = passages("Guide", text, count, 128)
    assert len(found) == 3
    assert all(passage.startswith("Guide Sentence") and passage.endswith("rivers.") for passage in found)
    sizes = count(found)
    assert max(sizes) < 1.25 * min(sizes)


def test_table_rows_stay_whole() -> None:
    rows = [f"| vendor {i} | city {i} |" for i in range(80)]
    found = passages("", "\n".join(rows), count, 100)
    assert [row for passage in found for row in passage.split("\n")] == rows


def test_a_long_heading_path_loses_its_first_parts() -> None:
    header = " > ".join(["A very long heading that says a lot of things"] * 8 + ["Last"])
    (first, *_) = passages(header, "Words and more words. " * 60, count, 64)
    path = first[: first.index("Words")]
    assert path.endswith("Last ")
    assert count([path])[0] <= 16


def test_many_chunks_are_counted_in_few_calls() -> None:
    calls = []

    def counting(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return count(texts)

    chunks = [("Guide", "Short text."), ("Guide", "Some longer words here. " * 100)] * 50
    alone = [passages(header, text, count, 128) for header, text in chunks]
    assert passages_of(chunks, counting, 128) == alone
    assert len(calls) < 12
