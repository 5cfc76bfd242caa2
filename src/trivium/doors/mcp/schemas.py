"""The output schema the knowledge tools publish: one for all modes and for errors.

It is written by hand because it is sent with every `tools/list`: a schema generated from the models, with a union of
four modes, costs 2 700 tokens a tool. tests/tools/test_answers.py holds it against answers and errors; the complete
types are printed by `trivium schema`.
"""

from typing import Any

_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}
_TEXT = {"type": "string"}

ENVELOPE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "_metadata": {"type": "object", "properties": {"request_id": _TEXT, "status": _TEXT}},
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "chunk_id": _INTEGER,
                    "hybrid_score": _NUMBER,
                    "source_file": _TEXT,
                    "chunk_snippet": _TEXT,
                    "chunk_text": _TEXT,
                },
            },
        },
        "pagination": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "execution_context": {"type": "object"},
        "warnings": {"type": "array"},
        "error": {"type": "object"},
    },
    "required": ["_metadata", "results", "execution_context", "warnings"],
}
