"""What the edges of names and the words between them say, without any model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.documents.extract.peoples import names_people
from trivium.documents.extract.ruled import RuledExtractor
from trivium.documents.extract.spans import tidied
from trivium.model.vendor import ENTITY_TYPES, EntityType, Mention


def marked(text: str) -> tuple[str, list[Mention]]:
    """`[ORG Acme] is here` as text and mentions."""
    plain, mentions = "", []
    for number, part in enumerate(text.replace("]", "[").split("[")):
        if number % 2:
            kind, name = part.split(" ", 1)
            entity_type = next(known for known in ENTITY_TYPES if known == kind)
            mentions.append(Mention(len(plain), len(plain) + len(name), entity_type, 0.9))
            plain += name
        else:
            plain += part
    return plain, mentions


def said(text: str) -> set[tuple[str, str, str]]:
    plain, mentions = marked(text)
    [links] = RuledExtractor().link([plain], [mentions])
    names = [plain[m.start : m.end] for m in mentions]
    return {(names[k.head], k.relationship_type, names[k.tail]) for k in links}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("[PERSON Ann Lee], vice president of [ORG Globex], left.", {("Ann Lee", "WORKS_FOR", "Globex")}),
        ("[ORG Globex] spokeswoman Dr. [PERSON Ann Lee] left.", {("Ann Lee", "WORKS_FOR", "Globex")}),
        ("[PERSON Ann Lee], another [ORG Globex] engineer, left.", {("Ann Lee", "WORKS_FOR", "Globex")}),
        (
            "[PERSON Ann Lee] and [PERSON Bo Chu] of [ORG Globex] left.",
            {("Ann Lee", "WORKS_FOR", "Globex"), ("Bo Chu", "WORKS_FOR", "Globex")},
        ),
        (
            "[ORG Globex] in [LOCATION Dayton], [LOCATION Ohio] grew.",
            {
                ("Globex", "LOCATED_IN", "Dayton"),
                ("Dayton", "LOCATED_IN", "Ohio"),
                ("Globex", "LOCATED_IN", "Ohio"),
            },
        ),
        ("the [LOCATION Texas] city of [LOCATION Austin]", {("Austin", "LOCATED_IN", "Texas")}),
        (
            "[PERSON Ann Lee] of [ORG Globex]'s [ORG Anvil Institute] left.",
            {("Ann Lee", "WORKS_FOR", "Globex"), ("Ann Lee", "WORKS_FOR", "Anvil Institute")},
        ),
        ("the deputy head of the [ORG Globex Fleet], [PERSON Ann Lee]", {("Ann Lee", "WORKS_FOR", "Globex Fleet")}),
        (
            "[PERSON Ann Lee], D-[LOCATION Calif]., chairman of the [ORG Globex Board], left",
            {("Ann Lee", "WORKS_FOR", "Globex Board")},
        ),
        ("the [LOCATION Harlem] section of [LOCATION New York]", {("Harlem", "LOCATED_IN", "New York")}),
        ("the [ORG Globex] plant in [LOCATION Dayton]", {("Globex", "LOCATED_IN", "Dayton")}),
        ("[LOCATION Seoul], May 3 ([ORG Yonhap])", {("Yonhap", "LOCATED_IN", "Seoul")}),
        ("[LOCATION Austin] mayor [PERSON Ann Lee] left", {("Ann Lee", "LIVES_IN", "Austin")}),
        ("from [LOCATION Paris] to [LOCATION France]", set()),
        ("offices in [LOCATION Paris], [LOCATION London] and [LOCATION Rome]", set()),
        ("[PERSON Ann Lee], a lawyer for the man who sued [ORG Globex], left", set()),
        ("[PERSON Ann Lee] criticised [ORG Globex].", set()),
        ("[PERSON Ann Lee] told [ORG Globex] in an interview", set()),
    ],
)
def test_relationships_are_read_from_the_words_between(text: str, facts: set[tuple[str, str, str]]) -> None:
    assert said(text) == facts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("in [LOCATION the United States], and", ["United States"]),
        ("in [LOCATION The Hague] today", ["The Hague"]),
        ("a [LOCATION French] supplier of [ORG Germans]", []),
        ("a [LOCATION Franco-German] firm, [ORG American Airlines],", ["American Airlines"]),
        ("said [ORG ` `] twice", []),
        ("for [ORG Globex ,] and", ["Globex"]),
        ("he met [PERSON Lee's] son", ["Lee"]),
        ("we met in [LOCATION Boise.]", ["Boise"]),
        ("San Jose , [LOCATION Calif]. , and", ["Calif."]),
        ("from [LOCATION Bosnia]-[LOCATION Herzegovina] .", ["Bosnia-Herzegovina"]),
        ("an [LOCATION Ohio]-based firm .", ["Ohio"]),
    ],
)  # fmt: skip
def test_a_mention_is_trimmed_to_the_name(text: str, names: list[str]) -> None:
    plain, mentions = marked(text)
    kept, _ = tidied(plain, mentions)
    assert [plain[m.start : m.end] for m in kept] == names


def test_peoples_are_no_places_but_places_and_companies_stay() -> None:
    assert names_people("Serbo-Croatian")
    assert names_people("the Swiss")
    assert not names_people("Jordan")
    assert not names_people("British Airways")


@given(
    st.text(alphabet="Ab .,'&-the s\n`(é", min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12), st.sampled_from(ENTITY_TYPES)), max_size=6),
)
def test_tidied_mentions_lie_in_the_text_in_order_and_never_overlap(
    text: str, rows: list[tuple[int, int, EntityType]]
) -> None:
    given_mentions: list[Mention] = []
    for start, length, kind in sorted(rows):
        free = not given_mentions or start >= given_mentions[-1].end
        if free and start + length <= len(text):
            given_mentions.append(Mention(start, start + length, kind, 0.5))
    kept, places = tidied(text, given_mentions)
    assert len(places) == len(given_mentions)
    assert all(place is None or 0 <= place < len(kept) for place in places)
    last = 0
    for mention in kept:
        assert last <= mention.start < mention.end <= len(text)
        last = mention.end


@pytest.mark.parametrize(
    ("text", "agency"),
    [
        ("SEOUL, May 3 (Yonhap) -- Exports rose.", "Yonhap"),
        ("NEW ORLEANS ( AP )", "AP"),
        ("WARSAW , Poland ( PAP ) _ Prices rose .", "PAP"),
        ("The access point (AP) -- not the router -- failed.", None),
        ("We moved to Acme Cloud (AC) last year.", None),
    ],
)
def test_a_dateline_names_the_agency(text: str, agency: str | None) -> None:
    [found] = RuledExtractor().extract([text])
    names = [text[m.start : m.end] for m in found.mentions if m.entity_type == "ORG"]
    assert names == ([agency] if agency else [])
