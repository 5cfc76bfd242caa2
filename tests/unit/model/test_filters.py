from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import InvalidInput
from trivium.model.filter_syntax import MAX_CONDITIONS, parse_filter
from trivium.model.filters import And, Contains, Equals, Exists, Filter, In, Not, Or, Range, matches

CHUNK = {
    "source": "documents",
    "source_category": "guides",
    "date": "2024-05-01",
    "chunk_index": 3,
    "title": "Keys",
    "metadata.tags": ["draft", "api"],
    "metadata.version": 2,
    "metadata.is_public": True,
    "metadata.title": "Inner",
    "metadata.nothing": None,
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("category = guides", True),
        ("category = Guides", False),
        ("source_category in (guides, 'release notes')", True),
        ("tags contains draft", True),
        ("tags not contains draft", False),
        ("title contains ey", True),
        ("date >= 2024-01-01 and date < 2025", True),
        ("date > 2024-05-01", False),
        ("chunk_index <= 3 and not chunk_index < 3", True),
        ("version = 2 or version = 3", True),
        ('version = "2"', False),
        ("version > a", False),
        ("is_public = true", True),
        ("owner exists", False),
        ("nothing exists", False),
        ("not owner exists", True),
        ("owner != anna", True),
        ("metadata.title = Inner", True),
        ("tags = api", True),
        ("category = guides and (version = 9 or not version = 9)", True),
        ("NOT category = guides OR tags CONTAINS api", True),
        ("version not in (1, 3)", True),
    ],
)
def test_a_written_condition_means_what_it_says(text: str, holds: bool) -> None:
    assert matches(parse_filter(text), CHUNK) is holds


@pytest.mark.parametrize(
    ("text", "mapping"),
    [
        ("category = guides", {"category": "guides"}),
        ("version in (1, 2)", {"version": [1, 2]}),
        ("date >= 2024-01-01 and date < 2025-01-01", {"date": {"gte": "2024-01-01", "lt": "2025-01-01"}}),
        ("a = 1 or not b exists", {"or": [{"a": 1}, {"not": {"b": {"exists": True}}}]}),
        ("tags contains x and n != 1.5", {"and": [{"tags": {"contains": "x"}}, {"n": {"ne": 1.5}}]}),
    ],
)
def test_both_syntaxes_give_the_same_filter(text: str, mapping: dict[str, Any]) -> None:
    assert parse_filter(text) == parse_filter(mapping)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "is empty"),
        ("category", "wants an operator after 'category'"),
        ("category =", "the end where it wants a value"),
        ("category = a b", "'b' at column 14"),
        ("= guides", "'=' at column 1 where it wants a field"),
        ("(a = 1", r"the end where it wants '\)'"),
        ("a in ()", r"'\)' at column 7"),
        ("a ! 1", "cannot be read from column 3"),
        ("1a = 2", "names a field '1a'"),
        ({}, "at least one field"),
        ({"a": None}, "compares 'a' with None"),
        ({"a": {"like": "x"}}, "has no operator 'like'"),
        ({"a": {"in": []}}, "wants a list of values"),
        ({"a": {"gt": True}}, "an order needs"),
        ({"a": {"exists": "yes"}}, "wants true or false"),
        ({"and": {"a": 1}}, "wants a list of conditions"),
        ({"not": 1}, "wants an object"),
        (" or ".join(["a = 1"] * (MAX_CONDITIONS + 1)), "more than 200 conditions"),
        ("(" * 50 + "a = 1" + ")" * 50, "nested more than"),
        ("not " * 50 + "a = 1", "nested more than"),
    ],
)
def test_what_cannot_be_read_is_named(written: str | dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        parse_filter(written)
    assert caught.value.field == "filter"


names = st.sampled_from(["category", "chunk_index", "tags", "owner"])
values = st.one_of(st.sampled_from(["guides", "draft", "zz"]), st.integers(-2, 4), st.booleans())
ordered = st.one_of(st.sampled_from(["a", "guides"]), st.integers(-2, 4))
leaves = st.one_of(
    st.builds(Equals, names, values),
    st.builds(In, names, st.tuples(values, values)),
    st.builds(Contains, names, values),
    st.builds(Range, names, low=ordered),
    st.builds(Exists, names),
)
trees = st.recursive(
    leaves,
    lambda part: st.one_of(
        st.builds(Not, part),
        st.builds(lambda a, b: And((a, b)), part, part),
        st.builds(lambda a, b: Or((a, b)), part, part),
    ),
    max_leaves=8,
)


@given(trees, trees)
def test_negation_and_de_morgan_hold(one: Filter, other: Filter) -> None:
    assert matches(Not(one), CHUNK) != matches(one, CHUNK)
    assert matches(Not(And((one, other))), CHUNK) == matches(Or((Not(one), Not(other))), CHUNK)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        condition = parse_filter(text)
    except InvalidInput:
        return
    assert matches(condition, CHUNK) in (True, False)
