"""Text that no store can hold: halves of UTF-16 pairs, which JSON lets through."""

from typing import Any

import pytest

from served import Serve
from trivium.doors.guard.caller import local_owner

HALF = "\ud800"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("semantic_search", {"query": f"{HALF} zebra"}),
        ("get_chunk", {"chunk_id": HALF}),
        ("create_concepts", {"concepts": [{"name": f"half {HALF}", "explanation": HALF}]}),
        ("search_concepts_exact", {"name": HALF}),
    ],
)
def test_half_a_character_is_answered_like_any_other_text(serve: Serve, tool: str, arguments: dict[str, Any]) -> None:
    served = serve(toolsets="knowledge,concepts")
    reply = served.gate.run(served.gate.ticket(tool, arguments), lambda: local_owner("memory"))
    assert "INTERNAL" not in str(reply.body)
    str(reply.body).encode()


def test_a_value_out_of_range_deep_inside_names_its_place_and_its_bound(serve: Serve) -> None:
    served = serve(toolsets="concepts")
    row = {"name": "n", "explanation": "e", "certainty_score": 1000}
    answer = served.body("create_concepts", concepts=[row])
    assert "concepts.0.certainty_score" in str(answer)
    assert "None" not in str(answer["error"]["message"])
