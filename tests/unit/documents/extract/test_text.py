"""Which parts of a chunk are read."""

from hypothesis import given
from hypothesis import strategies as st

from trivium.documents.extract.text import mask, may_hold_names, sentences

TEXT = """# Acme Guide

Acme Corp. was founded by Dr. Jane Roe in Berlin. It makes [Acme Cloud](http://acme.example/Path) and `AcmeCtl`.

```
Hidden Company Inc
```

- Microsoft's Azure
- Globex Inc. sells it
If you want to run it, do so.
"""


def test_sentences_are_found_where_they_stand_and_code_is_not_read() -> None:
    found = [TEXT[start:end] for start, end in sentences(TEXT)]
    assert "Acme Corp. was founded by Dr. Jane Roe in Berlin." in found
    assert not any("Hidden" in one for one in found)
    assert not any("If you want" in one and "Azure" in one for one in found)


def test_addresses_and_code_are_blank_to_the_extractor() -> None:
    masked = mask(TEXT)
    assert len(masked) == len(TEXT)
    assert "Path" not in masked
    assert "AcmeCtl" not in masked
    assert "Acme Cloud" in masked


def test_a_sentence_without_any_capital_but_its_first_is_left_out() -> None:
    assert not may_hold_names("This is how it works.")
    assert may_hold_names("Kubernetes runs containers.")
    assert may_hold_names("we use Postgres here")


@given(st.text(alphabet="Ab .\n`#-*|[]()_\\é", max_size=200))
def test_sentences_lie_in_the_text_in_order_and_never_overlap(text: str) -> None:
    last = 0
    for start, end in sentences(text):
        assert last <= start < end <= len(text)
        last = end
