"""search_tools finds the function: here by words alone, as where there is no model; benchmarks/sandbox_search.py has
the figures with one."""

from typing import Any

import pytest
from benchmarks.sandbox_questions import QUESTIONS

from trivium.backends.memory.embedder import HashingEmbedder
from trivium.doors.mcp.sandbox_search import ToolSearch, signature
from trivium.doors.mcp.sandbox_words import MEANINGS, without_particulars, words
from trivium.doors.mcp.server import load_tools
from trivium.errors import ModelUnavailable
from trivium.settings import Settings

FUNCTIONS = load_tools(Settings())


class NoModel:
    def embed_passages(self, texts: Any) -> Any:
        raise ModelUnavailable(f"no weights for {len(texts)} texts")

    embed_queries = embed_passages


def test_there_are_sixty_questions_and_every_function_is_asked_for() -> None:
    assert len(QUESTIONS) == 60
    assert {wanted for _, wanted in QUESTIONS} == {one.name for one in FUNCTIONS}


def test_nine_of_ten_questions_find_their_function_first_even_without_a_model() -> None:
    search = ToolSearch(FUNCTIONS)
    embedder: Any = NoModel()
    first = [search.ranked(question, embedder)[0].name == wanted for question, wanted in QUESTIONS]
    assert sum(first) >= 54


def test_every_function_is_ranked_once() -> None:
    ranked = ToolSearch(FUNCTIONS).ranked("anything at all", HashingEmbedder())
    assert sorted(one.name for one in ranked) == sorted(one.name for one in FUNCTIONS)


def test_an_empty_or_strange_question_is_answered_all_the_same() -> None:
    search = ToolSearch(FUNCTIONS)
    for question in ("?", "\u202e😀", "x" * 500, "the of and"):
        assert len(search.ranked(question, HashingEmbedder())) == len(FUNCTIONS)


def test_particulars_of_a_question_do_not_count() -> None:
    known = frozenset({"material"})
    assert without_particulars("find material about vector clocks", known) == "find material about something"


@pytest.mark.parametrize(("one", "other"), [("erase", "delete"), ("repos", "codebase"), ("jot", "record")])
def test_words_that_mean_the_same_are_the_same(one: str, other: str) -> None:
    assert words(one) & words(other)
    assert MEANINGS


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.name)
def test_signatures_name_every_parameter(function: Any) -> None:
    text = signature(function)
    assert text.startswith(f"await {function.name}(")
    assert all(f"{name}: " in text for name in function.arguments.model_fields)
