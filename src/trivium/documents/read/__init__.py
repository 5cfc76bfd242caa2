"""Files into text and blocks: one module a format. `read_document` is the only way in.

To add a format, add a module here that defines `READER`; nothing else has to change.
"""

from trivium.documents.read.registry import DEFAULT_MAX_BYTES, is_supported, read_document, supported_suffixes

__all__ = ["DEFAULT_MAX_BYTES", "is_supported", "read_document", "supported_suffixes"]
