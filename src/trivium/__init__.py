"""Trivium: documents, code and concepts in one place.

`trivium.Client` uses the tools in this process; it is imported when it is first named.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.doors.client import Client, ToolFailed, adapt_legacy_response

__all__ = ["Client", "ToolFailed", "adapt_legacy_response"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("trivium.doors.client"), name)
    raise AttributeError(f"module 'trivium' has no attribute {name!r}")
