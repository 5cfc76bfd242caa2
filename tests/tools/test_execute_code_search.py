"""search_tools finds the function: here by words alone, as where there is no model; benchmarks/sandbox_search.py has
the figures with one."""

import re
from pathlib import Path
from typing import Any

import pytest
from benchmarks.sandbox_questions import QUESTIONS

from served import Serve
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.doors.mcp.sandbox_catalog import CATALOG
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


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


def test_what_a_function_is_said_to_return_is_what_it_returns(serve: Serve, tmp_path: Path) -> None:
    server = serve(toolsets="knowledge,code,concepts")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("import b\n\ndef one():\n    return b.two()\n")
    (tmp_path / "code" / "b.py").write_text("def two():\n    return 2\n")
    answers = {"index_repository": server.body("index_repository", source=str(tmp_path / "code"), name="code")}
    place = {"area": "x", "topic": "y", "subtopic": "z", "certainty_score": 50}
    first = server.body("create_concept", name="First", explanation="what comes first", **place)
    second = server.body("create_concept", name="Second", explanation="then another", **place)["concept_id"]
    ends = {"source_concept_id": first["concept_id"], "target_concept_id": second}
    answers |= {
        "create_concept": first,
        "create_relationship": server.body("create_relationship", relationship_type="prerequisite", **ends),
    }
    server.app().embedding.run()
    file = {"entity_type": "file", "repository": "code"}
    chain = {"start_concept_id": first["concept_id"], "end_concept_id": second}
    asked: dict[str, dict[str, Any]] = {
        "semantic_search": {"query": "keys", "response_mode": "full"},
        "get_chunk": {"chunk_id": 1},
        "search_code": {"query": "two", "threshold": 0},
        "list_indexed_repositories": {},
        "get_dependencies": file | {"entity_path": "a.py"},
        "get_dependents": file | {"entity_path": "b.py"},
        "get_architecture": {"repository": "code", "detail_level": "files"},
        "find_path": {"from_entity": "a.py", "to_entity": "b.py", "repository": "code"},
        "get_graph_metrics": {},
        "get_index_status": {},
        "ping": {},
        "get_server_stats": {},
        "get_concept": {"concept_id": second, "include_history": True},
        "search_concepts_semantic": {"query": "then another"},
        "search_concepts_exact": {"name": "First"},
        "get_recent_concepts": {},
        "get_related_concepts": {"concept_id": second},
        "get_prerequisites": {"concept_id": second},
        "get_concept_chain": chain,
        "list_hierarchy": {},
        "get_concepts_by_certainty": {},
    }
    answers |= {name: server.body(name, **arguments) for name, arguments in asked.items()}
    for name, answer in answers.items():
        said = set(re.findall(r"[A-Za-z_]+", re.sub(r"\(.*?\)", "", CATALOG[name].returns)))
        assert said <= keys(answer), f"{name}: {said - keys(answer)}"
