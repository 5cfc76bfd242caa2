"""When two spellings are one name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.documents.extract.names import clean, could_be_one, is_abbreviation, name_key


@pytest.mark.parametrize(
    "variant",
    ["Red Hat", "RED HAT", "red hat", "RedHat", "Red-Hat", "Red Hat's", "Red Hat’s", "Red Hat, Inc.", "Red Hat Inc",
     "the Red Hat", "Red  Hat"],
)  # fmt: skip
def test_spellings_of_one_company_have_one_base(variant: str) -> None:
    assert name_key(variant).base == "redhat"


@pytest.mark.parametrize(
    ("left", "right"),
    [("Apple", "Apple Records"), ("Oracle", "Oracle Linux"), ("Acme Corp", "Acme Ltd"), ("Delta Air Lines", "Delta"),
     ("Amazon", "Amazon Web Services"), ("Virgin", "Virgin Group"), ("C", "C++"), ("Meta", "Metabase")],
)  # fmt: skip
def test_different_companies_never_become_one(left: str, right: str) -> None:
    assert not could_be_one(name_key(left), name_key(right))


def test_a_missing_legal_form_does_not_part_a_company() -> None:
    assert could_be_one(name_key("Acme"), name_key("Acme GmbH"))
    assert name_key("Acme Corp.") == name_key("Acme Corporation") == name_key("ACME, Corp")


def test_brackets_introduce_only_what_abbreviates_the_name() -> None:
    assert is_abbreviation("AWS", "Amazon Web Services")
    assert is_abbreviation("WHO", "World Health Organization")
    assert not is_abbreviation("NASDAQ", "Amazon Web Services")


def test_a_name_loses_the_full_stop_of_its_sentence_but_not_its_own() -> None:
    assert clean("Slack.") == "Slack"
    assert clean("Globex Inc.") == "Globex Inc."
    assert clean("U.S.") == "U.S."


@given(st.text(min_size=1, max_size=40))
def test_any_text_has_a_key_and_case_does_not_matter_for_plain_letters(text: str) -> None:
    assert name_key(text).base or not text.strip()
    plain = "".join(c for c in text if c.isascii() and c.isalpha())
    if len(plain) > 3:
        assert name_key(plain.upper(), legal=False) == name_key(plain.lower(), legal=False)
