"""Seed 000, the tools: one test a promise."""

import json
from pathlib import Path
from typing import Any

import pytest

import trivium
from served import Serve, Served
from trivium.settings import Settings

NO_KEY = "Authentication required. API key must be provided."
WRONG_KEY = "Invalid API key. Please check your credentials."


def error(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = body["error"]
    return found


# --- semantic_search


def test_a_query_has_at_most_500_characters(served: Served) -> None:
    assert "error" not in served.search("x" * 500)
    body = served.search("x" * 501)
    assert error(body)["code"] == "QUERY_TOO_LONG"
    assert error(body)["message"] == "Invalid request parameters: query exceeds 500 characters"


def test_a_query_is_trimmed_and_a_blank_one_refused(served: Served) -> None:
    assert served.search("  storage  ")["results"] == served.search("storage")["results"]
    assert error(served.search("   "))["code"] == "INVALID_PARAMS"


def test_top_k_is_10_by_default_and_between_1_and_50(served: Served) -> None:
    assert len(served.search()["results"]) == 10
    assert len(served.search(top_k=1)["results"]) == 1
    assert len(served.search(top_k=50)["results"]) == 50
    for wrong in (0, 51, -1):
        body = served.search(top_k=wrong)
        assert error(body)["code"] == "INVALID_PARAMS"
        assert error(body)["message"] == "Invalid request parameters: top_k must be between 1 and 50"


def test_an_unknown_response_mode_is_refused_with_the_known_ones(served: Served) -> None:
    message = error(served.search(response_mode="everything"))["message"]
    assert all(mode in message for mode in ("ids_only", "metadata", "preview", "full"))


def test_search_is_hybrid(served: Served) -> None:
    assert {one["score_type"] for one in served.search(response_mode="full")["results"]} == {"hybrid"}


def test_page_size_replaces_top_k_where_both_are_given(served: Served) -> None:
    assert len(served.search(top_k=5, page_size=3)["results"]) == 3


def test_pages_cover_the_ranking_without_gap_or_duplicate(served: Served) -> None:
    total = served.search(page_size=50)["pagination"]["total_available"]
    seen: list[int] = []
    cursor = None
    while True:
        arguments = {"cursor": cursor} if cursor else {}
        body = served.search(page_size=37, response_mode="ids_only", **arguments)
        seen += [one["chunk_id"] for one in body["results"]]
        assert [one["rank"] for one in body["results"]] == list(
            range(len(seen) - len(body["results"]) + 1, len(seen) + 1)
        )
        cursor = body["pagination"]["cursor"]
        if not body["pagination"]["has_more"]:
            break
    assert len(seen) == len(set(seen)) == total


def test_a_cursor_is_tied_to_its_query(served: Served) -> None:
    cursor = served.search("storage", page_size=5)["pagination"]["cursor"]
    body = served.search("billing", page_size=5, cursor=cursor)
    assert error(body)["code"] == "INVALID_PARAMS"
    assert error(body)["field"] == "cursor"


def test_the_mode_may_change_from_page_to_page(served: Served) -> None:
    cursor = served.search("storage", page_size=5)["pagination"]["cursor"]
    body = served.search("storage", page_size=5, cursor=cursor, response_mode="full")
    assert [one["rank"] for one in body["results"]] == [6, 7, 8, 9, 10]


def test_fields_cut_a_result_to_what_was_asked_for(served: Served) -> None:
    body = served.search(page_size=20, fields=["chunk_id", "hybrid_score"])
    assert all(set(one) == {"chunk_id", "hybrid_score"} for one in body["results"])


def test_filtered_fields_save_tokens(served: Served) -> None:
    whole = served.search()["execution_context"]["tokens_used"]
    cut = served.search(fields=["chunk_id", "hybrid_score"])["execution_context"]["tokens_used"]
    assert cut < 0.7 * whole


def test_modes_cost_what_progressive_disclosure_promises(served: Served) -> None:
    tokens = {
        mode: served.search(response_mode=mode)["execution_context"]["tokens_used"]
        for mode in ("ids_only", "metadata", "preview", "full")
    }
    assert tokens["ids_only"] < tokens["metadata"] < tokens["preview"] < tokens["full"]
    assert tokens["metadata"] <= 0.17 * tokens["full"]


# --- caching


def test_an_equal_query_is_a_cache_hit_whatever_the_mode(served: Served) -> None:
    assert served.search("backup records", response_mode="metadata")["execution_context"]["cache_hit"] is False
    for mode in ("ids_only", "preview", "full", "metadata"):
        assert served.search("backup records", response_mode=mode)["execution_context"]["cache_hit"] is True


def test_another_query_is_a_cache_miss(served: Served) -> None:
    served.search("backup records")
    assert served.search("backup record")["execution_context"]["cache_hit"] is False


def test_a_write_makes_every_cached_answer_unreachable(served: Served, tmp_path: Path) -> None:
    served.search("zebra crossing")
    new = tmp_path / "new" / "zebra.md"
    new.parent.mkdir()
    new.write_text("# Zebra crossing\n\nA zebra crossing is a crossing with zebra stripes.")
    served.app().documents.add([new.parent])
    body = served.search("zebra crossing")
    assert body["execution_context"]["cache_hit"] is False
    assert body["results"][0]["source_file"] == "zebra.md"


def test_clearing_the_cache_makes_the_next_query_a_miss(served: Served) -> None:
    served.search("backup records")
    served.gate.services.clear_caches()
    assert served.search("backup records")["execution_context"]["cache_hit"] is False


def test_cache_entries_end_after_30_seconds_and_are_at_most_1000() -> None:
    settings = Settings()
    assert (settings.cache_search_ttl_s, settings.cache_vendor_ttl_s, settings.cache_entries) == (30, 300, 1000)


# --- authentication


def test_without_keys_the_local_user_owns_the_server(served: Served) -> None:
    assert "error" not in served.search()


def test_once_a_key_exists_stdio_needs_one(served: Served) -> None:
    served.gate.guard.keys.create("someone")
    body = served.search()
    assert error(body)["code"] == "AUTH_REQUIRED"
    assert error(body)["message"] == NO_KEY
    assert "BMCIS_API_KEY" in error(body)["action"]


def test_a_wrong_key_is_auth_invalid(serve: Serve) -> None:
    served = serve(api_key="trv_000000000000_wrong")
    served.gate.guard.keys.create("someone")
    assert error(served.search())["code"] == "AUTH_INVALID"
    assert error(served.search())["message"] == WRONG_KEY


def test_a_missing_variable_is_named_where_a_key_is_required(serve: Serve) -> None:
    body = serve(require_key=True).search()
    assert error(body)["message"] == "BMCIS_API_KEY environment variable not set"


@pytest.mark.parametrize("variable", ["BMCIS_API_KEY", "MCP_API_KEY", "TRIVIUM_API_KEY"])
def test_the_right_key_in_the_environment_opens_the_server(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    first = serve()
    text, _ = first.gate.guard.keys.create("someone")
    monkeypatch.setenv(variable, text)
    assert "error" not in serve(first.data).search()


# --- rate limits


def test_stdio_allows_100_calls_a_minute_1000_an_hour_10000_a_day() -> None:
    settings = Settings()
    limits = (settings.rate_limit_minute, settings.rate_limit_hour, settings.rate_limit_day)
    assert limits == (100, 1000, 10_000)


def test_the_call_after_the_last_is_refused_with_what_remains(serve: Serve) -> None:
    served = serve(rate_limit_minute=3)
    assert ["error" in served.search() for _ in range(3)] == [False] * 3
    refused = error(served.search())
    assert refused["code"] == "RATE_LIMIT"
    assert refused["message"] == "Rate limit exceeded"
    assert refused["remaining"] == {"minute": 0, "hour": 997, "day": 9997}
    assert 0 < refused["reset_in_seconds"] <= 60


def test_a_refused_call_takes_nothing_from_the_other_tiers(serve: Serve) -> None:
    served = serve(rate_limit_minute=1)
    served.search()
    assert [error(served.search())["remaining"]["hour"] for _ in range(3)] == [999] * 3


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("BMCIS_RATE_LIMIT_MINUTE", "rate_limit_minute"),
        ("BMCIS_RATE_LIMIT_HOUR", "rate_limit_hour"),
        ("BMCIS_RATE_LIMIT_DAY", "rate_limit_day"),
        ("MAX_TOKENS_PER_RESPONSE", "max_tokens_per_response"),
    ],
)
def test_the_seeds_numbers_are_set_by_their_own_names(
    monkeypatch: pytest.MonkeyPatch, variable: str, name: str
) -> None:
    monkeypatch.setenv(variable, "777")
    assert getattr(Settings(), name) == 777


