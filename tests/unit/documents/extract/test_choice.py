"""The extractor is a choice by one setting; what is not installed says so."""

import importlib.util

import pytest

from trivium.app import open_extractor
from trivium.errors import ModelUnavailable
from trivium.settings import Settings


@pytest.mark.parametrize("extractor", ["spacy", "gliner"])
@pytest.mark.parametrize("what", ["extract", "name"])
def test_an_extractor_that_is_not_installed_names_the_way_out(extractor: str, what: str) -> None:
    if importlib.util.find_spec(extractor):
        pytest.skip(f"{extractor} is installed")
    chosen = open_extractor(Settings(extractor=extractor, extractor_model="nowhere"))
    if what == "name":
        assert chosen.name.startswith(f"{extractor}-nowhere+")
        return
    with pytest.raises(ModelUnavailable, match="nowhere") as missing:
        chosen.extract(["Acme Corp bought Globex Inc."])
    assert "TRIVIUM_EXTRACTOR=onnx" in str(missing.value.hint)


def test_rules_need_no_model() -> None:
    [found] = open_extractor(Settings(extractor="rules")).extract(["Acme Corp bought Globex Inc."])
    assert [link.relationship_type for link in found.links] == ["ACQUIRED"]
