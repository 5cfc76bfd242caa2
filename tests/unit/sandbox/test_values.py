"""Values on their way out: always plain, always bounded."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.sandbox import values
from trivium.sandbox.failures import ResultInvalid
from trivium.sandbox.values import plain

leaves: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates(), st.timedeltas()
)
anything = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(), st.integers(), st.none(), st.dates()), inner),
        st.sets(st.integers()),
    ),
    max_leaves=30,
)


@given(anything)
def test_everything_becomes_json(value: Any) -> None:
    json.dumps(plain(value))


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.text()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_is_plain_already_stays_as_it_is(value: Any) -> None:
    assert plain(value) == value


def test_what_is_shared_is_counted_as_often_as_it_is_sent() -> None:
    value: list[Any] = [1] * 1000
    value = [value] * 1000
    with pytest.raises(ResultInvalid, match="more than 200,000 values"):
        plain(value)


def test_what_contains_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ResultInvalid, match="64 levels"):
        plain(value)


def test_long_texts_are_counted_together() -> None:
    with pytest.raises(ResultInvalid, match="characters"):
        plain(["x" * (values.MOST_CHARACTERS // 2)] * 3)
