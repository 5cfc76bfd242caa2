"""What a question names is found, and words that only look like names do not push answers aside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.backends.memory.code_graph import MemoryCodeGraph
from trivium.code.analyse import analyse
from trivium.code.named import in_order, named_definitions

SOURCE = b"""
class HttpRequest:
    def get_host(self): ...
    def save(self): ...

class Field:
    def save(self): ...

def parse_cookie(text): ...
def data(): ...
def lazy(): ...
"""
GRAPH = MemoryCodeGraph([analyse("web", {"web.py": SOURCE, "other.py": b"def get_host(): ...\n"})])


def names(query: str) -> list[tuple[str, bool]]:
    return [(name.word, name.is_sure) for name in named_definitions(GRAPH, query, "web")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("parse_cookie", ["parse_cookie"]),
        ("data", ["data"]),
        ("where is parse_cookie defined", ["parse_cookie"]),
        ("how does HttpRequest.get_host work", ["HttpRequest.get_host"]),
        ("what does save() do with the data", ["save"]),
        ("is `data` ever empty", ["data"]),
        ("where is save defined", ["save"]),
        ("the save method", ["save"]),
        ("how does lazy work?", ["lazy"]),
        ("what subclasses Field here", ["Field"]),
        ("does web.HttpRequest::get_host call parse_cookie", ["web.HttpRequest::get_host", "parse_cookie"]),
        ("how to save a form", []),
        ("what is data validation", []),
        ("", []),
    ],
)
def test_words_that_stand_for_names(query: str, expected: list[str]) -> None:
    assert [word for word, is_sure in names(query) if is_sure] == expected


def test_a_plain_word_may_be_a_name() -> None:
    assert names("how to save a form") == [("save", False)]


def test_a_qualified_name_means_that_very_definition() -> None:
    (found,) = named_definitions(GRAPH, "why is HttpRequest.get_host slow", "web")
    assert [s.entity_path for s in found.definitions] == ["web.py::HttpRequest.get_host"]


def chunks_of(symbols: object) -> dict[str, int]:
    return {s.symbol_id: 100 + s.line for s in symbols}  # type: ignore[attr-defined]


def test_several_names_take_turns() -> None:
    named = named_definitions(GRAPH, "does get_host use parse_cookie", "web")
    order = list(in_order(named, [1, 2, 3], chunks_of))
    host, cookie = [[chunks_of([s])[s.symbol_id] for s in name.definitions] for name in named]
    assert order[0] in host
    assert order[1] == cookie[0]
    assert order[-3:] == [1, 2, 3]


def test_what_may_be_a_name_comes_third_and_nothing_is_lost() -> None:
    named = named_definitions(GRAPH, "ways to lazy load a form", "web")
    order = in_order(named, [1, 2, 3, 4], chunks_of)
    assert [*order.items()][2][1] == "maybe"
    assert [chunk for chunk, match in order.items() if match == "none"] == [1, 2, 3, 4]


@given(st.text(max_size=80), st.lists(st.integers(1, 60), unique=True, max_size=8))
def test_every_hit_is_shown_once_whatever_is_asked(query: str, hits: list[int]) -> None:
    order = in_order(named_definitions(GRAPH, query + " save data parse_cookie", "web"), hits, chunks_of)
    assert [chunk for chunk in order if chunk in hits] == hits
