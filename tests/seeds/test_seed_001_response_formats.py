"""Seed 001, response formats: one test a promise."""

import base64
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from served import Serve, Served
from trivium.backends.quicktok import QuicktokCounter
from trivium.doors.mcp.results import snippet
from trivium.model import answers
from trivium.model.answers import SEARCH_FIELDS, ExecutionContext, ResponseMetadata

MODES = ("ids_only", "metadata", "preview", "full")
FIELDS = {
    "ids_only": {"chunk_id", "hybrid_score", "rank"},
    "metadata": {"chunk_id", "source_file", "source_category", "hybrid_score", "rank", "chunk_index", "total_chunks"},
    "preview": {
        *("chunk_id", "source_file", "source_category", "hybrid_score", "rank", "chunk_index", "total_chunks"),
        *("chunk_snippet", "context_header"),
    },
    "full": {
        *("chunk_id", "chunk_text", "similarity_score", "bm25_score", "hybrid_score", "rank", "score_type"),
        *("source_file", "source_category", "context_header", "chunk_index", "total_chunks", "chunk_token_count"),
    },
}
MODELS: dict[str, Any] = {
    "ids_only": answers.SearchResultIDs,
    "metadata": answers.SearchResultMetadata,
    "preview": answers.SearchResultPreview,
    "full": answers.SearchResultFull,
}


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_has_exactly_its_fields(served: Served, mode: str) -> None:
    results = served.search(response_mode=mode)["results"]
    assert len(results) == 10
    assert all(set(result) == FIELDS[mode] for result in results)


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_validates_against_its_model(served: Served, mode: str) -> None:
    body = served.search(response_mode=mode)
    answers.MCPResponseEnvelope[list[MODELS[mode]]].model_validate(body)  # type: ignore[misc]


def test_metadata_is_the_default_mode(served: Served) -> None:
    assert set(served.search()["results"][0]) == FIELDS["metadata"]


def test_the_envelope_has_its_five_parts(served: Served) -> None:
    body = served.search()
    assert list(body) == ["_metadata", "results", "pagination", "execution_context", "warnings"]


def test_metadata_names_operation_version_time_request_and_status(served: Served) -> None:
    metadata = served.search()["_metadata"]
    assert metadata["operation"] == "semantic_search"
    assert metadata["version"] == "1.0.0"
    assert metadata["status"] == "success"
    assert metadata["message"] is None
    assert metadata["request_id"].startswith("req_")
    ResponseMetadata.model_validate(metadata)


def test_a_timestamp_has_its_time_zone(served: Served) -> None:
    metadata = served.search()["_metadata"]
    with pytest.raises(ValidationError):
        ResponseMetadata.model_validate(metadata | {"timestamp": "2025-11-09T10:30:00"})


def test_the_request_id_is_the_same_in_both_places_and_new_each_time(served: Served) -> None:
    one, other = served.search(), served.search()
    assert one["_metadata"]["request_id"] == one["execution_context"]["request_id"]
    assert one["_metadata"]["request_id"] != other["_metadata"]["request_id"]


def test_an_error_has_the_same_envelope_and_request_id(served: Served) -> None:
    result = served.call("semantic_search", query="")
    assert result.is_error
    body = result.structured_content
    assert body is not None
    answers.MCPResponseEnvelope[list[Any]].model_validate(body)
    assert body["_metadata"]["status"] == "error"
    assert body["results"] == []
    assert body["_metadata"]["request_id"] == body["execution_context"]["request_id"]


def test_the_text_is_the_same_json_as_the_structured_content(served: Served) -> None:
    result = served.call("semantic_search", query="storage")
    assert isinstance(result.content[0].text, str)  # type: ignore[union-attr]
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]


def test_pagination_says_cursor_size_more_and_total(served: Served) -> None:
    pagination = served.search(page_size=7)["pagination"]
    assert pagination["page_size"] == 7
    assert pagination["has_more"] is True
    assert pagination["returned_count"] == 7
    assert pagination["total_available"] > 7
    assert isinstance(pagination["cursor"], str)


def test_a_cursor_is_base64_json_with_query_hash_and_offset(served: Served) -> None:
    cursor = served.search(page_size=7)["pagination"]["cursor"]
    decoded = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    assert decoded["offset"] == 7
    assert isinstance(decoded["query_hash"], str)


def test_the_cursor_of_the_last_page_is_null(served: Served) -> None:
    pagination = served.search(min_score=0.0, filter_ids=[1, 2, 3])["pagination"]
    assert pagination["has_more"] is False
    assert pagination["cursor"] is None


