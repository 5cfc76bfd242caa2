"""Cursors, the cache, packing into a budget, desktop figures, schemas of tools, settings."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from trivium.backends.memory.results import MemoryResults
from trivium.backends.quicktok import QuicktokCounter
from trivium.doors.mcp.budget import Forms, pack
from trivium.doors.mcp.cursors import Cursors
from trivium.doors.mcp.desktop import explain_rank, near_duplicates, recency, reliability
from trivium.doors.mcp.envelope import Draft, error_body, json_text, priced
from trivium.doors.mcp.tools import Call, Tool
from trivium.errors import CursorExpired, InvalidInput
from trivium.model.chunk import Chunk
from trivium.model.hits import Hit
from trivium.settings import Settings

COUNTER = QuicktokCounter()
CURSORS = Cursors(b"k" * 32)


@given(st.text(), st.integers(1, 10**9), st.integers(0, 10**12))
def test_a_cursor_opens_for_its_own_query_and_generation(query: str, offset: int, generation: int) -> None:
    cursor = CURSORS.make((query,), offset, generation)
    assert CURSORS.open(cursor, (query,), generation) == offset
    with pytest.raises(CursorExpired):
        CURSORS.open(cursor, (query,), generation + 1)
    with pytest.raises(InvalidInput):
        CURSORS.open(cursor, (query + "x",), generation)
    with pytest.raises(InvalidInput):
        Cursors(b"j" * 32).open(cursor, (query,), generation)


@given(st.text(max_size=300))
def test_no_other_text_is_a_cursor(text: str) -> None:
    with pytest.raises(InvalidInput):
        CURSORS.open(text, ("q",), 1)


@given(st.integers(0, 40), st.characters(codec="ascii"))
def test_no_changed_character_goes_unnoticed(place: int, character: str) -> None:
    cursor = CURSORS.make(("q",), 10, 5)
    changed = cursor[:place] + character + cursor[place + 1 :]
    if changed != cursor:
        with pytest.raises((InvalidInput, CursorExpired)):
            CURSORS.open(changed, ("q",), 5)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_entry_ends_with_its_lifetime() -> None:
    clock = Clock()
    cache: MemoryResults[int] = MemoryResults(10, 30, clock)
    assert cache.get("a", lambda: 1) == (1, False)
    assert cache.get("a", lambda: 2) == (1, True)
    clock.now = 31
    assert cache.get("a", lambda: 3) == (3, False)


def test_entries_past_their_lifetime_do_not_stay_in_memory() -> None:
    clock = Clock()
    cache: MemoryResults[int] = MemoryResults(1000, 30, clock)
    for number in range(500):
        clock.now += 1
        cache.get(number, lambda: 1)
    assert len(cache) <= 30


def test_the_least_recently_used_entry_goes_first() -> None:
    cache: MemoryResults[int] = MemoryResults(2, 30)
    cache.get("a", lambda: 1)
    cache.get("b", lambda: 2)
    cache.get("a", lambda: 0)
    cache.get("c", lambda: 3)
    assert cache.get("a", lambda: 9) == (1, True)
    assert cache.get("b", lambda: 9) == (9, False)
    assert len(cache) == 2


def test_equal_simultaneous_queries_are_computed_once() -> None:
    cache: MemoryResults[int] = MemoryResults(10, 30)
    started, go, runs = threading.Event(), threading.Event(), []

    def slow() -> int:
        runs.append(1)
        started.set()
        go.wait(10)
        return 7

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(cache.get, "q", slow)
        started.wait(10)
        others = [pool.submit(cache.get, "q", slow) for _ in range(7)]
        go.set()
        assert first.result()[0] == 7
        assert {one.result()[0] for one in others} == {7}
    assert len(runs) == 1


def test_a_failure_reaches_everyone_who_waited_and_is_not_kept() -> None:
    cache: MemoryResults[int] = MemoryResults(10, 30)

    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get("q", fail)
    assert cache.get("q", lambda: 1) == (1, False)


def test_whoever_waits_for_a_stopped_run_runs_it_himself() -> None:
    cache: MemoryResults[int] = MemoryResults(10, 30)
    started, go = threading.Event(), threading.Event()

    def stopped() -> int:
        started.set()
        go.wait(10)
        raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get, "q", stopped)
        started.wait(10)
        second = pool.submit(cache.get, "q", lambda: 5)
        go.set()
        with pytest.raises(KeyboardInterrupt):
            first.result()
        assert second.result() == (5, False)


def test_one_who_waits_too_long_is_told() -> None:
    cache: MemoryResults[int] = MemoryResults(10, 30)
    started, go = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(cache.get, "q", lambda: started.set() or go.wait(10) or 1)
        started.wait(10)
        with pytest.raises(TimeoutError):
            cache.get("q", lambda: 2, wait_s=0.01)
        go.set()
        first.result()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 200), st.integers(0, 400)), min_size=1, max_size=12),
    st.integers(0, 3000),
)
def test_packing_never_exceeds_the_room_and_favours_the_best(sizes: list[tuple[int, int, int]], room: int) -> None:
    results = []
    for small, more, most in sizes:
        bodies = tuple({"t": "word " * size} for size in (small, small + more, small + more + most))
        results.append(Forms(bodies, ("metadata", "preview", "full")))
    packed = pack(results, room, COUNTER)
    assert packed.tokens <= room
    assert COUNTER.count([json_text(list(packed.bodies))])[0] <= max(room, 1) + 2
    if len(packed.bodies) < len(results):
        smallest = sum(COUNTER.count(["," + json_text(one.bodies[0])])[0] + 1 for one in results)
        assert smallest > room


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=8), st.text(max_size=60), max_size=4), max_size=30))
def test_an_answer_states_exactly_what_it_costs(results: list[dict[str, str]]) -> None:
    body, text, tokens = priced(Draft("t", "req_1", 0.0, results), COUNTER)
    assert COUNTER.count([text])[0] == tokens == body["execution_context"]["tokens_estimated"]


def chunk(number: int, text: str) -> Chunk:
    return Chunk(number, "documents", "a.md", None, "", 0, 1, text, "", 1, 0, len(text), None, "", {})


def test_near_duplicates_are_found_by_their_text() -> None:
    text = " ".join(f"word{number}" for number in range(60))
    one, copy, other = chunk(1, text), chunk(2, text + " end"), chunk(3, "something else entirely here")
    answers = near_duplicates([one, copy, other])
    assert [answer["is_duplicate"] for answer in answers] == [False, True, False]
    assert answers[0]["similar_chunk_ids"] == [2]
    assert answers[1]["similar_chunk_ids"] == [1]
    assert answers[1]["confidence"] > 0.8
    assert answers[2]["similar_chunk_ids"] == []


def test_recency_halves_with_the_half_life() -> None:
    today = date(2026, 1, 1)
    assert recency("2026-01-01", 365, today) == 1.0
    assert recency("2025-01-01", 365, today) == 0.5
    assert recency("2027-01-01", 365, today) == 1.0
    assert recency(None, 365, today) == recency("someday", 365, today) == 0.5


def hit(rank: int, score: float, meaning: float | None, words: float | None) -> Hit:
    return Hit(1, rank, score, meaning, words, "hybrid")


def test_reliability_is_higher_where_both_sides_agree() -> None:
    assert reliability(hit(1, 0.9, 0.95, 0.9)) > reliability(hit(1, 0.9, 0.95, 0.1))
    assert reliability(hit(1, 0.9, 0.95, 0.9)) > reliability(hit(1, 0.5, 0.95, 0.9))
    assert 0 <= reliability(hit(1, 1.0, None, 0.3)) <= 0.5


def test_the_explanation_follows_the_scores() -> None:
    assert (
        explain_rank(hit(1, 0.9, 0.9, 0.8), 10)["explanation"] == "Top-tier result: Strong semantic and keyword match"
    )
    assert explain_rank(hit(1, 0.9, 0.5, 0.8), 10)["explanation"] == "High relevance: Strong keyword match"
    assert explain_rank(hit(1, 0.9, 0.5, 0.3), 10)["explanation"] == "Moderate match: Some keyword overlap"
    assert explain_rank(hit(10, 0.9, 0.5, 0.0), 10) == {
        "percentile": 0,
        "explanation": "Weak match: Little in common with the query",
        "score_method": "hybrid",
    }


def example(
    call: Call,
    name: Annotated[str, Field(min_length=1, max_length=5)],
    size: Annotated[int | None, Field(ge=1, le=9)] = None,
    kinds: list[str] | None = None,
) -> dict[str, Any]:
    """An example."""
    return {"name": name, "size": size}


EXAMPLE = Tool("example", example, "An example.", "read", error_body)


def test_an_input_schema_has_no_titles_and_no_null_branches() -> None:
    assert EXAMPLE.input_schema == {
        "additionalProperties": False,
        "properties": {
            "name": {"maxLength": 5, "minLength": 1, "type": "string"},
            "size": {"maximum": 9, "minimum": 1, "type": "integer"},
            "kinds": {"items": {"type": "string"}, "type": "array"},
        },
        "required": ["name"],
        "type": "object",
    }


@pytest.mark.parametrize(
    ("arguments", "message", "field"),
    [
        ({}, "name is required", "name"),
        ({"name": "  "}, "name must not be empty", "name"),
        ({"name": "toolong"}, "name exceeds 5 characters", "name"),
        ({"name": "a", "size": 10}, "size must be between 1 and 9", "size"),
        ({"name": "a", "size": "x"}, "size: input should be a valid integer", "size"),
        ({"name": "a", "other": 1}, "unknown parameter 'other'", "other"),
        ({"name": "a", "kinds": "x"}, "kinds: input should be a valid list", "kinds"),
    ],
)
def test_what_is_wrong_with_an_argument_is_said_in_a_sentence(
    arguments: dict[str, Any], message: str, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        EXAMPLE.parse(arguments)
    assert refused.value.message.startswith(message)
    assert refused.value.field == field


def test_a_setting_knows_where_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "warning")
    monkeypatch.setenv("TRIVIUM_LOG_LEVEL", "error")
    monkeypatch.setenv("MCP_API_KEY", "a-long-secret-key")
    rows = {row.name: row for row in Settings(http_port=1234).origins()}
    assert (rows["log_level"].value, rows["log_level"].origin) == ("ERROR", "TRIVIUM_LOG_LEVEL")
    assert (rows["api_key"].value, rows["api_key"].origin) == ("…-key", "MCP_API_KEY")
    assert (rows["http_port"].value, rows["http_port"].origin) == (1234, "given")
    assert rows["fusion"].origin == "default"


def test_a_wrong_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_HTTP_PORT", "99999")
    with pytest.raises(ValueError, match="65535"):
        Settings()