@pytest.mark.parametrize(
    ("variable", "value", "name", "expected"),
    [
        ("DEFAULT_RESPONSE_MODE", "full", "default_response_mode", "full"),
        ("ENABLE_DESKTOP_ENHANCEMENTS", "false", "enable_desktop_enhancements", False),
        ("INCLUDE_CONFIDENCE_SCORES", "false", "include_confidence_scores", False),
        ("TOKEN_WARNING_THRESHOLD", "0.6", "token_warning_threshold", 0.6),
        ("LOW_QUALITY_THRESHOLD", "0.3", "low_quality_threshold", 0.3),
        ("ENABLE_RESPONSE_COMPRESSION", "false", "enable_response_compression", False),
        ("RESPONSE_STREAMING", "true", "response_streaming", True),
        ("LOG_LEVEL", "debug", "log_level", "DEBUG"),
        ("DATABASE_URL", "postgresql://u@h/db", "store", "postgresql://u@h/db"),
        ("RATE_LIMIT_ADMIN_BYPASS", "true", "rate_limit_admin_bypass", True),
    ],
)
def test_every_setting_of_the_seeds_works_under_its_own_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, name: str, expected: object
) -> None:
    monkeypatch.setenv(variable, value)
    settings = Settings()
    assert getattr(settings, name) == expected
    assert {row.name: row.origin for row in settings.origins()}[name] == variable