def test_a_snippet_is_the_first_200_characters(served: Served) -> None:
    full = served.search(response_mode="full")["results"]
    previews = served.search(response_mode="preview")["results"]
    for whole, short in zip(full, previews, strict=True):
        assert short["chunk_snippet"] == whole["chunk_text"][:200]
    assert snippet("x" * 500) == "x" * 200


def test_scores_lie_between_0_and_1_and_fall_with_the_rank(served: Served) -> None:
    results = served.search(
        response_mode="full", page_size=50, fields=["hybrid_score", "rank", "bm25_score", "similarity_score"]
    )["results"]
    scores = [result["hybrid_score"] for result in results]
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert [result["rank"] for result in results] == list(range(1, 51))
    assert all(0 <= result["bm25_score"] <= 1 for result in results)
    assert all(result["similarity_score"] is None or 0 <= result["similarity_score"] <= 1 for result in results)


def test_chunk_index_and_total_chunks_place_the_chunk_in_its_document(served: Served) -> None:
    for result in served.search(page_size=50)["results"]:
        assert 0 <= result["chunk_index"] < result["total_chunks"]


def test_chunk_token_count_is_the_chunks_own(served: Served) -> None:
    counter = QuicktokCounter()
    for result in served.search(response_mode="full", page_size=5)["results"]:
        assert result["chunk_token_count"] == counter.count([result["chunk_text"]])[0]


@pytest.mark.parametrize("mode", ["ids_only", "metadata"])
def test_every_subset_of_a_modes_fields_can_be_asked_for(served: Served, mode: str) -> None:
    names = sorted(FIELDS[mode])
    subsets = [list(one) for size in range(1, len(names) + 1) for one in itertools.combinations(names, size)]
    reply = _in_process(served)
    for fields in subsets:
        assert set(reply(mode, fields)["results"][0]) == set(fields)


@pytest.mark.parametrize("mode", ["preview", "full"])
def test_every_single_field_and_every_pair_of_the_larger_modes_can_be_asked_for(served: Served, mode: str) -> None:
    reply = _in_process(served)
    for size in (1, 2, len(FIELDS[mode]) - 1):
        for fields in itertools.combinations(sorted(FIELDS[mode]), size):
            assert set(reply(mode, list(fields))["results"][0]) == set(fields)


def _in_process(served: Served) -> Callable[[str, list[str]], dict[str, Any]]:
    from trivium.doors.guard.caller import local_owner

    def reply(mode: str, fields: list[str]) -> dict[str, Any]:
        arguments = {"query": "storage keys", "response_mode": mode, "fields": fields, "page_size": 1}
        ticket = served.gate.ticket("semantic_search", arguments)
        return served.gate.run(ticket, lambda: local_owner("memory")).body

    return reply


@pytest.mark.parametrize("mode", MODES)
def test_a_field_the_mode_does_not_have_is_invalid_fields_with_the_allowed_ones(served: Served, mode: str) -> None:
    body = served.search(response_mode=mode, fields=["chunk_id", "nonsense"])
    assert body["error"]["code"] == "INVALID_FIELDS"
    assert body["error"]["message"] == f"Fields ['nonsense'] not available in '{mode}' mode"
    assert set(body["error"]["allowed_fields"]) == FIELDS[mode]


def test_chunk_text_is_not_a_field_of_metadata_mode(served: Served) -> None:
    body = served.search(response_mode="metadata", fields=["chunk_text"])
    assert body["error"]["message"] == "Fields ['chunk_text'] not available in 'metadata' mode"


def test_the_published_whitelist_is_the_seeds(served: Served) -> None:
    assert {mode: set(fields) for mode, fields in SEARCH_FIELDS.items()} == FIELDS


def test_tokens_used_never_exceeds_tokens_estimated_by_more_than_a_tenth(served: Served) -> None:
    context = served.search(response_mode="full")["execution_context"]
    ExecutionContext.model_validate(context)
    with pytest.raises(ValidationError):
        ExecutionContext.model_validate(context | {"tokens_used": int(context["tokens_estimated"] * 1.2)})


def test_execution_time_is_positive(served: Served) -> None:
    assert served.search()["execution_context"]["execution_time_ms"] > 0


def test_cache_hit_is_this_calls(served: Served) -> None:
    assert served.search("a question of its own")["execution_context"]["cache_hit"] is False
    assert served.search("a question of its own")["execution_context"]["cache_hit"] is True


def test_a_warning_has_level_code_message_and_suggestion(serve: Serve) -> None:
    served = serve(low_quality_threshold=1.0)
    [warning] = served.search()["warnings"]
    assert set(warning) == {"level", "code", "message", "suggestion"}
    assert (warning["level"], warning["code"]) == ("info", "LOW_QUALITY_RESULTS")


