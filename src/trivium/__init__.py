"""Trivium: documents, code and concepts in one place.

`trivium.Client` uses the tools in this process; it is imported when it is first named (its types: `__init__.pyi`).
"""

from importlib import import_module
from typing import Any

_LAZY = ("Client", "ToolFailed", "adapt_legacy_response")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module("trivium.doors.client"), name)
    raise AttributeError(f"module 'trivium' has no attribute {name!r}")