def test_default_response_mode_changes_the_mode(serve: Serve) -> None:
    assert "chunk_text" in serve(default_response_mode="full").search()["results"][0]


# --- errors


def test_a_database_failure_is_db_connection_with_a_time_to_retry(served: Served) -> None:
    served.search()
    served.app().database.close()
    for file in served.data.glob("trivium.db*"):
        file.write_bytes(b"this is not a database" * 1000)
    body = served.search("something new")
    assert error(body)["code"] == "DB_CONNECTION"
    assert error(body)["message"] == "Search failed: Database connection error"
    assert error(body)["retry_after_s"] == 5


def test_an_unforeseen_failure_is_search_failed_and_never_shows_its_text(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("secret path /etc/passwd")

    monkeypatch.setattr(type(served.app().chunks), "generation", explode)
    result = served.call("semantic_search", query="x")
    body = result.structured_content
    assert body is not None
    assert error(body)["code"] == "SEARCH_FAILED"
    assert body["_metadata"]["request_id"] in error(body)["message"]
    assert "secret" not in json.dumps(body)
    assert "secret" not in result.content[0].text  # type: ignore[union-attr]


# --- the desktop


def test_claude_desktop_gets_enhancements_by_itself(served: Served) -> None:
    result = served.call("semantic_search", client_name="claude-ai", query="storage")
    body = result.structured_content
    assert body is not None
    assert set(body["_metadata"]["visual_hints"]) == {
        *("highlight_top", "group_by", "show_confidence", "collapse_duplicates", "expandable_previews"),
    }
    assert {"confidence", "ranking", "deduplication"} <= set(body["results"][0])


def test_other_clients_get_them_only_when_they_ask(served: Served) -> None:
    plain = served.call("semantic_search", client_name="claude-code", query="storage").structured_content
    assert plain is not None
    assert "confidence" not in plain["results"][0]
    assert "confidence" in served.search("storage", desktop_enhanced=True)["results"][0]


def test_enhancements_can_be_switched_off(serve: Serve) -> None:
    served = serve(enable_desktop_enhancements=False)
    body = served.call("semantic_search", client_name="claude-ai", query="storage").structured_content
    assert body is not None
    assert "ranking" not in body["results"][0]


def test_confidence_can_be_left_out(serve: Serve) -> None:
    served = serve(include_confidence_scores=False)
    body = served.search(desktop_enhanced=True)
    assert "confidence" not in body["results"][0]
    assert body["_metadata"]["visual_hints"]["show_confidence"] is False


def test_extended_metrics_come_with_enhanced_answers(served: Served) -> None:
    context = served.search(desktop_enhanced=True)["execution_context"]
    assert set(context["token_breakdown"]) == {"results", "metadata", "pagination", "warnings"}
    assert context["cache_key"].startswith("search:")
    assert context["database_time_ms"] >= 0
    assert served.search(desktop_enhanced=True)["execution_context"]["database_time_ms"] == 0


# --- get_chunk, which the seeds' workflows call by name


def test_get_chunk_reads_what_search_found(served: Served) -> None:
    [top] = served.search(top_k=1, response_mode="full")["results"]
    [chunk] = served.body("get_chunk", chunk_id=top["chunk_id"])["results"]
    assert chunk["chunk_text"] == top["chunk_text"]
    assert "hybrid_score" not in chunk


# --- migration


def test_a_legacy_answer_is_wrapped_with_a_warning() -> None:
    adapted = trivium.adapt_legacy_response({"results": [1, 2], "total_found": 2})
    assert adapted["_metadata"]["version"] == "0.9.0"
    assert adapted["results"] == [1, 2]
    assert adapted["warnings"][0]["code"] == "LEGACY_FORMAT"
    assert trivium.adapt_legacy_response(adapted) is adapted