def test_warning_token_limit_warning_at_80_percent(serve: Serve) -> None:
    served = serve()
    tokens = served.search(response_mode="full")["execution_context"]["tokens_used"]
    near = serve(max_tokens_per_response=int(tokens / 0.85))
    warnings = near.search(response_mode="full")["warnings"]
    assert [(one["level"], one["code"]) for one in warnings] == [("warning", "TOKEN_LIMIT_WARNING")]


def test_warning_token_limit_exceeded_is_an_error_with_both_numbers(serve: Serve) -> None:
    served = serve(max_tokens_per_response=500)
    body = served.search(response_mode="metadata", page_size=50)
    assert body["_metadata"]["status"] == "error"
    [warning] = body["warnings"]
    assert (warning["level"], warning["code"]) == ("error", "TOKEN_LIMIT_EXCEEDED")
    assert warning["message"].endswith("limit is 500")
    assert "page_size" in warning["suggestion"]
    assert body["execution_context"]["tokens_estimated"] > 500
    assert body["execution_context"]["tokens_used"] is None


def test_warning_cache_miss_slow(serve: Serve) -> None:
    served = serve(slow_query_ms=0)
    [warning] = [one for one in served.search()["warnings"] if one["code"] == "CACHE_MISS_SLOW"]
    assert warning["level"] == "info"
    assert warning["suggestion"] == "Query will be cached for next 30 seconds"
    assert served.search()["warnings"] == []


def test_warning_low_quality_results(serve: Serve) -> None:
    served = serve(low_quality_threshold=0.5)
    assert [one["code"] for one in served.search("zzyzx qwertyuiop")["warnings"]] == ["LOW_QUALITY_RESULTS"]


def test_warning_partial_results_sets_the_status(serve: Serve) -> None:
    served = serve(max_tokens_per_response=2500)
    body = served.search(response_mode="full")
    assert body["_metadata"]["status"] == "partial"
    assert [one["code"] for one in body["warnings"]] == ["PARTIAL_RESULTS"]
    assert len(body["results"]) == 10


def test_warning_deprecated_parameter(served: Served) -> None:
    body = served.search(top_k=3, page_size=4)
    assert [one["code"] for one in body["warnings"]] == ["DEPRECATED_PARAMETER"]
    assert len(body["results"]) == 4


def test_desktop_confidence_has_all_three_scores(served: Served) -> None:
    for result in served.search(desktop_enhanced=True)["results"]:
        answers.ConfidenceScore.model_validate(result["confidence"])


def test_desktop_ranking_explains_the_position(served: Served) -> None:
    results = served.search(desktop_enhanced=True)["results"]
    percentiles = [result["ranking"]["percentile"] for result in results]
    assert percentiles[0] == 100
    assert percentiles == sorted(percentiles, reverse=True)
    for result in results:
        answers.RankingContext.model_validate(result["ranking"])


def test_desktop_deduplication_names_similar_chunks(served: Served) -> None:
    for result in served.search(desktop_enhanced=True)["results"]:
        answers.DeduplicationInfo.model_validate(result["deduplication"])


def test_the_response_schema_of_the_seed_accepts_our_answers(served: Served) -> None:
    import jsonschema

    validator = jsonschema.Draft7Validator(SEED_SCHEMA)
    validator.validate(served.search(filter_ids=[1]) | {"pagination": None})
    validator.validate(served.search())
    validator.validate(served.search(""))


SEED_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "_metadata": {
            "type": "object",
            "properties": {
                "operation": {"type": "string"},
                "version": {"type": "string"},
                "timestamp": {"type": "string", "format": "date-time"},
                "request_id": {"type": "string"},
                "status": {"type": "string", "enum": ["success", "partial", "error"]},
                "message": {"type": ["string", "null"]},
            },
            "required": ["operation", "version", "timestamp", "request_id", "status"],
        },
        "results": {"type": "array"},
        "pagination": {
            "type": ["object", "null"],
            "properties": {
                "cursor": {"type": ["string", "null"]},
                "page_size": {"type": "integer"},
                "has_more": {"type": "boolean"},
                "total_available": {"type": ["integer", "null"]},
            },
        },
        "execution_context": {
            "type": "object",
            "properties": {
                "tokens_estimated": {"type": "integer"},
                "tokens_used": {"type": ["integer", "null"]},
                "cache_hit": {"type": "boolean"},
                "execution_time_ms": {"type": "number"},
                "request_id": {"type": "string"},
            },
            "required": ["tokens_estimated", "cache_hit", "execution_time_ms", "request_id"],
        },
        "warnings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "level": {"type": "string", "enum": ["info", "warning", "error"]},
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "suggestion": {"type": ["string", "null"]},
                },
                "required": ["level", "code", "message"],
            },
        },
    },
    "required": ["_metadata", "results", "execution_context", "warnings"],
}
